// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What run.h5 holds besides the model: columns that grow, one table for writer and reader.
//
// A column is a dataset whose first dimension grows: by one row a frame, by one a contact, or by
// bytes (events). contact_end[k] shows where the contacts of frame k end; they begin where those
// before end.
//
// Steps that are made of parts (divided at impacts, or with events within them) have a second table
// of the same columns under parts/: a row a part. part_end[k] shows where the parts of frame k end.
// Frames stay one a step. Wrenches that the caller applied are rows of their own likewise,
// applied_end; and so are parameters that the caller changed, change_end.
#pragma once

#include "record/record.h"

#include <hdf5.h>

enum { PP_RECORDING_VERSION = 2 };

// Rows of frames, and rows of the parts of their steps under parts/. Both have the columns below
// unless pp_column_is_in says otherwise.
typedef enum pp_h5_table { PP_FRAMES, PP_PARTS, PP_TABLES } pp_h5_table;
// Type of one number. In the file all of them are little-endian.
typedef enum pp_h5_cell { PP_F64, PP_I64, PP_I32, PP_U32, PP_U8, PP_CELLS } pp_h5_cell;
// How many rows a column has: as many as frames (or parts), contacts, wrenches, changes, or bytes.
typedef enum pp_growth {
    PP_BY_FRAME,
    PP_BY_CONTACT,
    PP_BY_WRENCH,
    PP_BY_CHANGE,
    PP_BY_BYTE
} pp_growth;
// How many entries a row has. PP_SPATIAL: one in space, none in the plane, where the column is left
// out.
typedef enum pp_count {
    PP_ONE,
    PP_NQ,
    PP_NV,
    PP_DRIVEN_BODIES,
    PP_JOINTS,
    PP_INPUTS,
    PP_ACTUATORS,
    PP_SENSOR_VALUES,
    PP_SPATIAL
} pp_count;

