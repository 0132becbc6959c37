// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Chromium without a window, driven through two pipes (its DevTools protocol): no port, no network.
#pragma once

#include "cli.h"

#include <jansson.h>
#include <signal.h>

typedef struct cli_browser cli_browser;

// Looks for Chromium (PERP_BROWSER, then the search path) and starts it with its own profile in the folder, which must
// be empty. NULL after an error message that names the verb. loud: shows progress on a terminal. stop: set by a signal.
cli_browser *cli_browser_start(const char *verb, const char *folder, bool loud,
                               const volatile sig_atomic_t *stop);
// Loads a page and waits until `ready`, an expression, is true.
bool cli_browser_open(cli_browser *browser, const char *url, const char *ready);
// The value of an expression, also of one that is a promise; NULL after an error message. watch: an expression whose
// text is shown as progress meanwhile, or NULL. The caller releases the value.
json_t *cli_browser_evaluate(cli_browser *browser, const char *expression, const char *watch);
// Ends the browser; NULL is fine.
void cli_browser_stop(cli_browser *browser);

// Deletes a folder and what is in it.
void cli_folder_remove(const char *folder);
