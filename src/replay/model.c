// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns that do not depend on time: where bodies start, outlines and faces of shapes, events.
#include "replay/data.h"

#include <math.h>
#include <string.h>

// A column without numbers has memory as well, since NULL means that memory is out.
bool pp_replay_data_column(pp_replay_data *data, pp_page_column_name name, pp_cell_type type,
                           int width, int64_t rows)
{
    pp_page_column *column = &data->column[name];
    size_t bytes = (size_t)width * pp_cell_size(type);
    *column = (pp_page_column){.type = type, .width = width, .rows = rows};
    column->data = pp_arena_zeros(data->arena, (size_t)rows, bytes > 0 ? bytes : 1);
    return column->data != NULL;
}

perp_status pp_replay_no_memory(perp_error *error)
{
    return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for the replay");
}

// Vertices and corners of a shape, as many as it really has.
static void measure_shape(const perp_recorded_shape *shape, int64_t *vertices, int64_t *corners)
{
    *vertices = shape->outline_count;
    *corners = shape->faces > 0 ? shape->corner_end[shape->faces - 1] - shape->corner_first : 0;
}

// Corners are counted from the first of the shape.
static void put_shape(pp_replay_data *data, const perp_recorded_shape *shape)
{
    pp_page_column *outline = &data->column[PP_C_OUTLINE], *corner = &data->column[PP_C_CORNER];
    pp_page_column *end = &data->column[PP_C_CORNER_END];
    int64_t corners = 0, vertices = 0;
    measure_shape(shape, &vertices, &corners);
    for (int64_t k = 0; k < vertices; k++, outline->count++) {
        pp_page_column_set(outline, outline->count, 0, shape->outline[k].x);
        pp_page_column_set(outline, outline->count, 1, shape->outline[k].y);
        pp_page_column_set(outline, outline->count, 2, shape->outline[k].z);
    }
    for (int64_t k = 0; k < corners; k++) {
        pp_page_column_set(corner, corner->count++, 0, shape->corner[shape->corner_first + k]);
    }
    for (int k = 0; k < shape->faces; k++) {
        pp_page_column_set(end, end->count++, 0, shape->corner_end[k] - shape->corner_first);
    }
}

// Shape k of those that collide and then those that are only shown.
static perp_recorded_shape shape_at(const pp_replay_data *data, int k)
{
    int shapes = data->info->shapes;
    return k < shapes ? perp_recording_shape(data->recording, (perp_shape){k})
                      : perp_recording_visual(data->recording, (perp_visual){k - shapes});
}

// Sizes first, then the columns.
static bool put_shapes(pp_replay_data *data)
{
    const perp_recording_info *info = data->info;
    int64_t vertices, corners;
    for (int k = 0; k < info->shapes + info->visuals; k++) {
        perp_recorded_shape shape = shape_at(data, k);
        measure_shape(&shape, &vertices, &corners);
        data->outline += vertices;
        data->corners += corners;
        data->faces += shape.faces;
    }
    if (!pp_replay_data_column(data, PP_C_OUTLINE, PP_F32, 3, data->outline) ||
        !pp_replay_data_column(data, PP_C_CORNER, PP_U32, 1, data->corners) ||
        !pp_replay_data_column(data, PP_C_CORNER_END, PP_U32, 1, data->faces)) {
        return false;
    }
    for (int k = 0; k < info->shapes + info->visuals; k++) {
        perp_recorded_shape shape = shape_at(data, k);
        put_shape(data, &shape);
    }
    return true;
}

// Position [m] and quaternion of all bodies: fixed ones have no other place.
static perp_status put_start(pp_replay_data *data, perp_error *error)
{
    perp_snapshot frame;
    pp_page_column *start = &data->column[PP_C_START];
    perp_status status = perp_recording_read(data->recording, 0, &frame, error);
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < data->info->bodies; k++) {
        const perp_vec3 *p = &frame.position_W[k];
        const perp_quat *q = &frame.rotation_WB[k];
        const double value[7] = {p->x, p->y, p->z, q->w, q->x, q->y, q->z};
        for (int i = 0; i < 7; i++) {
            pp_page_column_set(start, k, i, value[i]);
        }
        start->count++;
    }
    return PERP_OK;
}

// The text of the events, up to the last whole line that fits.
static bool put_events(pp_replay_data *data)
{
    const char *text = data->info->events;
    size_t size = text ? strlen(text) : 0;
    if (size > PP_EVENT_BYTES) {
        // A line that is cut would be no JSON.
        size = PP_EVENT_BYTES;
        while (size > 0 && text[size - 1] != '\n') {
            size--;
        }
    }
    data->event_bytes = size;
    if (!pp_replay_data_column(data, PP_EVENTS_TEXT, PP_U8, 1, (int64_t)size)) {
        return false;
    }
    if (size > 0) {
        memcpy(data->column[PP_EVENTS_TEXT].data, text, size);
    }
    data->column[PP_EVENTS_TEXT].count = (int64_t)size;
    return true;
}

// Sizes of rows, numbers of the moving bodies, and the columns that do not depend on time.
perp_status pp_replay_data_model(pp_replay_data *data, perp_error *error)
{
    const perp_recording_info *info = data->info;
    data->axes = info->spatial ? 3 : 2;
    data->turns = info->spatial ? 4 : 1;
    data->spins = info->spatial ? 3 : 1;
    data->row = PP_ARRAY(data->arena, int, info->bodies);
    if (!data->row) {
        return pp_replay_no_memory(error);
    }
    for (int k = 0; k < info->bodies; k++) {
        // Fixed bodies have no row: their place is that of the start.
        bool fixed =
            perp_recording_body(data->recording, (perp_body){k}).motion == PERP_MOTION_STATIC;
        data->row[k] = fixed ? -1 : data->moving++;
    }
    // Ranges of the coordinates of each body that moves, empty until the first reading.
    size_t n = (size_t)data->moving * (size_t)data->axes;
    data->low = PP_ARRAY(data->arena, double, n);
    data->high = PP_ARRAY(data->arena, double, n);
    data->contacts_of = PP_ZEROS(data->arena, int, info->frames);
    if (!data->low || !data->high || !data->contacts_of || !put_shapes(data) || !put_events(data) ||
        !pp_replay_data_column(data, PP_C_START, PP_F64, 7, info->bodies)) {
        return pp_replay_no_memory(error);
    }
    for (size_t k = 0; k < n; k++) {
        data->low[k] = PP_INF;
        data->high[k] = -PP_INF;
    }
    for (int i = 0; i < 3; i++) {
        data->point_low[i] = PP_INF;
        data->point_high[i] = -PP_INF;
    }
    return put_start(data, error);
}