//   X(name, path, cell, growth, how many entries a row, components of each, unit)
#define PP_COLUMNS(X)                                                                              \
    X(T, "t", PP_F64, PP_BY_FRAME, PP_ONE, 1, "s")                                                 \
    X(STEP, "step", PP_I64, PP_BY_FRAME, PP_ONE, 1, "")                                            \
    X(Q, "q", PP_F64, PP_BY_FRAME, PP_NQ, 1, "m, rad")                                             \
    X(NU, "nu", PP_F64, PP_BY_FRAME, PP_NV, 1, "m/s, rad/s")                                       \
    X(DRIVEN, "driven", PP_F64, PP_BY_FRAME, PP_DRIVEN_BODIES, 6, "m, rad, m/s, rad/s")            \
    X(CONTACT_END, "contact_end", PP_I64, PP_BY_FRAME, PP_ONE, 1, "")                              \
    X(PART_END, "part_end", PP_I64, PP_BY_FRAME, PP_ONE, 1, "")                                    \
    X(PART_KIND, "kind", PP_U8, PP_BY_FRAME, PP_ONE, 1, "0 step, 1 impact, 2 smooth")              \
    X(LENGTH, "h", PP_F64, PP_BY_FRAME, PP_ONE, 1, "s")                                            \
    X(APPLIED_END, "applied_end", PP_I64, PP_BY_FRAME, PP_ONE, 1, "")                              \
    X(APPLIED_TO, "applied/body", PP_I32, PP_BY_WRENCH, PP_ONE, 1, "")                             \
    X(APPLIED, "applied/wrench", PP_F64, PP_BY_WRENCH, PP_ONE, 6, "N, N m")                        \
    X(CHANGE_END, "change_end", PP_I64, PP_BY_FRAME, PP_ONE, 1, "")                                \
    X(CHANGE_OF, "changes/object", PP_I32, PP_BY_CHANGE, PP_ONE, 2, "")                            \
    X(CHANGE, "changes/value", PP_F64, PP_BY_CHANGE, PP_ONE, 16, "")                               \
    X(SHAPES, "contacts/shapes", PP_I32, PP_BY_CONTACT, PP_ONE, 2, "")                             \
    X(FEATURE, "contacts/feature", PP_U32, PP_BY_CONTACT, PP_ONE, 1, "")                           \
    X(POINT, "contacts/point", PP_F64, PP_BY_CONTACT, PP_ONE, 3, "m")                              \
    X(NORMAL, "contacts/normal", PP_F64, PP_BY_CONTACT, PP_ONE, 3, "")                             \
    X(GAP, "contacts/gap", PP_F64, PP_BY_CONTACT, PP_ONE, 1, "m")                                  \
    X(MU, "contacts/mu", PP_F64, PP_BY_CONTACT, PP_ONE, 1, "")                                     \
    X(RESTITUTION, "contacts/restitution", PP_F64, PP_BY_CONTACT, PP_ONE, 1, "")                   \
    X(PN, "contacts/pn", PP_F64, PP_BY_CONTACT, PP_ONE, 1, "N s")                                  \
    X(PF, "contacts/pf", PP_F64, PP_BY_CONTACT, PP_ONE, 3, "N s")                                  \
    X(RATE_N, "contacts/rate_n", PP_F64, PP_BY_CONTACT, PP_ONE, 1, "m/s")                          \
    X(SLIP, "contacts/slip", PP_F64, PP_BY_CONTACT, PP_ONE, 1, "m/s")                              \
    X(MODE, "contacts/mode", PP_U8, PP_BY_CONTACT, PP_ONE, 1, "0 open, 1 stick, 2 slip")           \
    X(TANGENT, "contacts/tangent", PP_F64, PP_BY_CONTACT, PP_SPATIAL, 3, "")                       \
    X(SLIP_VECTOR, "contacts/slip_vector", PP_F64, PP_BY_CONTACT, PP_SPATIAL, 3, "m/s")            \
    X(MOMENT, "contacts/moment", PP_F64, PP_BY_CONTACT, PP_SPATIAL, 3, "N m s")                    \
    X(FACETS, "contacts/facets", PP_I32, PP_BY_CONTACT, PP_SPATIAL, 1, "0: round cone")            \
    X(HOLD, "contacts/hold", PP_F64, PP_BY_CONTACT, PP_ONE, 3, "m/s")                              \
    X(COORDINATE, "joints/coordinate", PP_F64, PP_BY_FRAME, PP_JOINTS, 1, "m, rad")                \
    X(RATE, "joints/rate", PP_F64, PP_BY_FRAME, PP_JOINTS, 1, "m/s, rad/s")                        \
    X(ERROR, "joints/error", PP_F64, PP_BY_FRAME, PP_JOINTS, 1, "m, rad")                          \
    X(IMPULSE, "joints/impulse", PP_F64, PP_BY_FRAME, PP_JOINTS, 6, "N s, N m s")                  \
    X(DRIVE, "joints/drive", PP_F64, PP_BY_FRAME, PP_JOINTS, 1, "N s, N m s")                      \
    X(LIMIT, "joints/limit", PP_F64, PP_BY_FRAME, PP_JOINTS, 1, "N s, N m s")                      \
    X(REDUNDANT, "joints/redundant", PP_U8, PP_BY_FRAME, PP_JOINTS, 1, "")                         \
    X(INPUT, "inputs/value", PP_F64, PP_BY_FRAME, PP_INPUTS, 1, "")                                \
    X(CONTROL, "actuators/control", PP_F64, PP_BY_FRAME, PP_ACTUATORS, 1, "")                      \
    X(EFFORT, "actuators/effort", PP_F64, PP_BY_FRAME, PP_ACTUATORS, 1, "N, N m")                  \
    X(EFFORT_IMPULSE, "actuators/impulse", PP_F64, PP_BY_FRAME, PP_ACTUATORS, 1, "N s, N m s")     \
    X(FILTER, "actuators/filter", PP_F64, PP_BY_FRAME, PP_ACTUATORS, 1, "")                        \
    X(LIMITED, "actuators/limited", PP_U8, PP_BY_FRAME, PP_ACTUATORS, 1, "")                       \
    X(SENSOR, "sensors/value", PP_F64, PP_BY_FRAME, PP_SENSOR_VALUES, 1, "model/sensors/unit")     \
    X(CERT_GAP, "certificate/gap", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m")                            \
    X(CERT_COMP, "certificate/complementarity", PP_F64, PP_BY_FRAME, PP_ONE, 1, "J")               \
    X(CERT_CONE, "certificate/cone", PP_F64, PP_BY_FRAME, PP_ONE, 1, "N s")                        \
    X(CERT_SLIP, "certificate/slip_opposed", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m/s")                \
    X(CERT_JOINT, "certificate/joint", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m, rad")                   \
    X(CERT_MOMENTUM, "certificate/momentum", PP_F64, PP_BY_FRAME, PP_ONE, 1, "N s, N m s")         \
    X(CERT_ENERGY, "certificate/energy_created", PP_F64, PP_BY_FRAME, PP_ONE, 1, "J")              \
    X(CERT_RESIDUAL, "certificate/residual", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m/s")                \
    X(CERT_MOTION, "certificate/motion", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m")                      \
    X(CERT_PATH, "certificate/path", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m")                          \
    X(CERT_RELATIVE, "certificate/relative", PP_F64, PP_BY_FRAME, PP_ONE, 9, "of the limits")      \
    X(CERT_PASSED, "certificate/passed", PP_U8, PP_BY_FRAME, PP_ONE, 1, "")                        \
    X(KINETIC, "energy/kinetic", PP_F64, PP_BY_FRAME, PP_ONE, 1, "J")                              \
    X(POTENTIAL, "energy/potential", PP_F64, PP_BY_FRAME, PP_ONE, 1, "J")                          \
    X(WORK, "energy/work", PP_F64, PP_BY_FRAME, PP_ONE, 1, "J")                                    \
    X(DISSIPATED, "energy/dissipated", PP_F64, PP_BY_FRAME, PP_ONE, 1, "J")                        \
    X(STATUS, "solver/status", PP_I32, PP_BY_FRAME, PP_ONE, 1, "0 solved, 1 inexact")              \
    X(ITERATIONS, "solver/iterations", PP_I32, PP_BY_FRAME, PP_ONE, 1, "")                         \
    X(SIZE, "solver/problem_size", PP_I32, PP_BY_FRAME, PP_ONE, 1, "")                             \
    X(REDUNDANT_ROWS, "solver/redundant_rows", PP_I32, PP_BY_FRAME, PP_ONE, 1, "")                 \
    X(STEP_PARTS, "solver/parts", PP_I32, PP_BY_FRAME, PP_ONE, 1, "")                              \
    X(STEP_PLACED, "placed", PP_U8, PP_BY_FRAME, PP_ONE, 1, "1: a state was set before the step")  \
    X(STEP_ERROR, "accuracy/step", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m")                            \
    X(MOTION_ERROR, "accuracy/motion", PP_F64, PP_BY_FRAME, PP_ONE, 1, "m")                        \
    X(UNIQUE, "solver/unique", PP_U8, PP_BY_FRAME, PP_ONE, 1, "")                                  \
    X(MOTION_UNIQUE, "solver/motion_unique", PP_U8, PP_BY_FRAME, PP_ONE, 1,                        \
      "0 unknown, 1 unique, 2 not unique")                                                         \
    X(IMPULSES_UNIQUE, "solver/impulses_unique", PP_U8, PP_BY_FRAME, PP_ONE, 1,                    \
      "0 unknown, 1 unique, 2 not unique")                                                         \
    X(SECONDS, "solver/seconds", PP_F64, PP_BY_FRAME, PP_ONE, 1, "s")                              \
    X(EVENTS, "events", PP_U8, PP_BY_BYTE, PP_ONE, 1, "JSON lines, UTF-8")

#define PP_X(name, path, cell, growth, count, parts, unit) PP_COL_##name,
// Names of the columns, PP_COL_T and so on, in the order of the table.
typedef enum pp_h5_column { PP_COLUMNS(PP_X) PP_COLUMN_COUNT } pp_h5_column;
#undef PP_X

// A line of the table above. `parts` is the number of components of an entry, `unit` the text of
// the attribute `unit` in the file.
typedef struct pp_column_card {
    const char *path;
    pp_h5_cell cell;
    pp_growth growth;
    pp_count count;
    int parts;
    const char *unit;
} pp_column_card;

// Sizes of the model that rows depend on: positions, velocities, driven bodies, joints, inputs, actuators,
// values of sensors.
typedef struct pp_h5_sizes {
    int nv, nq, driven, joints, inputs, actuators, sensor_values;
    bool spatial;
} pp_h5_sizes;

// Of a driven body: x, y, angle and their rates; in space position, quaternion, velocity, spin.
enum { PP_DRIVEN_PLANE = 6, PP_DRIVEN_SPACE = 13 };

// The line of the table.
const pp_column_card *pp_column_at(pp_h5_column column);
// Whether a table has the column: events, wrenches and counts of parts are of frames only, kind and
// length of a part of parts only.
bool pp_column_is_in(pp_h5_column column, pp_h5_table table);
enum { PP_COLUMN_PATH = 64 };
// Path in the file, with parts/ before it in the table of parts.
void pp_column_path(pp_h5_column column, pp_h5_table table, char path[PP_COLUMN_PATH]);
size_t pp_h5_cell_bytes(pp_h5_cell cell);
hid_t pp_h5_cell_memory(pp_h5_cell cell);  // the type in memory; not to be closed
hid_t pp_h5_cell_file(pp_h5_cell cell);    // the type in the file: little-endian everywhere
// Values in a row of the column; 0: the model has nothing for it, and there is no dataset.
size_t pp_column_width(pp_h5_column column, pp_h5_sizes sizes);
// Dimensions of a row (at most 2): returns how many, 0 for a plain number.
int pp_column_shape(pp_h5_column column, pp_h5_sizes sizes, hsize_t shape[2]);

// HDF5 prints its errors by itself unless that is switched off. Its handler is global to the
// process, so it is put back where the calls end.
typedef struct pp_hdf5_silence {
    H5E_auto2_t print;
    void *context;
    bool silenced;
} pp_hdf5_silence;
pp_hdf5_silence pp_hdf5_silence_begin(void);
void pp_hdf5_silence_end(const pp_hdf5_silence *quiet);
