// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Readers of STL, in text and binary, and of OBJ: points and triangles only.
//
// Text is read twice, first to count and then to fill arrays of that size. STL as text has nothing
// but triangles, with three corners of their own:
//
//   solid name
//   facet normal x y z  outer loop  vertex x y z  vertex x y z  vertex x y z  endloop  endfacet
//   endsolid name
//
// Binary STL has a header of 80 bytes, the number of triangles as 32 bits, and 50 bytes for each:
// normal and three corners as 32-bit floats, and 16 bits that are not used; all little-endian. A
// file is binary STL if its length agrees with the number of triangles, whatever it begins with:
// some binary files begin with "solid" as text files do.
//
// OBJ has lines "v x y z" and "f a b c ...", faces with the numbers of their vertices, and many
// other statements, which are skipped.
#include "format/format.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

// MOST bounds vertices and triangles so that their products with small numbers fit into an int.
enum { STL_HEADER = 80, STL_START = 84, STL_TRIANGLE = 50, MOST = INT32_MAX / 16 };

typedef struct mesh_reader {
    pp_scan scan;
    pp_arena *arena;
    pp_mesh_file *out;
    perp_vec3 *vertex;  // NULL: counting
    int *triangle;
    int vertices, triangles;  // so far
} mesh_reader;

// Allocates arrays of the sizes that were counted, and starts to count again from 0.
static perp_status get_arrays(mesh_reader *r)
{
    if (r->triangles < 1) {
        return pp_scan_fail(&r->scan, NULL, "the file has no triangles");
    }
    r->vertex = PP_ARRAY(r->arena, perp_vec3, r->vertices);
    r->triangle = PP_ARRAY(r->arena, int, 3 * (size_t)r->triangles);
    if (!r->vertex || !r->triangle) {
        return pp_fail(r->scan.error, PERP_ERR_MEMORY,
                       "not enough memory for the triangles of the file");
    }
    *r->out = (pp_mesh_file){.vertices = r->vertices,
                             .triangles = r->triangles,
                             .vertex = r->vertex,
                             .triangle = r->triangle};
    r->vertices = 0;
    r->triangles = 0;
    return PERP_OK;
}

// One vertex; in the counting pass its numbers are left to the caller.
static perp_status add_vertex(mesh_reader *r, pp_scan *scan)
{
    if (r->vertices >= MOST) {
        return pp_scan_fail(scan, scan->token, "more than %d vertices", MOST);
    }
    if (!r->vertex) {
        r->vertices++;
        return PERP_OK;
    }
    double x[3];
    for (int k = 0; k < 3; k++) {
        perp_status status = pp_scan_real(scan, "a vertex", k, 3, false, &x[k]);
        if (status != PERP_OK) {
            return status;
        }
    }
    r->vertex[r->vertices] = (perp_vec3){x[0], x[1], x[2]};
    r->vertices++;
    return PERP_OK;
}

// Stored in the second pass only. OBJ triangles may refer to any vertex of the file.
static perp_status add_triangle(mesh_reader *r, const pp_scan *scan, int a, int b, int c)
{
    if (r->triangles >= MOST) {
        return pp_scan_fail(scan, scan->token, "more than %d triangles", MOST);
    }
    if (r->triangle) {
        int *to = r->triangle + 3 * (size_t)r->triangles;
        to[0] = a;
        to[1] = b;
        to[2] = c;
    }
    r->triangles++;
    return PERP_OK;
}

// ── STL in binary ────────────────────────────────────────────────────────────────────────────────

