// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Meshes of an MJCF model. Files are read when a shape that collides, or a mass, needs them: meshes that are only
// shown need not exist.
#include "import/mjcf.h"

#include "format/format.h"

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

// The folder of meshes: that of the model and <compiler meshdir>.
static const char *asset_folder(pp_mjcf *m)
{
    const char *own = m->mesh_dir ? m->mesh_dir : "";
    bool both = *m->folder && *own && own[0] != '/';
    if (!both) {
        return *own ? own : m->folder;
    }
    size_t room = strlen(m->folder) + strlen(own) + 2;
    char *made = PP_ARRAY(m->arena, char, room);
    if (!made) {
        pp_mjcf_memory(m);
        return "";
    }
    pp_print(made, room, "%s/%s", m->folder, own);
    return made;
}

// ── Meshes in the text of the model ──────────────────────────────────────────────────────────────

static int count_words(const char *text)
{
    static const char blanks[] = " \t\r\n";
    int count = 0;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        text += strcspn(text, blanks);
        count++;
    }
    return count;
}

// The numbers of an attribute, three for each of *count points or triangles; NULL: none, or a failure.
static const double *read_triples(pp_mjcf *m, const pp_mjcf_view *v, const char *name, int *count)
{
    const char *text = pp_mjcf_text(v, name);
    int numbers = text ? count_words(text) : 0;
    *count = numbers / 3;
    if (numbers == 0) {
        return NULL;
    }
    double *x = PP_ARRAY(m->arena, double, numbers);
    if (!x) {
        pp_mjcf_memory(m);
        return NULL;
    }
    if (numbers % 3 != 0 || pp_xml_numbers(text, x, numbers) != numbers) {
        pp_mjcf_fail(m, v->at, "%s must be finite numbers, three for each %s", name,
                     strcmp(name, "face") == 0 ? "triangle" : "point");
        return NULL;
    }
    return x;
}

// Numbers of vertices; they come from the file.
static void read_faces(pp_mjcf *m, const pp_mjcf_view *v, pp_robot_mesh *mesh)
{
    const double *x = read_triples(m, v, "face", &mesh->triangles);
    int *triangle = x ? PP_ARRAY(m->arena, int, 3 * (size_t)mesh->triangles) : NULL;
    if (x && !triangle) {
        pp_mjcf_memory(m);
    }
    if (!triangle) {
        mesh->triangles = 0;
        return;
    }
    for (int k = 0; k < 3 * mesh->triangles; k++) {
        bool valid = x[k] >= 0.0 && x[k] < mesh->vertices && x[k] == (double)(int)x[k];
        if (!valid) {
            pp_mjcf_fail(m, v->at,
                         "face: triangle %d has %.9g for a vertex; there are the vertices 0 to %d",
                         k / 3, x[k], mesh->vertices - 1);
            return;
        }
        triangle[k] = (int)x[k];
    }
    mesh->triangle = triangle;
}

