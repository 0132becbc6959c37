// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Events of a recording: lines of JSON, of which only {"t": 0.25, … "event": "impact" … matters
// here.
#include "plot/figures/run_data.h"

#include <math.h>
#include <string.h>

// What follows "key": in the line, or NULL. Lines are those of record/events.c, which have each key
// once and no spaces before the colon.
static const char *find_member(const char *line, size_t length, const char *key)
{
    size_t size = strlen(key);
    for (size_t k = 0; k + size < length; k++) {
        if (memcmp(line + k, key, size) == 0) {
            k += size;
            while (k < length && (line[k] == ' ' || line[k] == ':')) {
                k++;
            }
            return line + k;
        }
    }
    return NULL;
}

// The kind with the name, a new one where there is room; NULL: too many kinds, or too long a name.
static pp_event *find_event(pp_run_data *s, const char *name, size_t length)
{
    for (int k = 0; k < s->events; k++) {
        if (strlen(s->event[k].name) == length && memcmp(s->event[k].name, name, length) == 0) {
            return &s->event[k];
        }
    }
    if (s->events == PP_EVENTS || length >= sizeof s->event[0].name) {
        return NULL;
    }
    pp_event *event = &s->event[s->events++];
    memcpy(event->name, name, length);
    // NULL is seen by the caller: memory is out.
    event->mark = PP_ZEROS(s->arena, unsigned char, PP_BINS_MOST);
    return event;
}

// One line of the events; false: memory is out. A line that is not understood is left out.
static bool note_line(pp_run_data *s, const char *line, size_t length)
{
    const char *end = line + length;
    const char *time = find_member(line, length, "\"t\""),
               *name = find_member(line, length, "\"event\"");
    double t = 0.0;
    if (!time || !name || *name != '"' ||
        pp_number_parse(time, strcspn(time, ",}\n"), &t) != PP_NUMBER_FINITE) {
        return true;
    }
    size_t size = strcspn(++name, "\"\n");
    pp_event *event = name + size < end ? find_event(s, name, size) : NULL;
    if (!event) {
        return true;
    }
    if (!event->mark) {
        return false;
    }
    // Of the run, from 0 to 1; events of a step that failed are after its end.
    double part = s->t.high > s->t.low ? (t - s->t.low) / (s->t.high - s->t.low) : 0.0;
    event->mark[(int)(fmax(0.0, fmin(part, 1.0)) * (PP_BINS_MOST - 1))] = 1;
    event->count++;
    return true;
}

// Recordings without events have an empty text.
bool pp_run_data_events(pp_run_data *data)
{
    const char *line = data->source->info->events;
    while (line && *line) {
        size_t length = strcspn(line, "\n");
        if (!note_line(data, line, length)) {
            return false;
        }
        line += length + (line[length] == '\n');
    }
    return true;
}
