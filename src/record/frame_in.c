// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The frames of a recording one by one; a block of them is in memory at a time.
//
// A block has as many rows as fit into a few megabytes, all columns of them. Frames that are read
// in order cost one read of the file; frames that are read in any order cost a block each. The
// table of parts has a block of its own, so that going through the parts of a frame does not lose
// that of the frames.
#include "record/load.h"

#include <math.h>
#include <string.h>

enum { BLOCK_BYTES = 4 * 1024 * 1024, BLOCK_FRAMES = 1024, BLOCK_CONTACTS = 16384 };
// Loops over facets must end soon, also with numbers of a broken file.
enum { FACETS_MOST = 256 };  // of a friction polygon, as models and sims allow

// First contact of a row, among those of the whole table.
static int64_t contacts_before(const pp_h5_table_in *in, int row)
{
    return row > 0 ? in->contact_end[row - 1] : 0;
}

// How many rows from `first` on make a block: at most BLOCK_BYTES of columns that grow by frame,
// BLOCK_FRAMES rows and BLOCK_CONTACTS contacts.
static int block_length(const perp_recording *r, const pp_h5_table_in *in, int first)
{
    size_t bytes = 1;
    for (int k = 0; k < PP_COLUMN_COUNT; k++) {
        const pp_column_card *card = pp_column_at((pp_h5_column)k);
        if (card->growth == PP_BY_FRAME) {
            // Contacts are counted apart: their number differs from frame to frame.
            bytes += pp_column_width((pp_h5_column)k, r->sizes) * pp_h5_cell_bytes(card->cell);
        }
    }
    size_t most = BLOCK_BYTES / bytes;
    most = most > BLOCK_FRAMES ? BLOCK_FRAMES : most;
    // One row at least, however large it is.
    int count = 1;
    while (count < (int)most && first + count < in->rows &&
           in->contact_end[first + count] - contacts_before(in, first) <= BLOCK_CONTACTS) {
        count++;
    }
    return count;
}

// The block of rows that begins with `first`, all columns of it. Reading frames in order reads
// every row of the file once.
static perp_status load_block(perp_recording *r, pp_h5_table table, int first, perp_error *error)
{
    pp_h5_table_in *in = &r->table[table];
    pp_arena_reset(in->arena);
    int count = block_length(r, in, first);
    int64_t contact = contacts_before(in, first);
    int64_t contacts = in->contact_end[first + count - 1] - contact;
    in->count = 0;  // a block that cannot be read leaves none
    int64_t wrench = table == PP_FRAMES && first > 0 ? r->applied_end[first - 1] : 0;
    int64_t wrenches = table == PP_FRAMES ? r->applied_end[first + count - 1] - wrench : 0;
    int64_t change = table == PP_FRAMES && first > 0 ? r->change_end[first - 1] : 0;
    int64_t changes = table == PP_FRAMES ? r->change_end[first + count - 1] - change : 0;
    // First row and number of rows of a column, by pp_growth.
    const int64_t from[PP_BY_BYTE] = {first, contact, wrench, change},
                  of[PP_BY_BYTE] = {count, contacts, wrenches, changes};
    for (int k = 0; k < PP_COLUMN_COUNT; k++) {
        pp_growth growth = pp_column_at((pp_h5_column)k)->growth;
        if (growth == PP_BY_BYTE) {
            continue;
        }
        perp_status status = pp_load_rows(r, table, (pp_h5_column)k, from[growth], of[growth],
                                          in->arena, &in->data[k], error);
        if (status != PERP_OK) {
            return status;
        }
    }
    in->first = first;
    in->count = count;
    in->contact_first = contact;
    in->applied_first = wrench;
    in->change_first = change;
    return PERP_OK;
}

#define CELL(in, column, type, row) (((const type *)(in)->data[PP_COL_##column])[row])

// Row of a column of doubles in the block.
static const double *row_of(const perp_recording *r, const pp_h5_table_in *in, pp_h5_column column,
                            int row)
{
    return (const double *)in->data[column] + pp_column_width(column, r->sizes) * (size_t)row;
}

