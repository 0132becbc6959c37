// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// index.html: what was run, and the figures with their captions. No scripts, nothing from the
// network.
//
// Figures are linked, not included: a page and its figures are moved together.
#pragma once

#include "plot/figures/pair.h"
#include "plot/plot.h"

// shown: which figures, one flag each.
void pp_page_write(const pp_run_data *data, const bool *shown, pp_svg *html);
void pp_page_pair(const pp_run_pair *pair, pp_svg *html);

// A page of any figures: facts and captions are text, links lead to files beside the page.
typedef struct pp_page_item {
    const char *name, *text;  // name: of a fact, of a figure's files, or of a link's target
} pp_page_item;
typedef struct pp_page {
    const char *title, *description;
    const pp_page_item *fact;
    int facts;
    const pp_page_item *figure;
    int figures;
    const pp_page_item *link;
    int links;
} pp_page;
void pp_page_list(const pp_page *page, pp_svg *html);
