// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of perp_page.wasm: the library as js/perp.mjs sees it. Texts are in UTF-8 and end with a zero;
// those that are returned stay valid until the next call.
#pragma once

#include "live.h"

#define JS_EXPORT(name) __attribute__((export_name(#name)))

// Parses a scene; sets: lines "name=value". NULL: js_error_* say why.
perp_scene *page_parse(const char *name, const char *text, const char *sets);
void page_fail(const perp_error *error);
// The matrices of the last step of a sim as JSON, freed by the caller; NULL: js_error_text says why.
char *page_explain(const perp_scene *scene, const perp_sim *sim, double h, int form);
// Parameters and inputs as JSON, with what else a page wants to know about a scene; freed by the caller.
char *page_about(const perp_scene *scene, const perp_sim *sim);
// Keeps a text for the caller, and frees the one before.
const char *page_keep(char *text);