// Poses and velocities of bodies in space, from three sources: the start of those that are fixed,
// the column of driven ones, and q and nu of free ones. A particle keeps the rotation it started
// with.
static void place_spatial(perp_recording *r, const pp_h5_table_in *in, int row)
{
    const double *q = row_of(r, in, PP_COL_Q, row), *nu = row_of(r, in, PP_COL_NU, row);
    const double *driven = row_of(r, in, PP_COL_DRIVEN, row);
    for (int i = 0; i < r->info.bodies; i++) {
        const pp_body_row *body = &r->body[i];
        const double zero[6] = {0.0};
        // x: position; turn: quaternion; v and w: velocities.
        const double *x = body->start, *v = zero, *turn = body->start + 3, *w = zero + 3;
        if (body->driven >= 0) {
            x = driven + PP_DRIVEN_SPACE * (size_t)body->driven;
            turn = x + 3;
            v = x + 7;
            w = x + 10;
        } else if (body->about.at_nu >= 0) {
            x = q + body->about.at_q;
            v = nu + body->about.at_nu;
            turn = body->about.kind == PERP_BODY_SPATIAL ? x + 3 : turn;
            w = body->about.kind == PERP_BODY_SPATIAL ? v + 3 : w;
        }
        r->position[i] = (perp_vec3){x[0], x[1], x[2]};
        r->rotation[i] = (perp_quat){turn[0], turn[1], turn[2], turn[3]};
        r->velocity[i] = (perp_vec3){v[0], v[1], v[2]};
        r->omega[i] = (perp_vec3){w[0], w[1], w[2]};
        r->spin[i] = w[2];
    }
}

// The same in the plane. A particle has no angle.
static void place_bodies(perp_recording *r, const pp_h5_table_in *in, int row)
{
    const double *q = row_of(r, in, PP_COL_Q, row), *nu = row_of(r, in, PP_COL_NU, row);
    const double *driven = row_of(r, in, PP_COL_DRIVEN, row);
    for (int i = 0; i < r->info.bodies; i++) {
        const pp_body_row *body = &r->body[i];
        const double zero[3] = {0.0, 0.0, 0.0};
        const double *x = body->start, *v = zero;
        bool turns = body->about.kind != PERP_BODY_PLANAR_PARTICLE;
        if (body->driven >= 0) {
            x = driven + PP_DRIVEN_PLANE * (size_t)body->driven;
            v = x + 3;
        } else if (body->about.motion == PERP_MOTION_DYNAMIC && body->about.at_nu >= 0) {
            x = q + body->about.at_nu;
            v = nu + body->about.at_nu;
        }
        r->position[i] = (perp_vec3){x[0], x[1], 0.0};
        r->velocity[i] = (perp_vec3){v[0], v[1], 0.0};
        r->angle[i] = turns ? x[2] : 0.0;
        r->spin[i] = turns ? v[2] : 0.0;
        r->rotation[i] =
            (perp_quat){pp_cos(0.5 * r->angle[i]), 0.0, 0.0, pp_sin(0.5 * r->angle[i])};
        r->omega[i] = (perp_vec3){0.0, 0.0, r->spin[i]};
    }
}

// What was in it belongs to the frame before, and is not kept.
static perp_status reserve_contacts(perp_recording *r, int count, perp_error *error)
{
    if (count > r->contact_room) {
        perp_contact *contact = pp_alloc(&r->env, 2 * (size_t)count * sizeof *contact);
        if (!contact) {
            return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
        }
        pp_free(&r->env, r->contact, (size_t)r->contact_room * sizeof *contact);
        r->contact = contact;
        r->contact_room = 2 * count;
    }
    return PERP_OK;
}

static perp_vec3 vector_of(const perp_recording *r, const pp_h5_table_in *in, pp_h5_column column,
                           int row)
{
    const double *x = row_of(r, in, column, row);
    return (perp_vec3){x[0], x[1], x[2]};
}

