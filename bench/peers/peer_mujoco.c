// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// MuJoCo 2.2, through its XML in memory.
//
// Settings: default (Newton, pyramidal cone, solref 0.02 s); cg: conjugate gradients; ell: elliptic cone;
// impK: impratio K; hard: solref 2h and solimp 0.99 0.999 1e-4; acc: ell, imp100, hard and tolerance 1e-10;
// noslip: 20 iterations of it; rk4, implicit: integrators; connect: free bodies tied by constraints where
// the default uses MuJoCo's tree of joints; fit: stiffness of a bouncing contact (0.3/h)^2 instead of 1e5.
#include "vector.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mujoco {
    mjModel *model;
    mjData *data;
    int bodies;
} mujoco;

// ── XML ──────────────────────────────────────────────────────────────────────────────────────────

static void put_vec(FILE *f, const char *name, peer_vec a)
{
    fprintf(f, " %s='%.17g %.17g %.17g'", name, a.x, a.y, a.z);
}

// 2.2 reserves njmax^2 doubles and counts them by a 32-bit integer, so njmax must be near what the scene
// needs: three (elliptic) or four (pyramidal) rows a contact.
static void put_sizes(FILE *f, const peer_scene *scene, bool elliptic)
{
    int n = scene->bodies;
    bool spheres = scene->body[0].shape == PEER_SPHERE;
    int contacts = n > 500 ? 2900 : n > 100 ? (spheres ? 1500 : 2300) : n > 33 ? 12 * n : 400;
    int rows = contacts * (elliptic ? 3 : 4) + 3 * scene->joints + 10;
    double stack = n > 400 ? 100e6 : n < 60 && scene->joints == 0 ? 4e6 : 30e6;
    fprintf(f, "<size njmax='%d' nconmax='%d' nstack='%.0f'/>", rows, contacts, stack);
}

static void put_options(FILE *f, const peer_scene *scene, const char *setting, double h)
{
    bool acc = peer_has(setting, "acc"), elliptic = acc || peer_has(setting, "ell");
    bool hard = acc || peer_has(setting, "hard");
    put_sizes(f, scene, elliptic);
    fprintf(f, "<option timestep='%.17g' solver='%s' cone='%s' integrator='%s'", h,
            peer_has(setting, "cg") ? "CG" : "Newton", elliptic ? "elliptic" : "pyramidal",
            peer_has(setting, "rk4")        ? "RK4"
            : peer_has(setting, "implicit") ? "implicit"
                                            : "Euler");
    put_vec(f, "gravity", scene->gravity);
    fprintf(f, " iterations='100' tolerance='%g' noslip_iterations='%d' noslip_tolerance='1e-10'",
            acc ? 1e-10 : 1e-8, peer_has(setting, "noslip") ? 20 : 0);
    fprintf(f, " impratio='%d'/>", peer_number(setting, "imp", acc ? 100 : 1));
    fprintf(f,
            "<compiler autolimits='true' boundmass='0' boundinertia='0'/>"
            "<default><geom condim='3' friction='%.17g 0.005 0.0001'",
            fmax(scene->mu, 1e-5));
    const char *stiff = "solimp='0.99 0.999 0.0001 0.5 2'";
    if (scene->restitution > 0.0) {
        // stiffness k and damping 2 zeta sqrt(k) of a unit mass; zeta = 0.071 gives back 0.8 of the speed
        double root = peer_has(setting, "fit") ? 0.3 / h : sqrt(1e5);
        fprintf(f, " solref='%.17g %.17g'", -root * root, -2.0 * 0.071 * root);
    } else if (hard) {
        fprintf(f, " solref='%.17g 1' %s", 2.0 * h, stiff);
    }
    fprintf(f, "/><equality solref='%.17g 1' %s/></default>", hard ? 2.0 * h : 0.02,
            hard ? stiff : "");
}

static void put_meshes(FILE *f, const peer_scene *scene)
{
    fputs("<asset>", f);
    for (int k = 0; k < scene->bodies && scene->body[0].shape == PEER_HULL; k++) {
        fprintf(f, "<mesh name='m%d' vertex='", k);
        for (int c = 0; c < PEER_CORNERS; c++) {
            peer_vec a = scene->body[k].corner[c];
            fprintf(f, "%.17g %.17g %.17g ", a.x, a.y, a.z);
        }
        fputs("'/>", f);
    }
    fputs("</asset>", f);
}

static void open_body(FILE *f, const peer_body *b, int k, peer_vec at)
{
    fprintf(f, "<body name='b%d'", k);
    put_vec(f, "pos", at);
    peer_quat q = b->start.q;
    fprintf(f, " quat='%.17g %.17g %.17g %.17g'><inertial pos='0 0 0' mass='%.17g'", q.w, q.x, q.y,
            q.z, b->mass);
    put_vec(f, "diaginertia", b->inertia);
    fputs("/>", f);
}

// Joint k carries body k on body k - 1; all bodies are parallel at the start.
static void put_tree(FILE *f, const peer_scene *scene)
{
    peer_vec parent = {0.0, 0.0, 0.0};
    for (int k = 0; k < scene->bodies; k++) {
        const peer_joint *j = &scene->joint[k];
        peer_vec here = scene->body[k].start.p;
        open_body(f, &scene->body[k], k, vec_sub(here, parent));
        fprintf(f, "<joint type='%s'", j->hinge ? "hinge" : "ball");
        put_vec(f, "pos", vec_sub(j->point, here));
        put_vec(f, "axis", j->axis);
        fputs("/>", f);
        parent = here;
    }
    for (int k = 0; k < scene->bodies; k++) {
        fputs("</body>", f);
    }
}