// Little-endian on any machine.
static uint32_t word_at(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

// The bits of an IEEE 754 float, which C's float is on every machine that perp builds for.
double pp_float_at(const char *at)
{
    uint32_t bits = word_at(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

// The quotient is compared first: a product could overflow.
static bool is_binary(const char *text, size_t size)
{
    return size >= STL_START && (size - STL_START) / STL_TRIANGLE == word_at(text + STL_HEADER) &&
           (size - STL_START) % STL_TRIANGLE == 0;
}

// Every triangle has three vertices of its own.
static perp_status read_binary(mesh_reader *r, const char *text, size_t size)
{
    perp_error *error = r->scan.error;
    size_t n = (size - STL_START) / STL_TRIANGLE;
    if (n < 1 || n > MOST / 3) {
        return pp_fail(error, PERP_ERR_FORMAT, "binary STL with %zu triangles: count out of range",
                       n);
    }
    r->triangles = (int)n;
    r->vertices = 3 * r->triangles;
    perp_status status = get_arrays(r);
    if (status != PERP_OK) {
        return status;
    }
    for (size_t t = 0; t < n; t++) {
        const char *at = text + STL_START + t * STL_TRIANGLE + 12;  // after the normal
        for (size_t k = 3 * t; k < 3 * t + 3; k++, at += 12) {
            r->vertex[k] = (perp_vec3){pp_float_at(at), pp_float_at(at + 4), pp_float_at(at + 8)};
            r->triangle[k] = (int)k;
            if (!isfinite(r->vertex[k].x + r->vertex[k].y + r->vertex[k].z)) {
                return pp_fail(error, PERP_ERR_FORMAT,
                               "byte %zu: triangle %zu of binary STL has a non-finite vertex",
                               (size_t)(at - text), t);
            }
        }
    }
    r->out->single = true;
    return PERP_OK;
}

// ── STL in text ──────────────────────────────────────────────────────────────────────────────────

// Whether the last token is this lower-case word, in any case: some programs write STL in capitals.
static bool is_word(const pp_scan *scan, const char *word)
{
    if (strlen(word) != scan->length) {
        return false;
    }
    for (size_t k = 0; k < scan->length; k++) {
        char c = scan->token[k];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (c != word[k]) {
            return false;
        }
    }
    return true;
}

// The next token must be the word.
static perp_status expect(pp_scan *scan, const char *word)
{
    if (!pp_scan_next(scan)) {
        return pp_scan_fail(scan, NULL, "STL: the file ends where '%s' is expected", word);
    }
    if (is_word(scan, word)) {
        return PERP_OK;
    }
    pp_quote quote = pp_scan_quote(scan);
    return pp_scan_fail(scan, scan->token, "STL: found '%s' where '%s' is expected", quote.text,
                        word);
}

// A facet, after its first word. The normal is skipped: it follows from the corners.
static perp_status read_facet(mesh_reader *r)
{
    pp_scan *scan = &r->scan;
    perp_status status = expect(scan, "normal");
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < 3; k++) {
        if (!pp_scan_next(scan)) {
            return pp_scan_fail(scan, NULL, "STL: the file ends within a normal");
        }
    }
    static const char *const words[] = {"outer",  "loop",    "vertex",  "vertex",
                                        "vertex", "endloop", "endfacet"};
    for (int k = 0; k < 7; k++) {
        status = expect(scan, words[k]);
        if (status == PERP_OK && k >= 2 && k <= 4) {
            status = add_vertex(r, scan);
            if (!r->vertex) {  // counting: the three numbers are skipped
                for (int i = 0; i < 3; i++) {
                    pp_scan_next(scan);
                }
            }
        }
        if (status != PERP_OK) {
            return status;
        }
    }
    int n = r->vertices;
    return add_triangle(r, scan, n - 3, n - 2, n - 1);
}

// One solid after another; a file may have several, which become one mesh.
static perp_status read_solids(mesh_reader *r)
{
    pp_scan *scan = &r->scan;
    perp_status status = PERP_OK;
    bool inside = false;
    while (status == PERP_OK && pp_scan_next(scan)) {
        const char *word = inside ? "endsolid" : "solid";
        if (inside && is_word(scan, "facet")) {
            status = read_facet(r);
        } else if (is_word(scan, word)) {
            inside = !inside;
            pp_scan_skip_line(scan);  // the name
        } else {
            pp_quote quote = pp_scan_quote(scan);
            status = pp_scan_fail(scan, scan->token, "STL: found '%s' where '%s%s' is expected",
                                  quote.text, inside ? "facet' or '" : "", word);
        }
    }
    if (status == PERP_OK && inside) {
        status = pp_scan_fail(scan, NULL, "STL: the file ends before 'endsolid'");
    }
    return status;
}

// ── OBJ ──────────────────────────────────────────────────────────────────────────────────────────

// One corner of a face: "7", "7/1", "7//3" or "7/1/3", of which only the vertex counts. Numbers are
// from 1; negative ones count back from the last vertex so far.
static perp_status read_corner(const mesh_reader *r, const pp_scan *scan, int *corner)
{
    const char *slash = memchr(scan->token, '/', scan->length);
    size_t length = slash ? (size_t)(slash - scan->token) : scan->length;
    int index;
    if (!pp_number_parse_int(scan->token, length, -MOST, MOST, &index)) {
        pp_quote quote = pp_scan_quote(scan);
        return pp_scan_fail(scan, scan->token, "OBJ: '%s' is not a vertex number", quote.text);
    }
    *corner = index < 0 ? r->vertices + index : index - 1;
    // Vertices may follow their faces, so that the number of vertices is known in the second pass
    // only.
    if (r->triangle && (index == 0 || *corner < 0 || *corner >= r->out->vertices)) {
        return pp_scan_fail(scan, scan->token,
                            "OBJ: vertex %d does not exist; the file has %d vertices so far", index,
                            r->out->vertices);
    }
    return PERP_OK;
}

// The last two triangles, (a, b, c) and (a, c, d), are a quadrilateral: it is cut along its shorter diagonal, as
// other readers do, where its vertices are known.
static void cut_shorter(mesh_reader *r)
{
    int *t = r->triangle ? r->triangle + 3 * (size_t)(r->triangles - 2) : NULL;
    if (!t || t[0] >= r->vertices || t[1] >= r->vertices || t[2] >= r->vertices ||
        t[5] >= r->vertices) {
        return;
    }
    const perp_vec3 *a = &r->vertex[t[0]], *b = &r->vertex[t[1]], *c = &r->vertex[t[2]];
    const perp_vec3 *d = &r->vertex[t[5]];
    double ac = pp_hypot(pp_hypot(c->x - a->x, c->y - a->y), c->z - a->z);
    double bd = pp_hypot(pp_hypot(d->x - b->x, d->y - b->y), d->z - b->z);
    if (bd < ac) {
        const int cut[6] = {t[0], t[1], t[5], t[1], t[2], t[5]};
        memcpy(t, cut, sizeof cut);
    }
}

// A polygon becomes a fan of triangles around its first corner.
static perp_status read_face(mesh_reader *r, pp_scan *line)
{
    int first = 0, before = 0, corner = 0, count = 0;
    perp_status status = PERP_OK;
    while (status == PERP_OK && pp_scan_next(line)) {
        status = read_corner(r, line, &corner);
        first = count == 0 ? corner : first;
        if (status == PERP_OK && count >= 2) {
            status = add_triangle(r, line, first, before, corner);
        }
        before = corner;
        count++;
    }
    if (status == PERP_OK && count < 3) {
        return pp_scan_fail(line, line->token, "OBJ: a face has %d corners", count);
    }
    if (status == PERP_OK && count == 4) {
        cut_shorter(r);
    }
    return status;
}

// Statements of OBJ without points or triangles. Free-form curves and surfaces are not among them:
// a file that has them is refused.
static bool is_ignored(const pp_scan *line)
{
    static const char *const words[] = {"vn",     "vt",     "vp",       "g",          "o",
                                        "s",      "mg",     "l",        "p",          "usemtl",
                                        "mtllib", "usemap", "maplib",   "shadow_obj", "trace_obj",
                                        "lod",    "bevel",  "c_interp", "d_interp"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (pp_scan_is(line, words[k])) {
            return true;
        }
    }
    return line->token[0] == '#';
}

// v and f are read; comments and statements of other things are skipped; the rest is an error, so
// that a file that is no OBJ is not read as an empty one.
static perp_status read_line(mesh_reader *r, pp_scan *line)
{
    if (!pp_scan_next(line) || is_ignored(line)) {
        return PERP_OK;
    }
    if (pp_scan_is(line, "v")) {
        return add_vertex(r, line);
    }
    if (pp_scan_is(line, "f")) {
        return read_face(r, line);
    }
    pp_quote quote = pp_scan_quote(line);
    return pp_scan_fail(line, line->token, "'%s' is not an OBJ keyword, and the file is not STL",
                        quote.text);
}

// OBJ is read line by line: a face ends with its line.
static perp_status read_lines(mesh_reader *r)
{
    pp_scan *scan = &r->scan;
    perp_status status = PERP_OK;
    while (status == PERP_OK && pp_scan_left(scan) > 0) {
        pp_scan line = *scan;
        pp_scan_skip_line(scan);
        line.end = scan->at;
        status = read_line(r, &line);
    }
    return status;
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

perp_status pp_mesh_file_parse(const char *text, size_t size, pp_arena *arena, pp_mesh_file *out,
                               perp_error *error)
{
    mesh_reader r = {.arena = arena, .out = out};
    *out = (pp_mesh_file){0};
    r.scan = pp_scan_start(text, size, error);
    if (is_binary(text, size)) {
        return read_binary(&r, text, size);
    }
    if (memchr(text, 0, size)) {
        return pp_fail(
            error, PERP_ERR_FORMAT,
            "neither text nor binary STL: the length does not match the number of triangles");
    }
    bool stl = pp_scan_next(&r.scan) && is_word(&r.scan, "solid");
    perp_status status = PERP_OK;
    // Counting, then filling.
    for (int pass = 0; pass < 2; pass++) {
        r.scan = pp_scan_start(text, size, error);
        status = stl ? read_solids(&r) : read_lines(&r);
        if (status == PERP_OK && pass == 0) {
            status = get_arrays(&r);
        }
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// The place in this file goes into the text of the message: line and column of the error are those
// of the scene that names the file.
perp_status pp_mesh_file_named(const char *name, const char *text, size_t size, bool quotes,
                               pp_arena *arena, pp_mesh_file *out, perp_error *error)
{
    perp_error why = {0};
    perp_status status = pp_mesh_file_parse(text ? text : "", size, arena, out, &why);
    if (status == PERP_OK || status == PERP_ERR_MEMORY) {
        return status;
    }
    char place[48] = "";
    if (why.line > 0) {
        pp_print(place, sizeof place, ", line %d, column %d", why.line, why.column);
    }
    return pp_fail(error, status, "'%.90s'%s: %s", name, place,
                   quotes ? why.text : "is not a valid STL or OBJ file");
}
