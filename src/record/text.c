// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that are whole or called .part.
#include "record/text.h"

#include <errno.h>
#include <string.h>

// fault: an errno, or 0 where the library gave none.
perp_status pp_fail_write(perp_error *error, const char *path, int fault)
{
    return pp_fail(error, PERP_ERR_IO, "cannot write '%.150s': %s", path,
                   fault ? strerror(fault) : "no reason given by the HDF5 library");
}

// Names that are cut short would be names of other files.
perp_status pp_path_join(char path[PP_PATH_MAX], const char *dir, const char *name,
                         perp_error *error)
{
    int length = snprintf(path, PP_PATH_MAX, "%s/%s", dir, name);
    if (length < 0 || length >= PP_PATH_MAX) {
        return pp_fail_write(error, dir, ENAMETOOLONG);
    }
    return PERP_OK;
}

// Two names: the one that it will have, and the one with .part that it has until then.
perp_status pp_part_file_open(pp_part_file *part, const char *dir, const char *name,
                              perp_error *error)
{
    char ending[64];
    pp_print(ending, sizeof ending, "%s.part", name);
    perp_status status = pp_path_join(part->path, dir, name, error);
    if (status == PERP_OK) {
        status = pp_path_join(part->part, dir, ending, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    part->file = fopen(part->part, "we");
    return part->file ? PERP_OK : pp_fail_write(error, part->part, errno);
}

// A text that ran out of memory is not written in part.
perp_status pp_part_file_write(pp_part_file *part, const pp_text *text, perp_error *error)
{
    if (text->failed) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to write '%.150s'", part->part);
    }
    errno = 0;
    if (text->size > 0 && fwrite(text->data, 1, text->size, part->file) != text->size) {
        return pp_fail_write(error, part->part, errno);
    }
    return PERP_OK;
}

// fclose may be the first call that sees a full disk: the file gets its name after it.
perp_status pp_part_file_finish(pp_part_file *part, perp_error *error)
{
    errno = 0;
    // An error of any earlier write is remembered by the stream.
    bool good = fflush(part->file) == 0 && !ferror(part->file);
    int fault = errno;
    if (fclose(part->file) != 0 && good) {
        good = false;
        fault = errno;
    }
    part->file = NULL;
    if (good && rename(part->part, part->path) != 0) {
        good = false;
        fault = errno;
    }
    return good ? PERP_OK : pp_fail_write(error, part->part, fault);
}

void pp_part_file_close(pp_part_file *part)
{
    if (part->file) {
        fclose(part->file);
        part->file = NULL;
    }
}
