// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// XML files as trees of elements, which remember what a reader has looked at.
//
// The tree is for files from anyone: document types and entities are refused (they can make a small
// file expand without limit), and nesting is limited. Prefixes are part of names and need not be
// bound. Blanks before the declaration, which XML forbids, are skipped: many URDF files have them.
#pragma once

#include "base/base.h"

typedef struct pp_xml_attribute {
    const char *name, *value;
    bool seen;  // a reader has looked at it
} pp_xml_attribute;

// An element. Children are a list in the order of the file.
typedef struct pp_xml {
    const char *name;
    const char *file;  // NULL: the main file
    int line, column;
    pp_xml_attribute *attribute;
    int attributes;
    const char *text;  // character data, if it was asked for; else ""
    struct pp_xml *parent, *child, *last, *next;
    bool seen;
} pp_xml;

enum { PP_XML_DEPTH_MAX = 400 };

typedef struct pp_xml_source {
    const char *file;  // for messages; NULL: the main file
    const char *text;
    size_t size;
    bool keep_text;  // character data as well
} pp_xml_source;

// The tree, in the arena. PERP_ERR_FORMAT, with line and column: not well-formed, a document type, an
// entity, or nested too deeply.
perp_status pp_xml_parse(const pp_xml_source *source, pp_arena *arena, pp_xml **root,
                         perp_error *error);
// Whether the text begins like XML: with '<', after blanks and a byte order mark.
bool pp_xml_likely(const char *text, size_t size);

// Fails at the element: "<joint> 'hip': ...". In a file other than the main one, its name and the place
// in it are part of the message.
perp_status pp_xml_fail(const pp_xml *at, perp_error *error, const char *format, ...)
    PP_FORMAT(3, 4);

// The attribute of that name, which then counts as seen; NULL: none.
const pp_xml_attribute *pp_xml_attribute_of(pp_xml *element, const char *name);
// Its value; NULL: none.
const char *pp_xml_value(pp_xml *element, const char *name);
// The next child of that name after `after`, or the first if that is NULL; it counts as seen. NULL: no more.
pp_xml *pp_xml_child(pp_xml *element, const char *name, const pp_xml *after);
bool pp_xml_is(const pp_xml *element, const char *name);
// Marks the element and all below it, attributes included.
void pp_xml_see_all(pp_xml *element);
// The element after this one in the order of the file, below `top`; NULL: no more. Does not recurse.
pp_xml *pp_xml_walk(const pp_xml *top, pp_xml *at);

// Numbers in the text, separated by blanks: at most `most`. Returns how many there are; -1: there are
// more, or one is not a finite number.
int pp_xml_numbers(const char *text, double *x, int most);
