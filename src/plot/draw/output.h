// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of figures: each is whole or not there.
//
// A figure is three files, NAME.svg, NAME.dat and NAME.gp. They are written in this order, each
// under a name with .part at its end first.
#pragma once

#include "plot/draw/script.h"

enum { PP_PATH = 4096 };

perp_status pp_plot_directory(const char *dir, perp_error *error);  // made unless it is there
// dir/name + ending; text that ran out of memory is PERP_ERR_MEMORY.
perp_status pp_plot_write(const char *dir, const char *name, const char *ending, const pp_svg *text,
                          perp_error *error);
// NAME.svg with NAME.gp and NAME.dat, as draw makes them; and away with all three.
perp_status pp_plot_figure(const char *dir, const char *name, const pp_svg *svg, perp_error *error);
void pp_plot_remove(const char *dir, const char *name);
