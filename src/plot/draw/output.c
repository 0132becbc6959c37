// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of figures, written under another name first.
#include "plot/draw/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// With the reason that the system gave.
static perp_status fail_write(perp_error *error, const char *path, int fault)
{
    return pp_fail(error, PERP_ERR_IO, "cannot write '%.150s': %s", path, strerror(fault));
}

// The directory above it must exist: a figure is put beside a recording.
perp_status pp_plot_directory(const char *dir, perp_error *error)
{
    return mkdir(dir, 0777) == 0 || errno == EEXIST ? PERP_OK : fail_write(error, dir, errno);
}

// Written under another name first, so that a full disk leaves no half file.
perp_status pp_plot_write(const char *dir, const char *name, const char *ending, const pp_svg *text,
                          perp_error *error)
{
    char path[PP_PATH], part[PP_PATH + 8];
    if (text->failed) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the figure '%s'", name);
    }
    if (strlen(dir) + strlen(name) + strlen(ending) + 2 > sizeof path) {
        return fail_write(error, dir, ENAMETOOLONG);
    }
    pp_print(path, sizeof path, "%s/%s%s", dir, name, ending);
    pp_print(part, sizeof part, "%s.part", path);
    errno = 0;
    FILE *file = fopen(part, "wb");
    if (!file) {
        return fail_write(error, part, errno);
    }
    // fclose may be the first call that sees a full disk.
    bool whole = fwrite(text->text, 1, text->used, file) == text->used;
    whole = fflush(file) == 0 && whole;
    int fault = errno;
    if (fclose(file) != 0 || !whole || rename(part, path) != 0) {
        fault = whole ? errno : fault;
        remove(part);
        return fail_write(error, path, fault ? fault : EIO);
    }
    return PERP_OK;
}

// A file that is not there is fine.
static void drop(const char *dir, const char *name, const char *ending)
{
    char path[PP_PATH];
    if (strlen(dir) + strlen(name) + strlen(ending) + 2 <= sizeof path) {
        pp_print(path, sizeof path, "%s/%s%s", dir, name, ending);
        remove(path);
    }
}

// The SVG first: it is what the page shows.
perp_status pp_plot_figure(const char *dir, const char *name, const pp_svg *svg, perp_error *error)
{
    perp_status status = pp_plot_write(dir, name, ".svg", svg, error);
    if (status == PERP_OK) {
        status = pp_plot_write(dir, name, ".dat", &svg->script->dat, error);
    }
    if (status == PERP_OK) {
        status = pp_plot_write(dir, name, ".gp", &svg->script->gp, error);
    }
    return status;
}

void pp_plot_remove(const char *dir, const char *name)
{
    static const char *const endings[] = {".svg", ".dat", ".gp"};
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        drop(dir, name, endings[k]);
    }
}
