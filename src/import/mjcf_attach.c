// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// <attach>: a body of another model, with all that belongs to it.
//
// The other model is read with its own <compiler>, defaults and assets; its names get a prefix. It shares the robot
// and the report of the main model.
#include "import/mjcf.h"

#include <string.h>

enum { MODELS_DEEP = 8, MODELS_MOST = 200 };

// The folder of a file, in that of the model that names it.
static const char *folder_of(pp_mjcf *m, const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash - file) : 0;
    size_t room = strlen(m->folder) + length + 2;
    char *made = PP_ARRAY(m->arena, char, room);
    if (!made) {
        pp_mjcf_memory(m);
        return "";
    }
    pp_print(made, room, "%s%s%.*s", m->folder, *m->folder && length > 0 ? "/" : "", (int)length,
             file);
    return made;
}

// The <model> asset of that name; a model without a name has that of its file.
static pp_xml *find_model(pp_mjcf *m, const char *name)
{
    for (pp_xml *asset = pp_xml_child(m->root, "asset", NULL); asset;
         asset = pp_xml_child(m->root, "asset", asset)) {
        for (pp_xml *at = pp_xml_child(asset, "model", NULL); at;
             at = pp_xml_child(asset, "model", at)) {
            const char *own = pp_xml_value(at, "name"), *file = pp_xml_value(at, "file");
            pp_xml_value(at, "content_type");
            if ((own && strcmp(own, name) == 0) || (!own && file && strcmp(file, name) == 0)) {
                return at;
            }
        }
    }
    return NULL;
}

static pp_xml *read_root(pp_mjcf *m, pp_xml *model, const char *name)
{
    pp_import_file file;
    pp_xml *root = NULL;
    perp_status status =
        pp_import_read(m->files, *m->folder ? m->folder : NULL, name, model, &file, m->error);
    if (status == PERP_OK && file.missing) {
        pp_mjcf_fail(m, model, "there is no file '%.90s'", name);
        return NULL;
    }
    if (status == PERP_OK) {
        pp_xml_source source = {.file = name, .text = file.text, .size = file.size};
        status = pp_xml_parse(&source, m->arena, &root, m->error);
    }
    m->status = status < 0 ? status : m->status;
    if (m->status == PERP_OK && !pp_xml_is(root, "mujoco")) {
        pp_mjcf_fail(m, root, "a model that is attached must begin with <mujoco>");
    }
    return m->status == PERP_OK ? root : NULL;
}

pp_mjcf *pp_mjcf_attach(pp_mjcf *m, pp_xml *at)
{
    at->seen = true;
    const char *name = pp_xml_value(at, "model"), *prefix = pp_xml_value(at, "prefix");
    pp_xml *model = name ? find_model(m, name) : NULL;
    const char *file = model ? pp_xml_value(model, "file") : NULL;
    if (!file || m->depth >= MODELS_DEEP || ++m->files->models > MODELS_MOST) {
        if (!name || !model) {
            pp_mjcf_fail(m, at, "there is no <model> '%.60s' among the assets", name ? name : "");
        } else if (!file) {
            pp_mjcf_fail(m, model, "needs a file");
        } else {
            pp_mjcf_fail(m, at, "models are attached more than %d levels deep or %d times",
                         MODELS_DEEP, MODELS_MOST);
        }
        return NULL;
    }
    pp_xml *root = read_root(m, model, file);
    pp_mjcf *part = root ? PP_ZEROS(m->arena, pp_mjcf, 1) : NULL;
    if (!part) {
        pp_mjcf_memory(m);
        return NULL;
    }
    *part = (pp_mjcf){.arena = m->arena,
                      .robot = m->robot,
                      .report = m->report,
                      .files = m->files,
                      .error = m->error,
                      .degree = true,
                      .autolimits = true,
                      .eulerseq = "xyz",
                      .from_geom = 2,
                      .group_high = 5,
                      .total_mass = -1.0,
                      .objects = m->objects,
                      .suffix = m->suffix,
                      .folder = folder_of(m, file),
                      .depth = m->depth + 1,
                      .root = root};
    part->prefix = pp_mjcf_full_name(m, prefix ? prefix : "");
    // At the end of the list, so that the order is that of the file.
    if (m->last) {
        m->last->next = part;
    } else {
        m->part = part;
    }
    m->last = part;
    if (m->status == PERP_OK) {
        pp_mjcf_settings(part, root);
        m->status = part->status;
    }
    return m->status == PERP_OK ? part : NULL;
}
