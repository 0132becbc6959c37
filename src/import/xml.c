// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "import/xml.h"

#include <expat.h>
#include <string.h>

typedef struct xml_builder {
    const pp_xml_source *source;
    pp_arena *arena;
    perp_error *error;
    XML_Parser parser;
    pp_xml *root, *open;
    int depth;
    int line0;  // lines that were skipped before the text
    perp_status status;
    char *text;  // character data of the open element
    size_t length, room;
} xml_builder;

// ── Callbacks ────────────────────────────────────────────────────────────────────────────────────

// The first failure counts.
static void stop(xml_builder *b, perp_status status)
{
    if (b->status == PERP_OK) {
        b->status = status;
    }
    XML_StopParser(b->parser, XML_FALSE);
}

// At the place where the parser is.
static void stop_here(xml_builder *b, const char *reason)
{
    pp_xml at = {.file = b->source->file,
                 .line = b->line0 + (int)XML_GetCurrentLineNumber(b->parser),
                 .column = (int)XML_GetCurrentColumnNumber(b->parser) + 1};
    stop(b, pp_xml_fail(&at, b->error, "%s", reason));
}

static const char *keep(xml_builder *b, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = PP_ARRAY(b->arena, char, size);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

// Copies the attributes; false without memory.
static bool keep_attributes(xml_builder *b, pp_xml *element, const char *const *pairs)
{
    int count = 0;
    while (pairs[2 * count]) {
        count++;
    }
    element->attributes = count;
    element->attribute = PP_ARRAY(b->arena, pp_xml_attribute, count);
    if (!element->attribute) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        element->attribute[k] =
            (pp_xml_attribute){keep(b, pairs[2 * k]), keep(b, pairs[2 * k + 1]), false};
        if (!element->attribute[k].name || !element->attribute[k].value) {
            return false;
        }
    }
    return true;
}

static void on_start(void *user, const char *name, const char **pairs)
{
    xml_builder *b = user;
    if (b->status < 0) {
        return;
    }
    if (++b->depth > PP_XML_DEPTH_MAX) {
        stop_here(b, "elements are nested more than 400 levels deep");
        return;
    }
    pp_xml *element = PP_ZEROS(b->arena, pp_xml, 1);
    if (!element || !keep_attributes(b, element, (const char *const *)pairs)) {
        stop(b, PERP_ERR_MEMORY);
        return;
    }
    element->name = keep(b, name);
    element->file = b->source->file;
    element->text = "";
    element->line = b->line0 + (int)XML_GetCurrentLineNumber(b->parser);
    element->column = (int)XML_GetCurrentColumnNumber(b->parser) + 1;
    element->parent = b->open;
    if (!element->name) {
        stop(b, PERP_ERR_MEMORY);
        return;
    }
    // Children are appended to the element that is open.
    if (!b->open) {
        b->root = element;
    } else if (b->open->last) {
        b->open->last->next = element;
    } else {
        b->open->child = element;
    }
    if (b->open) {
        b->open->last = element;
    }
    b->open = element;
    b->length = 0;
}

static void on_end(void *user, const char *name)
{
    xml_builder *b = user;
    (void)name;
    if (b->status < 0 || !b->open) {
        return;
    }
    if (b->length > 0) {
        char *text = PP_ARRAY(b->arena, char, b->length + 1);
        if (!text) {
            stop(b, PERP_ERR_MEMORY);
            return;
        }
        memcpy(text, b->text, b->length);
        text[b->length] = '\0';
        b->open->text = text;
        b->length = 0;
    }
    b->open = b->open->parent;
    b->depth--;
}

// Text comes in pieces. Of an element that has text and children, the text after the last child remains.
static void on_text(void *user, const char *piece, int size)
{
    xml_builder *b = user;
    size_t more = (size_t)size;
    if (b->status < 0 || !b->source->keep_text) {
        return;
    }
    if (b->length + more > b->room) {
        size_t room = 2 * (b->length + more) + 256;
        char *text = PP_ARRAY(b->arena, char, room);
        if (!text) {
            stop(b, PERP_ERR_MEMORY);
            return;
        }
        if (b->length > 0) {
            memcpy(text, b->text, b->length);
        }
        b->text = text;
        b->room = room;
    }
    memcpy(b->text + b->length, piece, more);
    b->length += more;
}

static void on_doctype(void *user, const char *name, const char *system, const char *public,
                       int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    stop_here(user, "document types (<!DOCTYPE ...>) and entities are not read; remove them");
}

// ── Parsing ──────────────────────────────────────────────────────────────────────────────────────

// Blanks and a byte order mark before the first '<'.
static size_t leading_blanks(const char *text, size_t size)
{
    size_t k = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (k < size && text[k] != '\0' && strchr(" \t\r\n", text[k])) {
        k++;
    }
    return k;
}

bool pp_xml_likely(const char *text, size_t size)
{
    size_t k = text ? leading_blanks(text, size) : 0;
    return text && k < size && text[k] == '<';
}