static void put_free(FILE *f, const peer_scene *scene)
{
    for (int k = 0; k < scene->bodies; k++) {
        const peer_body *b = &scene->body[k];
        open_body(f, b, k, b->start.p);
        fputs("<freejoint/>", f);
        if (b->shape == PEER_SPHERE) {
            fprintf(f, "<geom type='sphere' size='%.17g'/>", b->half.x);
        } else if (b->shape == PEER_BOX) {
            fputs("<geom type='box'", f);
            put_vec(f, "size", b->half);
            fputs("/>", f);
        } else if (b->shape == PEER_HULL) {
            fprintf(f, "<geom type='mesh' mesh='m%d'/>", k);
        }
        fputs("</body>", f);
    }
}

static void put_ties(FILE *f, const peer_scene *scene)
{
    fputs("<equality>", f);
    for (int k = 0; k < scene->joints; k++) {
        const peer_joint *j = &scene->joint[k];
        fprintf(f, "<connect body1='b%d'", k);
        if (j->parent >= 0) {
            fprintf(f, " body2='b%d'", j->parent);
        }
        put_vec(f, "anchor", vec_sub(j->point, scene->body[k].start.p));
        fputs("/>", f);
    }
    fputs("</equality>", f);
}

static void put_scene(FILE *f, const peer_scene *scene, const char *setting, double h)
{
    bool tied = peer_has(setting, "connect");
    fputs("<mujoco>", f);
    put_options(f, scene, setting, h);
    put_meshes(f, scene);
    fputs("<worldbody>", f);
    for (int k = 0; k < scene->planes; k++) {
        const peer_plane *p = &scene->plane[k];
        fputs("<geom type='plane' size='0 0 1'", f);
        put_vec(f, "pos", vec_scale(p->offset, p->normal));
        put_vec(f, "zaxis", p->normal);
        fputs("/>", f);
    }
    if (scene->joints > 0 && !tied) {
        put_tree(f, scene);
    } else {
        put_free(f, scene);
    }
    fputs("</worldbody>", f);
    if (scene->joints > 0 && tied) {
        put_ties(f, scene);
    }
    fputs("</mujoco>", f);
}

// ── The engine ───────────────────────────────────────────────────────────────────────────────────

static mjModel *load_model(const char *xml, size_t size, char reason[80])
{
    mjVFS *files = calloc(1, sizeof *files);
    if (!files) {
        return NULL;
    }
    mj_defaultVFS(files);
    mjModel *model = NULL;
    if (mj_makeEmptyFileVFS(files, "scene.xml", (int)size) == 0) {
        memcpy(files->filedata[mj_findFileVFS(files, "scene.xml")], xml, size);
        model = mj_loadXML("scene.xml", files, reason, 80);
    }
    mj_deleteVFS(files);
    free(files);
    return model;
}

// Body k of the scene is body k + 1 of the model, in both the tree and the free form.
static void set_speeds(const mujoco *m, const peer_scene *scene)
{
    for (int k = 0; k < scene->bodies && m->model->body_dofnum[k + 1] == 6; k++) {
        const peer_state *s = &scene->body[k].start;
        peer_vec w = quat_turn_back(s->q, s->w);
        mjtNum speed[6] = {s->v.x, s->v.y, s->v.z, w.x, w.y, w.z};
        memcpy(m->data->qvel + m->model->body_dofadr[k + 1], speed, sizeof speed);
    }
}

static void *mujoco_create(const peer_scene *scene, const char *setting, double h, char reason[80])
{
    char *xml = NULL;
    size_t size = 0;
    mujoco *m = calloc(1, sizeof *m);
    FILE *f = open_memstream(&xml, &size);
    if (!m || !f) {
        free(m);
        return NULL;
    }
    put_scene(f, scene, setting, h);
    fclose(f);
    m->bodies = scene->bodies;
    m->model = load_model(xml, size, reason);
    free(xml);
    m->data = m->model ? mj_makeData(m->model) : NULL;
    if (!m->data) {
        free(m);
        return NULL;
    }
    set_speeds(m, scene);
    return m;
}

static void mujoco_step(void *self)
{
    mujoco *m = self;
    mj_step(m->model, m->data);
}

static void mujoco_read(void *self, peer_state *state)
{
    mujoco *m = self;
    mj_kinematics(m->model, m->data);
    mj_comPos(m->model, m->data);
    mj_comVel(m->model, m->data);
    for (int k = 0; k < m->bodies; k++) {
        const mjtNum *p = m->data->xipos + 3 * (k + 1), *q = m->data->xquat + 4 * (k + 1);
        mjtNum speed[6];
        mj_objectVelocity(m->model, m->data, mjOBJ_XBODY, k + 1, speed, 0);
        state[k] = (peer_state){{p[0], p[1], p[2]},
                                {q[0], q[1], q[2], q[3]},
                                {speed[3], speed[4], speed[5]},
                                {speed[0], speed[1], speed[2]}};
    }
}

static int mujoco_contacts(void *self)
{
    return ((mujoco *)self)->data->ncon;
}

// The scaled gradient of the convex cost after the last iteration.
static double mujoco_residual(void *self)
{
    const mujoco *m = self;
    int n = m->data->solver_iter;
    return n > 0 && n <= mjNSOLVER ? m->data->solver[n - 1].gradient : 0.0;
}

static void mujoco_destroy(void *self)
{
    mujoco *m = self;
    mj_deleteData(m->data);
    mj_deleteModel(m->model);
    free(m);
}

const peer_engine peer_module = {
    .name = "mujoco",
    .version = PEER_VERSION,
    .create = mujoco_create,
    .step = mujoco_step,
    .read = mujoco_read,
    .contacts = mujoco_contacts,
    .residual = mujoco_residual,
    .destroy = mujoco_destroy,
};