// Contacts of one row of the table.
static perp_status place_contacts(perp_recording *r, const pp_h5_table_in *in, int at, int *count,
                                  perp_error *error)
{
    int64_t from = contacts_before(in, at);
    *count = (int)(in->contact_end[at] - from);
    perp_status status = reserve_contacts(r, *count, error);
    if (status != PERP_OK) {
        return status;
    }
    for (int i = 0; i < *count; i++) {
        int row = (int)(from - in->contact_first) + i;
        // Numbers that others index arrays with are checked here; all other numbers may be
        // anything.
        const int32_t *shapes = &CELL(in, SHAPES, int32_t, 2 * (size_t)row);
        int mode = CELL(in, MODE, uint8_t, row);
        if (shapes[0] < 0 || shapes[0] >= r->info.shapes || shapes[1] < 0 ||
            shapes[1] >= r->info.shapes || mode > PERP_CONTACT_SLIP) {
            return pp_load_fail(r, error, "contacts", "has an invalid contact");
        }
        int facets = r->sizes.spatial ? CELL(in, FACETS, int32_t, row) : 0;
        if (facets < 0 || facets > FACETS_MOST) {
            return pp_load_fail(r, error, "contacts/facets", "has an invalid number of facets");
        }
        r->contact[i] = (perp_contact){.a = {shapes[0]},
                                       .b = {shapes[1]},
                                       .feature = CELL(in, FEATURE, uint32_t, row),
                                       .point_W = vector_of(r, in, PP_COL_POINT, row),
                                       .normal_W = vector_of(r, in, PP_COL_NORMAL, row),
                                       .gap = CELL(in, GAP, double, row),
                                       .mu = CELL(in, MU, double, row),
                                       .restitution = CELL(in, RESTITUTION, double, row),
                                       .pn = CELL(in, PN, double, row),
                                       .pf_W = vector_of(r, in, PP_COL_PF, row),
                                       .rate_n = CELL(in, RATE_N, double, row),
                                       .slip = CELL(in, SLIP, double, row),
                                       .hold_W = vector_of(r, in, PP_COL_HOLD, row),
                                       .mode = (perp_contact_mode)mode};
        if (r->sizes.spatial) {
            r->contact[i].tangent_W = vector_of(r, in, PP_COL_TANGENT, row);
            r->contact[i].slip_W = vector_of(r, in, PP_COL_SLIP_VECTOR, row);
            r->contact[i].moment_W = vector_of(r, in, PP_COL_MOMENT, row);
            r->contact[i].facets = facets;
        }
    }
    return PERP_OK;
}

// A row has the numbers of all joints, one after the other.
static void place_joints(perp_recording *r, const pp_h5_table_in *in, int row)
{
    // A row of a column of joints has n entries.
    size_t n = (size_t)r->info.joints;
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)row * n + i;
        perp_joint_state *joint = &r->joint_state[i];
        *joint = (perp_joint_state){.coordinate = CELL(in, COORDINATE, double, k),
                                    .rate = CELL(in, RATE, double, k),
                                    .error = CELL(in, ERROR, double, k),
                                    .drive = CELL(in, DRIVE, double, k),
                                    .limit = CELL(in, LIMIT, double, k),
                                    .redundant = CELL(in, REDUNDANT, uint8_t, k) != 0};
        memcpy(&joint->impulse_b, &CELL(in, IMPULSE, double, 6 * k), sizeof joint->impulse_b);
    }
}

// Parts have no rows of their own for these.
static void place_controls(perp_recording *r, const pp_h5_table_in *in, int row, perp_snapshot *out)
{
    size_t n = (size_t)r->info.actuators;
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)row * n + i;
        r->actuator_state[i] = (perp_actuator_state){.control = CELL(in, CONTROL, double, k),
                                                     .impulse = CELL(in, EFFORT_IMPULSE, double, k),
                                                     .effort = CELL(in, EFFORT, double, k),
                                                     .limited = CELL(in, LIMITED, uint8_t, k) != 0};
    }
    out->actuator = r->actuator_state;
    out->input = row_of(r, in, PP_COL_INPUT, row);
    out->filter = row_of(r, in, PP_COL_FILTER, row);
    out->sensor = row_of(r, in, PP_COL_SENSOR, row);
}

// An unknown code is taken for "unknown".
static perp_uniqueness uniqueness_of(int code)
{
    return code == PERP_UNIQUENESS_PROVED || code == PERP_UNIQUENESS_DISPROVED
               ? (perp_uniqueness)code
               : PERP_UNIQUENESS_UNKNOWN;
}

