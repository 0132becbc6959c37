// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns that do not depend on time: where bodies start, outlines and faces of shapes, events.
#include "replay/reel.h"

#include <math.h>
#include <string.h>

bool pp_reel_column(pp_reel *reel, pp_column_name name, pp_cell_type type, int width, int64_t rows)
{
    pp_column *column = &reel->column[name];
    size_t bytes = (size_t)width * pp_cell_size(type);
    *column = (pp_column){.type = type, .width = width, .rows = rows};
    column->data = pp_arena_zeros(reel->arena, (size_t)rows, bytes > 0 ? bytes : 1);
    return column->data != NULL;
}

static perp_status no_memory(perp_error *error)
{
    return pp_fail(error, PERP_ERR_MEMORY, "no memory for the replay");
}

// Vertices, corners and faces of a shape, as many as it really has.
static void measure(const perp_recorded_shape *shape, int64_t *vertices, int64_t *corners)
{
    *vertices = shape->outline_count;
    *corners = shape->faces > 0 ? shape->corner_end[shape->faces - 1] - shape->corner_first : 0;
}

static void put_shape(pp_reel *reel, const perp_recorded_shape *shape)
{
    pp_column *outline = &reel->column[PP_C_OUTLINE], *corner = &reel->column[PP_C_CORNER];
    pp_column *end = &reel->column[PP_C_CORNER_END];
    int64_t corners = 0, vertices = 0;
    measure(shape, &vertices, &corners);
    for (int64_t k = 0; k < vertices; k++, outline->count++) {
        pp_column_set(outline, outline->count, 0, shape->outline[k].x);
        pp_column_set(outline, outline->count, 1, shape->outline[k].y);
        pp_column_set(outline, outline->count, 2, shape->outline[k].z);
    }
    for (int64_t k = 0; k < corners; k++) {
        pp_column_set(corner, corner->count++, 0, shape->corner[shape->corner_first + k]);
    }
    for (int k = 0; k < shape->faces; k++) {
        pp_column_set(end, end->count++, 0, shape->corner_end[k] - shape->corner_first);
    }
}

static bool put_shapes(pp_reel *reel)
{
    const perp_recording_info *info = reel->info;
    int64_t vertices, corners;
    for (int k = 0; k < info->shapes; k++) {
        perp_recorded_shape shape = perp_recording_shape(reel->recording, (perp_shape){k});
        measure(&shape, &vertices, &corners);
        reel->outline += vertices;
        reel->corners += corners;
        reel->faces += shape.faces;
    }
    if (!pp_reel_column(reel, PP_C_OUTLINE, PP_F32, 3, reel->outline) ||
        !pp_reel_column(reel, PP_C_CORNER, PP_U32, 1, reel->corners) ||
        !pp_reel_column(reel, PP_C_CORNER_END, PP_U32, 1, reel->faces)) {
        return false;
    }
    for (int k = 0; k < info->shapes; k++) {
        perp_recorded_shape shape = perp_recording_shape(reel->recording, (perp_shape){k});
        put_shape(reel, &shape);
    }
    return true;
}

static perp_status put_start(pp_reel *reel, perp_error *error)
{
    perp_frame frame;
    pp_column *start = &reel->column[PP_C_START];
    perp_status status = perp_recording_read(reel->recording, 0, &frame, error);
    for (int k = 0; k < reel->info->bodies && status == PERP_OK; k++) {
        const perp_vec3 *p = &frame.position[k];
        const perp_quat *q = &frame.rotation[k];
        const double value[7] = {p->x, p->y, p->z, q->w, q->x, q->y, q->z};
        for (int i = 0; i < 7; i++) {
            pp_column_set(start, k, i, value[i]);
        }
        start->count++;
    }
    return status;
}

// The last line that fits ends the column.
static bool put_events(pp_reel *reel)
{
    const char *text = reel->info->events;
    size_t size = text ? strlen(text) : 0;
    if (size > PP_EVENT_BYTES) {
        size = PP_EVENT_BYTES;
        while (size > 0 && text[size - 1] != '\n') {
            size--;
        }
    }
    reel->event_bytes = size;
    if (!pp_reel_column(reel, PP_EVENTS_TEXT, PP_U8, 1, (int64_t)size)) {
        return false;
    }
    if (size > 0) {
        memcpy(reel->column[PP_EVENTS_TEXT].data, text, size);
    }
    reel->column[PP_EVENTS_TEXT].count = (int64_t)size;
    return true;
}

perp_status pp_reel_model(pp_reel *reel, perp_error *error)
{
    const perp_recording_info *info = reel->info;
    reel->axes = info->spatial ? 3 : 2;
    reel->turns = info->spatial ? 4 : 1;
    reel->spins = info->spatial ? 3 : 1;
    reel->row = PP_ARRAY(reel->arena, int, info->bodies);
    if (!reel->row) {
        return no_memory(error);
    }
    for (int k = 0; k < info->bodies; k++) {
        bool fixed = perp_recording_body(reel->recording, (perp_body){k}).drive == PERP_FIXED;
        reel->row[k] = fixed ? -1 : reel->moving++;
    }
    size_t n = (size_t)reel->moving * (size_t)reel->axes;
    reel->low = PP_ARRAY(reel->arena, double, n);
    reel->high = PP_ARRAY(reel->arena, double, n);
    reel->contacts_of = PP_ZEROS(reel->arena, int, info->frames);
    if (!reel->low || !reel->high || !reel->contacts_of || !put_shapes(reel) || !put_events(reel) ||
        !pp_reel_column(reel, PP_C_START, PP_F64, 7, info->bodies)) {
        return no_memory(error);
    }
    for (size_t k = 0; k < n; k++) {
        reel->low[k] = PP_INF;
        reel->high[k] = -PP_INF;
    }
    for (int i = 0; i < 3; i++) {
        reel->point_low[i] = PP_INF;
        reel->point_high[i] = -PP_INF;
    }
    return put_start(reel, error);
}
