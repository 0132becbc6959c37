// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The columns of run.h5: types and shapes.
//
// A row has the shape entries x components, and dimensions of one are left out: a number per frame
// is a vector in the file, a 3-vector per contact a table of three columns, joints x 6 a block of
// rank 3.
#include "record/layout.h"

const pp_column_card *pp_column_at(pp_h5_column column)
{
#define PP_X(name, path, cell, growth, count, parts, unit) {path, cell, growth, count, parts, unit},
    static const pp_column_card cards[PP_COLUMN_COUNT] = {PP_COLUMNS(PP_X)};
#undef PP_X
    return &cards[column];
}

// Rows of parts have no parts, no events and no wrenches or changes of their own.
bool pp_column_is_in(pp_h5_column column, pp_h5_table table)
{
    // Columns of one of the tables only.
    bool of_parts = column == PP_COL_PART_KIND || column == PP_COL_LENGTH;
    bool of_frames =
        column == PP_COL_PART_END || column == PP_COL_STEP_PARTS || column == PP_COL_STEP_ERROR ||
        column == PP_COL_MOTION_ERROR || column == PP_COL_STEP_PLACED || column == PP_COL_EVENTS ||
        column == PP_COL_APPLIED_END || column == PP_COL_APPLIED_TO || column == PP_COL_APPLIED ||
        column == PP_COL_CHANGE_END || column == PP_COL_CHANGE_OF || column == PP_COL_CHANGE ||
        (column >= PP_COL_INPUT && column <= PP_COL_SENSOR);
    return table == PP_FRAMES ? !of_parts : !of_frames;
}

void pp_column_path(pp_h5_column column, pp_h5_table table, char path[PP_COLUMN_PATH])
{
    pp_print(path, PP_COLUMN_PATH, "%s%s", table == PP_PARTS ? "parts/" : "",
             pp_column_at(column)->path);
}

size_t pp_h5_cell_bytes(pp_h5_cell cell)
{
    // In the order of pp_h5_cell.
    static const size_t bytes[PP_CELLS] = {8, 8, 4, 4, 1};
    return bytes[cell];
}

// Types of the host, which HDF5 converts to those of the file.
hid_t pp_h5_cell_memory(pp_h5_cell cell)
{
    switch (cell) {
    case PP_F64:
        return H5T_NATIVE_DOUBLE;
    case PP_I64:
        return H5T_NATIVE_INT64;
    case PP_I32:
        return H5T_NATIVE_INT32;
    case PP_U32:
        return H5T_NATIVE_UINT32;
    default:
        return H5T_NATIVE_UINT8;
    }
}

// Types in the file, the same on every host.
hid_t pp_h5_cell_file(pp_h5_cell cell)
{
    switch (cell) {
    case PP_F64:
        return H5T_IEEE_F64LE;
    case PP_I64:
        return H5T_STD_I64LE;
    case PP_I32:
        return H5T_STD_I32LE;
    case PP_U32:
        return H5T_STD_U32LE;
    default:
        return H5T_STD_U8LE;
    }
}

// Entries of a row; 0 where the model has none.
static int entries(pp_count count, pp_h5_sizes sizes)
{
    switch (count) {
    case PP_NQ:
        return sizes.nq;
    case PP_NV:
        return sizes.nv;
    case PP_DRIVEN_BODIES:
        return sizes.driven;
    case PP_JOINTS:
        return sizes.joints;
    case PP_INPUTS:
        return sizes.inputs;
    case PP_ACTUATORS:
        return sizes.actuators;
    case PP_SENSOR_VALUES:
        return sizes.sensor_values;
    case PP_SPATIAL:
        return sizes.spatial;
    default:
        return 1;
    }
}

// Components of an entry. Driven bodies have 6 in the plane and 13 in space.
static int parts_of(const pp_column_card *card, pp_h5_sizes sizes)
{
    return card->count == PP_DRIVEN_BODIES && sizes.spatial ? PP_DRIVEN_SPACE : card->parts;
}

// entries x components.
size_t pp_column_width(pp_h5_column column, pp_h5_sizes sizes)
{
    const pp_column_card *card = pp_column_at(column);
    return (size_t)entries(card->count, sizes) * (size_t)parts_of(card, sizes);
}

// The first dimension, that of rows, is not counted.
int pp_column_shape(pp_h5_column column, pp_h5_sizes sizes, hsize_t shape[2])
{
    const pp_column_card *card = pp_column_at(column);
    int rank = 0;
    // A count of one is no dimension of its own: a vector per contact has the shape rows x 3.
    if (card->count != PP_ONE && card->count != PP_SPATIAL) {
        shape[rank++] = (hsize_t)entries(card->count, sizes);
    }
    if (card->parts > 1) {
        shape[rank++] = (hsize_t)parts_of(card, sizes);
    }
    return rank;
}

// Nests: the inner silence puts back the outer one.
pp_hdf5_silence pp_hdf5_silence_begin(void)
{
    pp_hdf5_silence quiet = {0};
    quiet.silenced = H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.context) >= 0 &&
                     H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0;
    return quiet;
}

void pp_hdf5_silence_end(const pp_hdf5_silence *quiet)
{
    if (quiet->silenced) {
        H5Eset_auto2(H5E_DEFAULT, quiet->print, quiet->context);
    }
}
