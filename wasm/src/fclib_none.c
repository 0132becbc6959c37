// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// In place of src/format/fclib.c, which needs HDF5's files.
#include "format/format.h"

perp_status pp_fclib_read(pp_draft *draft)
{
    return pp_fail(draft->error, PERP_ERR_FORMAT,
                   "this build of perp has no HDF5, which FCLIB files need");
}