// path_clear and pairs of a certificate are not recorded.
static void fill_numbers(const pp_h5_table_in *in, int k, perp_snapshot *out)
{
    out->t = CELL(in, T, double, k);
    out->step = CELL(in, STEP, int64_t, k);
    out->certificate = (perp_certificate){.gap = CELL(in, CERT_GAP, double, k),
                                          .complementarity = CELL(in, CERT_COMP, double, k),
                                          .cone = CELL(in, CERT_CONE, double, k),
                                          .slip_opposed = CELL(in, CERT_SLIP, double, k),
                                          .joint = CELL(in, CERT_JOINT, double, k),
                                          .momentum = CELL(in, CERT_MOMENTUM, double, k),
                                          .energy_created = CELL(in, CERT_ENERGY, double, k),
                                          .residual = CELL(in, CERT_RESIDUAL, double, k),
                                          .motion = CELL(in, CERT_MOTION, double, k),
                                          .path = CELL(in, CERT_PATH, double, k),
                                          .passed = CELL(in, CERT_PASSED, uint8_t, k) != 0};
    memcpy(out->certificate.relative, &CELL(in, CERT_RELATIVE, double, PERP_JUDGED_COUNT *k),
           sizeof out->certificate.relative);
    out->energy = (perp_energy){.kinetic = CELL(in, KINETIC, double, k),
                                .potential = CELL(in, POTENTIAL, double, k),
                                .work = CELL(in, WORK, double, k),
                                .dissipated = CELL(in, DISSIPATED, double, k)};
    out->status = (perp_status)CELL(in, STATUS, int32_t, k);
    out->iterations = CELL(in, ITERATIONS, int32_t, k);
    out->problem_size = CELL(in, SIZE, int32_t, k);
    out->redundant_rows = CELL(in, REDUNDANT_ROWS, int32_t, k);
    // 0 where the file is older than the column, and in the table of parts, which has no such
    // column.
    int parts = CELL(in, STEP_PARTS, int32_t, k);
    out->parts = parts > 1 ? parts : 1;
    out->placed = CELL(in, STEP_PLACED, uint8_t, k) != 0;
    out->error = CELL(in, STEP_ERROR, double, k);
    out->motion_error = CELL(in, MOTION_ERROR, double, k);
    out->unique = CELL(in, UNIQUE, uint8_t, k) != 0;
    out->motion = uniqueness_of(CELL(in, MOTION_UNIQUE, uint8_t, k));
    out->impulses = uniqueness_of(CELL(in, IMPULSES_UNIQUE, uint8_t, k));
    out->step_seconds = CELL(in, SECONDS, double, k);
}

// A row of one of the tables, from the block in memory or a new one.
static perp_status read_row(perp_recording *r, pp_h5_table table, int at, perp_snapshot *out,
                            perp_error *error)
{
    const pp_h5_table_in *in = &r->table[table];
    perp_status status = PERP_OK;
    if (at < in->first || at >= in->first + in->count) {
        // Only reading from the file calls HDF5.
        pp_hdf5_silence quiet = pp_hdf5_silence_begin();
        status = load_block(r, table, at, error);
        pp_hdf5_silence_end(&quiet);
    }
    *out = (perp_snapshot){0};
    if (status == PERP_OK) {
        status = place_contacts(r, in, at, &out->contacts, error);
    }
    if (status != PERP_OK) {
        return status;
    }
    int row = at - in->first;  // within the block
    if (r->sizes.spatial) {
        place_spatial(r, in, row);
    } else {
        place_bodies(r, in, row);
    }
    place_joints(r, in, row);
    if (table == PP_FRAMES) {
        place_controls(r, in, row, out);
    }
    fill_numbers(in, row, out);
    // All of it belongs to the recording, and lasts until another frame is read.
    out->q = row_of(r, in, PP_COL_Q, row);
    out->nu = row_of(r, in, PP_COL_NU, row);
    out->position_W = r->position;
    out->velocity_W = r->velocity;
    out->angle = r->angle;
    out->spin = r->spin;
    out->rotation_WB = r->rotation;
    out->omega_W = r->omega;
    out->contact = r->contact;
    out->joint = r->joint_state;
    return PERP_OK;
}