static perp_status run_parser(xml_builder *b, const char *text, size_t size)
{
    enum { PIECE = 1 << 20 };
    bool good = true;
    // Pieces, since expat takes sizes as int.
    for (size_t at = 0; at < size; at += PIECE) {
        size_t n = size - at < PIECE ? size - at : PIECE;
        good = XML_Parse(b->parser, text + at, (int)n, at + n == size) == XML_STATUS_OK;
        if (!good) {
            break;
        }
    }
    if (b->status < 0) {
        return b->status == PERP_ERR_MEMORY
                   ? pp_fail(b->error, PERP_ERR_MEMORY, "not enough memory for this file")
                   : b->status;
    }
    enum XML_Error fault = XML_GetErrorCode(b->parser);
    if (!good && fault == XML_ERROR_NO_MEMORY) {
        return pp_fail(b->error, PERP_ERR_MEMORY, "not enough memory for this file");
    }
    if (!good) {
        stop_here(b, XML_ErrorString(fault));
        return b->status;
    }
    if (!b->root) {
        stop_here(b, "no element found");
    }
    return b->status;
}

perp_status pp_xml_parse(const pp_xml_source *source, pp_arena *arena, pp_xml **root,
                         perp_error *error)
{
    size_t skip = leading_blanks(source->text, source->size);
    xml_builder b = {.source = source, .arena = arena, .error = error};
    *root = NULL;
    for (const char *c = source->text; c && c < source->text + skip; c++) {
        b.line0 += *c == '\n';
    }
    if (skip == source->size) {
        return pp_fail(error, PERP_ERR_FORMAT, "the file is empty");
    }
    // Without namespaces: prefixes need not be bound, and stay part of the name.
    b.parser = XML_ParserCreate(NULL);
    if (!b.parser) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this file");
    }
    XML_SetUserData(b.parser, &b);
    XML_SetElementHandler(b.parser, on_start, on_end);
    XML_SetCharacterDataHandler(b.parser, on_text);
    XML_SetStartDoctypeDeclHandler(b.parser, on_doctype);
    perp_status status = run_parser(&b, source->text + skip, source->size - skip);
    XML_ParserFree(b.parser);
    *root = status == PERP_OK ? b.root : NULL;
    return status;
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────

perp_status pp_xml_fail(const pp_xml *at, perp_error *error, const char *format, ...)
{
    char text[400], head[160] = "";
    va_list list;
    va_start(list, format);
    pp_print_list(text, sizeof text, format, list);
    va_end(list);
    // The name of the element identifies it better than its place.
    const char *name = NULL;
    for (int k = 0; k < at->attributes; k++) {
        name = strcmp(at->attribute[k].name, "name") == 0 ? at->attribute[k].value : name;
    }
    if (at->name && name) {
        pp_print(head, sizeof head, "<%.40s> '%.60s': ", at->name, name);
    } else if (at->name) {
        pp_print(head, sizeof head, "<%.40s>: ", at->name);
    }
    perp_status status = PERP_ERR_FORMAT;
    if (at->file) {
        return pp_fail(error, status, "%.80s:%d:%d: %s%s", at->file, at->line, at->column, head,
                       text);
    }
    status = pp_fail(error, status, "%s%s", head, text);
    if (error) {
        error->line = at->line;
        error->column = at->column;
    }
    return status;
}

// ── Access ───────────────────────────────────────────────────────────────────────────────────────

const pp_xml_attribute *pp_xml_attribute_of(pp_xml *element, const char *name)
{
    for (int k = 0; k < element->attributes; k++) {
        if (strcmp(element->attribute[k].name, name) == 0) {
            element->attribute[k].seen = true;
            return &element->attribute[k];
        }
    }
    return NULL;
}

const char *pp_xml_value(pp_xml *element, const char *name)
{
    const pp_xml_attribute *attribute = pp_xml_attribute_of(element, name);
    return attribute ? attribute->value : NULL;
}

bool pp_xml_is(const pp_xml *element, const char *name)
{
    return strcmp(element->name, name) == 0;
}

pp_xml *pp_xml_child(pp_xml *element, const char *name, const pp_xml *after)
{
    for (pp_xml *child = after ? after->next : element->child; child; child = child->next) {
        if (pp_xml_is(child, name)) {
            child->seen = true;
            return child;
        }
    }
    return NULL;
}

pp_xml *pp_xml_walk(const pp_xml *top, pp_xml *at)
{
    if (at->child) {
        return at->child;
    }
    while (at != top && !at->next) {
        at = at->parent;
    }
    return at == top ? NULL : at->next;
}

void pp_xml_see_all(pp_xml *element)
{
    for (pp_xml *at = element; at; at = pp_xml_walk(element, at)) {
        at->seen = true;
        for (int k = 0; k < at->attributes; k++) {
            at->attribute[k].seen = true;
        }
    }
}

int pp_xml_numbers(const char *text, double *x, int most)
{
    static const char blanks[] = " \t\r\n";
    int count = 0;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        if (count == most || pp_number_parse(text, length, &x[count]) != PP_NUMBER_FINITE) {
            return -1;
        }
        count++;
        text += length;
    }
    return count;
}
