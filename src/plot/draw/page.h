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
