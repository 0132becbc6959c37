// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/xml.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

static void complain(xml *x, const char *element, const char *name, const char *value)
{
    if (!x->fault[0]) {
        snprintf(x->fault, sizeof x->fault, "<%s %s=\"%.60s\">", element, name, value);
    }
}

static void look(xml *x, const char *element, const char *name, const char *value)
{
    static const char *const numbers[] = {
        "x",     "y",      "cx", "cy", "r",       "x1",           "x2",        "y1", "y2",
        "width", "height", "dx", "dy", "opacity", "stroke-width", "font-size", NULL};
    if (strcmp(name, "d") == 0 && value[strspn(value, "0123456789.- MLAZh")] != '\0') {
        complain(x, element, name, value);
    }
    if (is_one_of(name, numbers) && strcmp(element, "svg") != 0) {
        char *end = NULL;
        double number = strtod(value, &end);
        if (end == value || *end || !isfinite(number)) {
            complain(x, element, name, value);
        }
        x->right = name[0] == 'x' || name[0] == 'c' ? fmax(x->right, number) : x->right;
        x->bottom = name[0] == 'y' ? fmax(x->bottom, number) : x->bottom;
    }
    if (strcmp(element, "svg") == 0 && strcmp(name, "viewBox") == 0) {
        char *end = NULL;  // "0 0 width height"
        strtod(value, &end);
        strtod(end, &end);
        x->width = strtod(end, &end);
        x->height = strtod(end, NULL);
    }
}

static void begin(void *user, const char *element, const char **attributes)
{
    xml *x = user;
    x->elements++;
    x->texts += strcmp(element, "text") == 0;
    x->paths += strcmp(element, "path") == 0;
    for (; attributes[0]; attributes += 2) {
        look(x, element, attributes[0], attributes[1]);
    }
}

static void words(void *user, const char *text, int length)
{
    xml *x = user;
    size_t used = strlen(x->words);
    if (used + (size_t)length < sizeof x->words) {
        memcpy(x->words + used, text, (size_t)length);
        x->words[used + (size_t)length] = '\0';
    }
}

bool xml_read(xml *x, const char *text, size_t size)
{
    *x = (xml){0};
    XML_Parser parser = XML_ParserCreate("UTF-8");
    XML_SetUserData(parser, x);
    XML_SetElementHandler(parser, begin, NULL);
    XML_SetCharacterDataHandler(parser, words);
    if (XML_Parse(parser, text, (int)size, 1) != XML_STATUS_OK) {
        snprintf(x->fault, sizeof x->fault, "line %lu: %s",
                 (unsigned long)XML_GetCurrentLineNumber(parser),
                 XML_ErrorString(XML_GetErrorCode(parser)));
    }
    XML_ParserFree(parser);
    return !x->fault[0];
}

bool xml_read_file(xml *x, const char *path)
{
    FILE *file = fopen(path, "rb");
    *x = (xml){0};
    if (!file) {
        snprintf(x->fault, sizeof x->fault, "no file %.150s", path);
        return false;
    }
    size_t room = (size_t)8 << 20;
    char *text = malloc(room);
    size_t size = text ? fread(text, 1, room, file) : 0;
    fclose(file);
    bool fine = xml_read(x, text ? text : "", size);
    free(text);
    return fine;
}
