// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of numbers: what the page holds of a run, and how many bytes that takes.
//
// A column is a table of numbers of one type, row by row. Its word, type, width, rows and first
// byte are in the JSON of the page; the bytes of all columns follow each other without gaps.
#pragma once

#include "replay/bytes.h"

// How a number is stored. The viewer knows the same types by their words.
typedef enum pp_cell_type {
    PP_F64,
    PP_F32,
    PP_B16,  // the upper half of a float, rounded: three digits
    PP_Q16,  // low + k step, of a range that is in the columns NAME.low and NAME.step
    PP_N16,  // k / 32767: components of unit vectors and quaternions
    PP_U32,
    PP_U8,
} pp_cell_type;

// Names begin with their group: C constant, S series, P poses, K contacts, T contact points by id.
typedef enum pp_page_column_name {
    PP_C_START,  // position and quaternion of each body at the start
    PP_C_OUTLINE,
    PP_C_CORNER,
    PP_C_CORNER_END,
    PP_S_T,
    PP_S_STEP,
    PP_S_ENERGY,       // kinetic, potential, work and dissipated since the start [J]
    PP_S_CERTIFICATE,  // gap, complementarity, cone, joint, momentum, energy created, residual
    PP_S_FLAGS,        // 1: passed, 2: unique
    PP_S_SOLVER,       // contacts, iterations, size of the problem, seconds
    PP_P_T,
    PP_P_H,  // length of the step that led here [s]
    PP_P_POSITION_LOW,
    PP_P_POSITION_STEP,
    PP_P_POSITION,
    PP_P_ROTATION,  // planar: angle; space: quaternion
    PP_P_VELOCITY,
    PP_P_OMEGA,
    PP_P_JOINT,   // coordinate, rate, error, force and torque impulse on b, drive, limit
    PP_P_SENSOR,  // values of all sensors
    PP_P_INPUT,   // values of all inputs, held over the step that led here
    PP_K_T,
    PP_K_H,
    PP_K_END,  // contacts of frame k: rows end[k-1] .. end[k]
    PP_K_CONTACT,
    PP_K_POINT_LOW,
    PP_K_POINT_STEP,
    PP_K_POINT,
    PP_K_NORMAL,
    PP_K_VALUES,  // gap, normal impulse, rate, slip
    PP_K_FRICTION,
    PP_K_MODE,
    PP_T_SHAPES,  // by id of a contact point, which is followed through the run
    PP_T_FEATURE,
    PP_T_MU,
    PP_EVENTS_TEXT,
    PP_PAGE_COLUMNS,
} pp_page_column_name;

// Rows of `width` numbers each.
typedef struct pp_page_column {
    pp_cell_type type;
    int width;      // numbers a row
    int64_t rows;   // that there is room for
    int64_t count;  // rows that are there
    unsigned char *data;
} pp_page_column;

extern const char *const pp_page_column_word[PP_PAGE_COLUMNS];
extern const char *const pp_cell_word[];
size_t pp_cell_size(pp_cell_type type);
// Number i of the column's row `row`. Q16: value is already k.
void pp_page_column_set(pp_page_column *column, int64_t row, int i, double value);
