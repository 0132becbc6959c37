// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The report of an import: what was used, what was not, what was repaired and what was assumed.
//
// It is complete: an attribute or element that no reader has looked at is listed as not used.
#pragma once

#include "import/xml.h"

#include <perp/import.h>

typedef struct pp_note {
    perp_import_note note;
    const pp_xml *at;  // the first place; NULL: none
    uint64_t hash;     // of kind, what and why
    struct pp_note *next;
    struct pp_note *same;  // the next one in its bucket
} pp_note;

enum { PP_NOTE_BUCKETS = 256 };

typedef struct pp_import_report {
    pp_arena *arena;
    const char *main_file;
    pp_note *first, *last;
    pp_note *bucket[PP_NOTE_BUCKETS];  // by hash
    int count;
    int dropped;  // notes beyond the largest number
    bool full;    // out of memory
} pp_import_report;

// A reason that the report gives for elements or attributes that are not used. Names are those of the
// element and of the attribute; a star at the end stands for any ending, alone for all, and an attribute NULL for the element with all in it.
typedef struct pp_unused {
    const char *element, *attribute, *what, *why;
} pp_unused;

// Adds a note; notes of the same text are counted. at NULL: no place. The texts are copied.
void pp_report_add(pp_import_report *report, perp_import_note_kind kind, const pp_xml *at,
                   const char *what, const char *why);
PP_FORMAT(4, 5)
void pp_report_say(pp_import_report *report, perp_import_note_kind kind, const pp_xml *at,
                   const char *format, ...);
// Lists all elements and attributes below root that no reader has seen, with reasons from the table.
void pp_report_unseen(pp_import_report *report, pp_xml *root, const pp_unused *table, int rows);
// The notes as an array in the arena; NULL: no memory.
const perp_import_note *pp_report_list(pp_import_report *report);