// Vertices and triangles; without triangles those of the convex hull, as in MuJoCo.
static void read_inline(pp_mjcf *m, const pp_mjcf_view *v, pp_robot_mesh *mesh)
{
    const double *x = read_triples(m, v, "vertex", &mesh->vertices);
    if (m->status < 0 || mesh->vertices < 4) {
        pp_mjcf_fail(m, mesh->at, "needs a file, or at least 4 points as vertex");
        return;
    }
    mesh->vertex = PP_ARRAY(m->arena, perp_vec3, mesh->vertices);
    if (!mesh->vertex) {
        pp_mjcf_memory(m);
        return;
    }
    for (int k = 0; k < mesh->vertices; k++) {
        mesh->vertex[k] = pp_vec(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    }
    read_faces(m, v, mesh);
    if (m->status == PERP_OK && !pp_robot_mesh_place(mesh)) {
        pp_mjcf_fail(m, mesh->at, "vertex: after scaling a point is not finite");
    }
    if (m->status < 0 || mesh->triangles > 0) {
        return;
    }
    // As with files, the hull is that of the vertices after rounding and scaling.
    perp_error error = {0};
    perp_status status = pp_robot_mesh_close(mesh, m->arena, &error);
    if (status == PERP_ERR_MEMORY) {
        pp_mjcf_memory(m);
    } else if (status < 0) {
        pp_mjcf_fail(m, mesh->at, "the points have no convex hull: %.120s", error.text);
    }
}

// A mesh that MuJoCo makes itself is left out; a mass that depends on it is an error.
static void note_builtin(pp_mjcf *m, const pp_mjcf_view *v, pp_robot_mesh *mesh)
{
    pp_mjcf_text(v, "params");
    mesh->loaded = mesh->missing = true;
    pp_report_add(m->report, PERP_IMPORT_NOT_USED, mesh->at, "<mesh builtin>",
                  "meshes that MuJoCo makes itself are not made here");
}

// ── Meshes ───────────────────────────────────────────────────────────────────────────────────────

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
    if (!mesh->name && !mesh->file) {
        pp_mjcf_fail(m, at, "needs a name or a file");
        return;
    }
    mesh->name = pp_mjcf_full_name(m, mesh->name ? mesh->name : stem(m, mesh->file));
    mesh->folder = asset_folder(m);
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
    // In the order of pp_mesh_rule.
    mesh->rule = (pp_mesh_rule)pp_mjcf_word(&v, "inertia", "legacy exact convex shell", 0);
    const char *builtin = mesh->file ? NULL : pp_mjcf_text(&v, "builtin");
    if (builtin && strcmp(builtin, "none") != 0) {
        note_builtin(m, &v, mesh);
    } else if (!mesh->file && m->status == PERP_OK) {
        mesh->loaded = true;
        read_inline(m, &v, mesh);
    }
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
    perp_status status = pp_import_read(m->files, *mesh->folder ? mesh->folder : NULL, name,
                                        mesh->at, &file, m->error);
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

// ── Height fields ────────────────────────────────────────────────────────────────────────────────

enum { HEIGHTS_MOST = 4000 * 1000 };

// MuJoCo's own format: two integers and heights, all of 4 bytes with the least significant first.
static bool parse_heights(pp_robot_hfield *field, const char *text, size_t size, double *height)
{
    int32_t count[2];
    if (size < sizeof count) {
        return false;
    }
    memcpy(count, text, sizeof count);
    bool fits = count[0] > 0 && count[1] > 0 && count[0] <= HEIGHTS_MOST / count[1] &&
                size == sizeof count + 4 * (size_t)count[0] * (size_t)count[1];
    if (!fits || !height) {
        field->rows = fits ? count[0] : 0;
        field->columns = fits ? count[1] : 0;
        return fits;
    }
    for (int k = 0; k < count[0] * count[1]; k++) {
        height[k] = pp_float_at(text + sizeof count + 4 * (size_t)k);
    }
    return true;
}

// Heights become 0 to 1; false: one is not finite.
static bool normalise(double *height, int count)
{
    double low = PP_INF, high = -PP_INF;
    for (int k = 0; k < count; k++) {
        if (!(height[k] > -1e30 && height[k] < 1e30)) {
            return false;
        }
        low = height[k] < low ? height[k] : low;
        high = height[k] > high ? height[k] : high;
    }
    for (int k = 0; k < count; k++) {
        height[k] = high > low ? (height[k] - low) / (high - low) : 0.0;
    }
    return true;
}

// Reads the heights from the file of the field; image files are left out, and reported where a shape needs them.
static void load_heights(pp_mjcf *m, pp_robot_hfield *field, const char *name)
{
    pp_import_file file;
    const char *folder = asset_folder(m);
    perp_status status =
        pp_import_read(m->files, *folder ? folder : NULL, name, field->at, &file, m->error);
    m->status = status < 0 ? status : m->status;
    if (m->status < 0 || file.missing || !parse_heights(field, file.text, file.size, NULL)) {
        return;
    }
    field->height = PP_ZEROS(m->arena, double, (size_t)field->rows *(size_t)field->columns);
    if (!field->height) {
        pp_mjcf_memory(m);
        return;
    }
    parse_heights(field, file.text, file.size, field->height);
}

static void flip_rows(pp_robot_hfield *field)
{
    for (int r = 0; r < field->rows / 2; r++) {
        for (int c = 0; c < field->columns; c++) {
            double *a = &field->height[r * field->columns + c];
            double *b = &field->height[(field->rows - 1 - r) * field->columns + c];
            double x = *a;
            *a = *b;
            *b = x;
        }
    }
}

static void read_hfield(pp_mjcf *m, pp_xml *at)
{
    pp_mjcf_view v = pp_mjcf_look(m, at, NULL, NULL);
    pp_robot_hfield *field = pp_robot_add_hfield(m->robot);
    if (!field) {
        pp_mjcf_memory(m);
        return;
    }
    *field = (pp_robot_hfield){.at = at};
    const char *file = pp_mjcf_text(&v, "file"), *name = pp_xml_value(at, "name");
    pp_xml_value(at, "content_type");
    const char *heights = pp_mjcf_text(&v, "elevation");
    field->rows = pp_mjcf_int(&v, "nrow", 0, HEIGHTS_MOST, 0);
    field->columns = pp_mjcf_int(&v, "ncol", 0, HEIGHTS_MOST, 0);
    if (pp_mjcf_reals(&v, "size", 4, 4, field->size) == 0) {
        pp_mjcf_fail(m, at, "needs a size of 4 numbers");
    }
    for (int k = 0; k < 4; k++) {
        if (!(field->size[k] > 0.0)) {
            pp_mjcf_fail(m, at, "sizes must be > 0");
        }
    }
    if (!name && !file) {
        pp_mjcf_fail(m, at, "needs a name or a file");
        return;
    }
    field->name = pp_mjcf_full_name(m, name ? name : stem(m, file));
    bool full = false;
    if (!pp_robot_enter(m->robot, PP_ROBOT_LIST_hfield, field->name, m->robot->hfields - 1,
                        &full)) {
        pp_mjcf_fail(m, at, "there are two height fields called '%.60s'; rename one", field->name);
    }
    if (file && m->status == PERP_OK) {
        load_heights(m, field, file);
    } else if (m->status == PERP_OK) {
        bool fits =
            field->rows >= 2 && field->columns >= 2 && field->rows <= HEIGHTS_MOST / field->columns;
        int count = fits ? field->rows * field->columns : 0;
        field->height = fits ? PP_ZEROS(m->arena, double, count) : NULL;
        if (!fits) {
            pp_mjcf_fail(m, at,
                         "nrow and ncol must be 2 or more, and not more than %d heights in all",
                         HEIGHTS_MOST);
        } else if (!field->height) {
            pp_mjcf_memory(m);
        } else if (heights && pp_xml_numbers(heights, field->height, count) != count) {
            pp_mjcf_fail(m, at, "elevation must have %d numbers", count);
        }
        // Rows of the text run from +y to -y.
        if (heights && m->status == PERP_OK) {
            flip_rows(field);
        }
    }
    int count = field->rows * field->columns;
    if (m->status == PERP_OK && field->height && !normalise(field->height, count)) {
        pp_mjcf_fail(m, at, "heights must be finite");
    }
}

void pp_mjcf_hfields(pp_mjcf *m, pp_xml *root)
{
    for (pp_xml *asset = pp_xml_child(root, "asset", NULL); asset;
         asset = pp_xml_child(root, "asset", asset)) {
        for (pp_xml *at = pp_xml_child(asset, "hfield", NULL); at;
             at = pp_xml_child(asset, "hfield", at)) {
            if (m->status < 0) {
                return;
            }
            read_hfield(m, at);
        }
    }
}