// Wrenches of the caller in the last step, about the origins of bodies [N, N m], zero where there
// is none.
static perp_status place_applied(perp_recording *r, int frame, perp_error *error)
{
    const pp_h5_table_in *in = &r->table[PP_FRAMES];
    int64_t from = frame > 0 ? r->applied_end[frame - 1] : 0;
    // Bodies without a row have no wrench.
    memset(r->applied, 0, (size_t)r->info.bodies * sizeof *r->applied);
    for (int64_t k = from; k < r->applied_end[frame]; k++) {
        size_t row = (size_t)(k - in->applied_first);
        int body = CELL(in, APPLIED_TO, int32_t, row);
        if (body < 0 || body >= r->info.bodies) {
            return pp_load_fail(r, error, "applied/body", "has an invalid body");
        }
        memcpy(&r->applied[body], &CELL(in, APPLIED, double, 6 * row), sizeof *r->applied);
    }
    return PERP_OK;
}

// Parameters that differed from the model in the last step. The judge looks whether the model has them.
static perp_status place_changes(perp_recording *r, int frame, perp_error *error)
{
    const pp_h5_table_in *in = &r->table[PP_FRAMES];
    int64_t from = frame > 0 ? r->change_end[frame - 1] : 0;
    int count = (int)(r->change_end[frame] - from);
    if (count > r->change_room) {  // old lists stay in the arena; the room doubles
        int room = count > 2 * r->change_room ? count : 2 * r->change_room;
        r->change = PP_ARRAY(r->arena, pp_change, room);
        r->change_room = r->change ? room : 0;
    }
    r->changes = 0;
    if (count > r->change_room) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for a frame");
    }
    for (int k = 0; k < count; k++) {
        size_t row = (size_t)(from + k - in->change_first);
        pp_change *c = &r->change[k];
        c->kind = CELL(in, CHANGE_OF, int32_t, 2 * row);
        c->object = CELL(in, CHANGE_OF, int32_t, 2 * row + 1);
        memcpy(c->value, &CELL(in, CHANGE, double, PP_CHANGE_VALUES *row), sizeof c->value);
    }
    r->changes = count;
    return PERP_OK;
}

// First part of a frame, among those of the whole recording.
static int64_t parts_before(const perp_recording *r, int frame)
{
    return frame > 0 ? r->part_end[frame - 1] : 0;
}

// A caller's mistake, not the file's.
static perp_status no_place(perp_error *error)
{
    return pp_fail(error, PERP_ERR_ARGUMENT, "recording: the output pointer of the frame is NULL");
}

// out points into the recording: the frame that is read next takes its place.
perp_status perp_recording_read(perp_recording *recording, int frame, perp_snapshot *out,
                                perp_error *error)
{
    const perp_recording *r = recording;
    if (!r || !out) {
        return no_place(error);
    }
    if (frame < 0 || frame >= r->info.frames) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "recording: frame %d is outside 0..%d", frame,
                       r->info.frames - 1);
    }
    perp_status status = read_row(recording, PP_FRAMES, frame, out, error);
    if (status == PERP_OK) {
        status = place_applied(recording, frame, error);
    }
    if (status == PERP_OK) {
        status = place_changes(recording, frame, error);
    }
    out->applied = r->applied;
    out->kept = (int)(r->part_end[frame] - parts_before(r, frame));
    return status;
}

// A part is a row of the other table, with its kind and its length.
perp_status perp_recording_read_part(perp_recording *recording, int frame, int part,
                                     perp_snapshot *out, perp_error *error)
{
    const perp_recording *r = recording;
    if (!r || !out) {
        return no_place(error);
    }
    // A frame that is out of range has no parts.
    int64_t from = 0, count = 0;
    if (frame >= 0 && frame < r->info.frames) {
        from = parts_before(r, frame);
        count = r->part_end[frame] - from;
    }
    if (part < 0 || part >= count) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "recording: frame %d has no part %d", frame, part);
    }
    perp_status status = read_row(recording, PP_PARTS, (int)from + part, out, error);
    const pp_h5_table_in *in = &r->table[PP_PARTS];
    if (status == PERP_OK) {
        size_t row = (size_t)((int)from + part - in->first);
        int kind = CELL(in, PART_KIND, uint8_t, row);
        out->part = (perp_part_kind)kind;
        out->h = CELL(in, LENGTH, double, row);
        if (kind >= PERP_PART_COUNT) {
            status = pp_load_fail(r, error, "parts/kind", "has an invalid part");
        }
    }
    return status;
}
