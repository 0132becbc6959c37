// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "import/report.h"

#include <string.h>

// A hostile file could have any number of different notes; nobody reads more than these.
enum { NOTES_MOST = 500 };

static const char *copy_text(pp_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = PP_ARRAY(arena, char, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static pp_note *find_note(const pp_import_report *report, uint64_t hash, perp_import_note_kind kind,
                          const char *what, const char *why)
{
    for (pp_note *note = report->bucket[hash % PP_NOTE_BUCKETS]; note; note = note->same) {
        if (note->hash == hash && note->note.kind == kind && strcmp(note->note.what, what) == 0 &&
            strcmp(note->note.why, why) == 0) {
            return note;
        }
    }
    return NULL;
}

// Without memory the report is marked, and the import fails at its end.
void pp_report_add(pp_import_report *report, perp_import_note_kind kind, const pp_xml *at,
                   const char *what, const char *why)
{
    why = why ? why : "";
    uint64_t hash = pp_hash(pp_hash((uint64_t)kind + 1, what, strlen(what)), why, strlen(why));
    pp_note *note = find_note(report, hash, kind, what, why);
    if (note) {
        note->note.count++;
        return;
    }
    if (report->count == NOTES_MOST) {
        report->dropped++;
        return;
    }
    // A new note, at the end of the list.
    note = PP_ZEROS(report->arena, pp_note, 1);
    if (!note) {
        report->full = true;
        return;
    }
    const char *file = at && at->file ? at->file : report->main_file;
    *note = (pp_note){.at = at,
                      .hash = hash,
                      .note = {.kind = kind,
                               .what = copy_text(report->arena, what),
                               .why = copy_text(report->arena, why),
                               .file = at ? copy_text(report->arena, file) : "",
                               .line = at ? at->line : 0,
                               .count = 1}};
    if (!note->note.what || !note->note.why || !note->note.file) {
        report->full = true;
        return;
    }
    if (report->last) {
        report->last->next = note;
    } else {
        report->first = note;
    }
    report->last = note;
    note->same = report->bucket[hash % PP_NOTE_BUCKETS];
    report->bucket[hash % PP_NOTE_BUCKETS] = note;
    report->count++;
}

void pp_report_say(pp_import_report *report, perp_import_note_kind kind, const pp_xml *at,
                   const char *format, ...)
{
    char text[300];
    va_list list;
    va_start(list, format);
    pp_print_list(text, sizeof text, format, list);
    va_end(list);
    pp_report_add(report, kind, at, text, "");
}

// ── What nobody looked at ────────────────────────────────────────────────────────────────────────

// A star at the end stands for any ending.
static bool fits(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    bool open = length > 0 && pattern[length - 1] == '*';
    return open ? strncmp(pattern, name, length - 1) == 0 : strcmp(pattern, name) == 0;
}

// attribute NULL: the element itself.
static const pp_unused *reason_for(const pp_unused *table, int rows, const char *element,
                                   const char *attribute)
{
    for (int k = 0; k < rows; k++) {
        if (fits(table[k].element, element) && !attribute == !table[k].attribute &&
            (!attribute || fits(table[k].attribute, attribute))) {
            return &table[k];
        }
    }
    return NULL;
}

// Names come from the file, and are cut.
static void note_unseen(pp_import_report *report, const pp_xml *at, const char *attribute,
                        const pp_unused *row)
{
    char what[200];
    if (row && row->what) {
        pp_print(what, sizeof what, "%s", row->what);
    } else if (attribute) {
        pp_print(what, sizeof what, "<%.60s %.60s>", at->name, attribute);
    } else {
        pp_print(what, sizeof what, "<%.60s>", at->name);
    }
    pp_report_add(report, PERP_IMPORT_NOT_USED, at, what,
                  row ? row->why : "not known to the reader");
}

// The contents of an element that was not seen are not listed one by one.
void pp_report_unseen(pp_import_report *report, pp_xml *root, const pp_unused *table, int rows)
{
    pp_xml *at = root;
    while (at) {
        bool skip = !at->seen;
        if (skip) {
            note_unseen(report, at, NULL, reason_for(table, rows, at->name, NULL));
        }
        int count = skip ? 0 : at->attributes;
        for (int k = 0; k < count; k++) {
            const char *name = at->attribute[k].name;
            if (!at->attribute[k].seen) {
                note_unseen(report, at, name, reason_for(table, rows, at->name, name));
            }
        }
        // Past the contents of a skipped element.
        pp_xml *child = at->child;
        if (skip) {
            at->child = NULL;
        }
        pp_xml *next = pp_xml_walk(root, at);
        at->child = child;
        at = next;
    }
}

const perp_import_note *pp_report_list(pp_import_report *report)
{
    if (report->dropped > 0) {
        char text[80];
        pp_print(text, sizeof text, "%d more notes", report->dropped);
        report->count--;  // room for this one
        pp_report_add(report, PERP_IMPORT_NOT_USED, NULL, text, "the report is too long");
    }
    int count = 0;
    for (const pp_note *note = report->first; note; note = note->next) {
        count++;
    }
    perp_import_note *list = PP_ARRAY(report->arena, perp_import_note, count);
    if (!list) {
        return NULL;
    }
    report->count = 0;
    for (const pp_note *note = report->first; note; note = note->next) {
        list[report->count++] = note->note;
    }
    return list;
}
