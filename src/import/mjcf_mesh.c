// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Meshes of an MJCF model. Files are read when a shape that collides, or a mass, needs them: meshes that are only
// shown need not exist.
#include "import/mjcf.h"

#include <string.h>

// The name of a file without folders and extension: the name of a mesh that has none.
static const char *stem(pp_mjcf *m, const char *file)
{
    const char *slash = strrchr(file, '/');
    file = slash ? slash + 1 : file;
    const char *dot = strrchr(file, '.');
    size_t length = dot && dot > file ? (size_t)(dot - file) : strlen(file);
    char *name = PP_ARRAY(m->arena, char, length + 1);
    if (!name) {
        pp_mjcf_memory(m);
        return "";
    }
    memcpy(name, file, length);
    name[length] = '\0';
    return name;
}

static void read_mesh(pp_mjcf *m, pp_xml *at)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, "mesh", NULL);
    pp_robot_mesh *mesh = pp_robot_add_mesh(m->robot);
    if (!mesh) {
        pp_mjcf_memory(m);
        return;
    }
    mesh->at = at;
    mesh->file = pp_mjcf_text(&v, "file");
    mesh->name = pp_xml_value(at, "name");
    if (!mesh->file) {
        mesh->loaded = mesh->missing = true;  // vertices in the model itself
        pp_report_add(m->report, PERP_IMPORT_NOT_USED, at, "meshes without a file",
                      "only STL and OBJ files are read");
    }
    if (!mesh->name && !mesh->file) {
        pp_mjcf_fail(m, at, "needs a name or a file");
        return;
    }
    mesh->name = mesh->name ? mesh->name : stem(m, mesh->file);
    mesh->scale = pp_mjcf_vec3(&v, "scale", pp_vec(1.0, 1.0, 1.0));
    mesh->ref_pos = pp_mjcf_vec3(&v, "refpos", pp_vec(0.0, 0.0, 0.0));
    double q[4] = {1.0, 0.0, 0.0, 0.0};
    pp_mjcf_reals(&v, "refquat", 4, 4, q);
    perp_quat quat = {q[0], q[1], q[2], q[3]};
    if (!(pp_quat_norm(quat) > 1e-12)) {
        pp_mjcf_fail(m, at, "refquat has length 0");
        return;
    }
    mesh->ref_quat = pp_quat_unit(quat);
    int rule = pp_mjcf_word(&v, "inertia", "legacy exact convex shell", 0);
    if (rule == 3) {
        pp_report_add(m->report, PERP_IMPORT_ASSUMED, at, "meshes with inertia=\"shell\" are solid",
                      "shells are not supported");
    }
    mesh->rule = rule == 3 ? PP_MESH_EXACT : (pp_mesh_rule)rule;
    bool full = false;
    if (!pp_robot_enter(m->robot, PP_ROBOT_LIST_mesh, mesh->name, m->robot->meshes - 1, &full)) {
        if (full) {
            pp_mjcf_memory(m);
        } else {
            pp_mjcf_fail(m, at, "there are two meshes called '%.60s'; rename one", mesh->name);
        }
    }
}

void pp_mjcf_meshes(pp_mjcf *m, pp_xml *root)
{
    for (pp_xml *asset = pp_xml_child(root, "asset", NULL); asset;
         asset = pp_xml_child(root, "asset", asset)) {
        for (pp_xml *at = pp_xml_child(asset, "mesh", NULL); at;
             at = pp_xml_child(asset, "mesh", at)) {
            if (m->status < 0) {
                return;
            }
            read_mesh(m, at);
        }
    }
}

// Colours of materials; what a texture would add is not shown.
void pp_mjcf_materials(pp_mjcf *m, pp_xml *root)
{
    for (pp_xml *asset = pp_xml_child(root, "asset", NULL); asset;
         asset = pp_xml_child(root, "asset", asset)) {
        for (pp_xml *at = pp_xml_child(asset, "material", NULL); at;
             at = pp_xml_child(asset, "material", at)) {
            pp_mjcf_view v = pp_mjcf_look(m, at, "material", NULL);
            const char *name = pp_xml_value(at, "name");
            double rgba[4] = {1.0, 1.0, 1.0, 1.0};
            bool full = false;
            // The first of a name counts: nothing but colours depends on it.
            if (m->status < 0 || !name ||
                !pp_robot_enter(m->robot, PP_ROBOT_LIST_material, name, m->robot->materials,
                                &full)) {
                if (full) {
                    pp_mjcf_memory(m);
                }
                continue;
            }
            pp_robot_material *material = pp_robot_add_material(m->robot);
            if (!material) {
                pp_mjcf_memory(m);
                return;
            }
            pp_mjcf_reals(&v, "rgba", 4, 4, rgba);
            *material = (pp_robot_material){
                .name = name, .colour = pp_robot_colour(rgba), .opacity = rgba[3], .at = at};
        }
    }
}

void pp_mjcf_mesh_show(pp_mjcf *m, int k)
{
    enum { SHOWN_MOST = 5000000 };  // vertices and triangles read for pictures alone
    pp_robot_mesh *mesh = &m->robot->mesh[k];
    if (mesh->loaded || m->status < 0) {
        return;
    }
    if (m->shown > SHOWN_MOST) {
        pp_report_add(m->report, PERP_IMPORT_NOT_USED, mesh->at,
                      "further meshes that are only shown",
                      "those read so far have enough triangles");
        mesh->loaded = mesh->missing = true;
        return;
    }
    // A mesh that cannot be read is no reason to fail: nothing but the picture depends on it.
    perp_error kept = *m->error;
    pp_mjcf_mesh_load(m, k);
    if (m->status < 0 && m->status != PERP_ERR_MEMORY) {
        m->status = PERP_OK;
        *m->error = kept;
        mesh->missing = true;
    }
    m->shown += (int64_t)mesh->vertices + mesh->triangles;
}

void pp_mjcf_mesh_load(pp_mjcf *m, int k)
{
    pp_robot_mesh *mesh = &m->robot->mesh[k];
    pp_import_file file;
    if (mesh->loaded || m->status < 0) {
        return;
    }
    mesh->loaded = true;
    // Relative to the folder of the main file and <compiler meshdir>.
    const char *name = mesh->file, *slash = strrchr(name, '/');
    name = m->strip_path && slash ? slash + 1 : name;
    perp_status status = pp_import_read(m->files, m->mesh_dir, name, mesh->at, &file, m->error);
    mesh->missing = status == PERP_OK && file.missing;
    if (status == PERP_OK && !mesh->missing) {
        perp_error error = {0};
        status = pp_robot_mesh_parse(mesh, file.text, file.size, m->arena, &error);
        if (status < 0 && status != PERP_ERR_MEMORY) {
            pp_mjcf_fail(m, mesh->at, "'%.80s': %.120s", name, error.text);
        }
        if (status == PERP_ERR_MEMORY) {
            pp_mjcf_memory(m);
        }
    }
    m->status = status < 0 && m->status == PERP_OK ? status : m->status;
    if (!mesh->missing) {
        return;
    }
    if (m->files->options->missing == PERP_IMPORT_MISSING_ERROR) {
        pp_mjcf_fail(m, mesh->at, "there is no file '%.90s'", name);
    }
}
