// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// <include>: the elements of another file take its place.
#include "import/mjcf.h"

#include <string.h>

enum { INCLUDES_MOST = 200 };

// Whether the file has been included before, or is the main one.
static bool was_read(const char *const *list, int count, const char *name)
{
    for (int k = 0; k < count; k++) {
        if (strcmp(list[k], name) == 0) {
            return true;
        }
    }
    return false;
}

// Puts the children of `root` in the place of `at`; `before` is the sibling before it, or NULL.
static void splice(pp_xml *at, pp_xml *before, pp_xml *root)
{
    pp_xml *parent = at->parent;
    for (pp_xml *child = root->child; child; child = child->next) {
        child->parent = parent;
    }
    pp_xml *first = root->child ? root->child : at->next;
    if (root->last) {
        root->last->next = at->next;
    }
    if (before) {
        before->next = first;
    } else {
        parent->child = first;
    }
    if (parent->last == at) {
        parent->last = root->last ? root->last : before;
    }
}

static pp_xml *read_file(pp_mjcf *m, pp_xml *at, const char *name)
{
    pp_import_file file;
    pp_xml *root = NULL;
    perp_status status =
        pp_import_read(m->files, *m->folder ? m->folder : NULL, name, at, &file, m->error);
    if (status == PERP_OK && file.missing) {
        pp_mjcf_fail(m, at, "there is no file '%.90s'", name);
        return NULL;
    }
    if (status == PERP_OK) {
        pp_xml_source source = {.file = name, .text = file.text, .size = file.size};
        status = pp_xml_parse(&source, m->arena, &root, m->error);
    }
    m->status = status < 0 ? status : m->status;
    if (m->status == PERP_OK && !pp_xml_is(root, "mujoco") && !pp_xml_is(root, "mujocoinclude")) {
        pp_mjcf_fail(m, root, "an included file must begin with <mujoco> or <mujocoinclude>");
    }
    return m->status == PERP_OK ? root : NULL;
}

// All in the order of the file; an included file may include others. A file is included once at most, which also
// excludes cycles.
void pp_mjcf_include(pp_mjcf *m, pp_xml *root)
{
    const char *list[INCLUDES_MOST];
    int count = 0;
    pp_xml *at = root, *next;
    for (; at; at = next) {
        if (m->status < 0) {
            return;
        }
        next = pp_xml_walk(root, at);
        if (!pp_xml_is(at, "include") || at == root) {
            continue;
        }
        const char *name = pp_xml_value(at, "file");
        if (!name) {
            pp_mjcf_fail(m, at, "needs a file");
            return;
        }
        if (was_read(list, count, name)) {
            pp_mjcf_fail(m, at, "'%.90s' is included twice; a file can be included once", name);
            return;
        }
        if (count == INCLUDES_MOST) {
            pp_mjcf_fail(m, at, "more than %d files are included", INCLUDES_MOST);
            return;
        }
        list[count++] = name;
        pp_xml *other = read_file(m, at, name);
        if (!other) {
            return;
        }
        pp_xml *before = NULL;
        for (pp_xml *k = at->parent->child; k != at; k = k->next) {
            before = k;
        }
        // The elements that came are visited next: they may have includes of their own.
        pp_xml *parent = at->parent;
        splice(at, before, other);
        pp_xml *from = before ? before->next : parent->child;
        next = from ? from : next;
    }
}
