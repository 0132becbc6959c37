// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of the extension module perp._perp share.
//
// The module uses the stable ABI of CPython 3.11 and no headers of numpy: arrays come and go by the buffer protocol. All
// of its state belongs to the module object. The package perp, in Python, gives these types their public form.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <perp/io.h>

#include <stdatomic.h>

// Types and exceptions of one module object.
typedef struct bind_state {
    PyObject *error;         // perp.Error, the base of all others
    PyObject *scene_error;   // a scene cannot be read: file, line, column
    PyObject *step_error;    // a step found no solution
    PyObject *solve_error;   // a problem has no solution, or none was found
    PyObject *record_error;  // a recording cannot be written or read
    PyObject *value_error;   // perp.ArgumentError, also a ValueError
    PyObject *busy_error;    // perp.BusyError: another thread uses the sim
    PyTypeObject *scene_type, *buffer_type, *sim_type, *recording_type, *pool_type;
} bind_state;

bind_state *bind_module_state(PyObject *module);
// The state of the module that defines a type or the nearest of its bases; NULL with an exception.
bind_state *bind_type_state(PyTypeObject *type);

// ── Exceptions ───────────────────────────────────────────────────────────────────────────────────

// Raise the exception with the text of an error of the library, and return NULL. `status` is its word.
PyObject *bind_raise(PyObject *type, perp_status status, const char *text);
// The same with the file, line and column, in the form of the command: "file:line:column: text".
PyObject *bind_raise_at(PyObject *type, const char *file, const perp_error *error);
// The exception that fits a status: ArgumentError, MemoryError, or `other`.
PyObject *bind_fail(const bind_state *state, PyObject *other, const perp_error *error);

// ── Arrays ───────────────────────────────────────────────────────────────────────────────────────

// A contiguous array of doubles, 32-bit integers or bytes, borrowed until bind_array_release. NULL objects and None give
// an array without data.
typedef struct bind_array {
    Py_buffer view;
    void *data;        // NULL: none
    Py_ssize_t count;  // items
} bind_array;

// type: 'd', 'i' or 'b' (bytes). count: negative: any. writable: the array receives results. False with an exception
// that names the array.
bool bind_array_get(PyObject *object, const char *name, char type, Py_ssize_t count, bool writable,
                    bind_array *out);
void bind_array_release(bind_array *array);

// Memory that numpy shows. It is filled anew for a later state only while nobody looks at it, so that an array keeps the
// values it was made with.
typedef struct bind_buffer {
    PyObject_HEAD void *data;
    Py_ssize_t size, room;  // bytes
    int exports;
    uint64_t serial;  // of its contents: number of changes of the sim
} bind_buffer;

// A buffer of `size` bytes for new contents: *kept, if nobody looks at it, or else a new one in its place. NULL with an
// exception.
bind_buffer *bind_buffer_renew(const bind_state *state, PyObject **kept, size_t size);

// ── Services of the library ──────────────────────────────────────────────────────────────────────

typedef struct bind_team bind_team;

// Host of long calls: ends them when the user presses Ctrl-C or a callback raised an exception, and has the threads.
typedef struct bind_host {
    struct bind_host *chief;  // where it is not NULL, this one is asked: that of the whole call
    PyThreadState *
        saved;  // of the thread that made the call, while it does not hold the lock of the interpreter
    unsigned long thread;  // that thread
    atomic_bool stop;      // the call has to end: an exception is pending
    atomic_uint asked;
    atomic_llong next;          // when to look for signals again [ms]
    bind_team *team;            // NULL: no threads yet
    atomic_llong *allocations;  // counted where it is not NULL
} bind_host;

// Services for a call that is under way between bind_host_leave and bind_host_return.
perp_env bind_host_env(bind_host *host);
// Releases the lock of the interpreter.
void bind_host_leave(bind_host *host);
// Takes it again.
void bind_host_return(bind_host *host);
// Looks for signals now and then; true: the call has to end.
bool bind_host_stop(void *user);
void bind_host_clear(bind_host *host);

// Threads that wait for work. They belong to one process: a child made by fork starts its own.
void bind_team_run(bind_team **at, int count, void (*task)(void *arg, int i), void *arg);
void bind_team_destroy(bind_team *team);

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

typedef struct bind_scene {
    PyObject_HEAD bind_state *state;
    perp_scene *scene;
} bind_scene;

extern PyType_Spec bind_scene_spec, bind_buffer_spec, bind_sim_spec, bind_recording_spec,
    bind_pool_spec;

PyObject *bind_scene_load(PyObject *module, PyObject *args);
PyObject *bind_scene_parse(PyObject *module, PyObject *args);
PyObject *bind_scene_generate(PyObject *module, PyObject *args);

// Settings of a sim: those of the scene, changed by a dictionary with the words of scene files. The dictionary must
// outlive the definition. False with an exception.
bool bind_settings(const bind_state *state, const perp_scene *scene, PyObject *settings,
                   perp_sim_def *def);

// ── Sims ─────────────────────────────────────────────────────────────────────────────────────────

// What a user does to a sim between steps. Each is performed by the same function the first time and when the run is
// repeated for a recording.
typedef enum bind_action_kind {
    BIND_STEP,      // `count` steps of value[0]
    BIND_INPUT,     // input a: value[0]
    BIND_RELEASE,   // input a
    BIND_WRENCH,    // body a: force, torque
    BIND_FORCE_AT,  // body a: force, point
    BIND_EFFORT,    // joint a: value[0]
    BIND_GRAVITY,   // value[0..2]
    BIND_FRICTION,  // shape a: mu, mu_spin, mu_roll
    BIND_PAIR,      // shapes a, b: mu, mu_2, mu_spin, mu_roll
    BIND_GAINS,     // actuator a: gain, bias[3]
    BIND_LIMITS,    // actuator a: lower, upper
    BIND_RATE,      // joint a: rate, effort
    BIND_MOTION,    // body a: pose (7), twist (6); b: bit 0: with pose, bit 1: with twist
    BIND_TARGET,    // joint a: position, rate
    BIND_ACTIONS,
} bind_action_kind;

enum { BIND_VALUES = 13 };

typedef struct bind_action {
    int32_t kind, a, b;
    int64_t count;
    double value[BIND_VALUES];
} bind_action;

perp_status bind_perform(perp_sim *sim, const bind_action *x);
int bind_action_values(int kind);

// The actions since the sim was made, or since a state was set, for a recording that begins there.
typedef struct bind_history {
    char *bytes;              // actions, with as many values as they have
    size_t size, room, last;  // last: where the last action begins
    size_t
        mark;  // where the step under way began: what a callback adds is taken back when the step fails
    size_t mark_last;
    void *start;  // saved state; NULL: the initial state
    size_t start_size;
    bool lost;  // it became too large
} bind_history;

void bind_history_add(bind_history *h, const bind_action *x);
void bind_history_restart(bind_history *history, void *start, size_t size);
void bind_history_clear(bind_history *history);
// Repeats all of it on another sim; each: called after every step.
perp_status bind_history_repeat(const bind_history *history, perp_sim *sim, bind_host *host,
                                perp_status (*each)(void *user, perp_sim *sim), void *user);

typedef struct bind_sim {
    PyObject_HEAD bind_state *state;
    bind_scene *scene;
    PyObject *settings;  // a dictionary
    PyObject *on_control;
    perp_sim *sim;
    perp_sim_def def;
    double h;
    uint64_t serial;   // number of changes of its state
    atomic_bool busy;  // a call is under way
    bool calling;      // on_control is under way, in the thread of host
    long pid;          // of the process in which it is busy
    bind_host host;
    bind_history history;
    PyObject *q, *v, *tree_q, *tree_v, *contacts;  // buffers
    perp_record *record;
    int64_t steps;
} bind_sim;

// Begin and end of a call; false with an exception if another thread uses the sim. In a callback of the sim's own step
// calls nest, except where `alone` is set.
bool bind_sim_enter(bind_sim *self, bool alone);
void bind_sim_leave(bind_sim *self);

// Parts of the table of methods, by file.
PyObject *bind_sim_act(PyObject *object, PyObject *args);
PyObject *bind_sim_body(PyObject *object, PyObject *args);
PyObject *bind_sim_joint(PyObject *object, PyObject *args);
PyObject *bind_sim_actuator(PyObject *object, PyObject *args);
PyObject *bind_sim_sensor(PyObject *object, PyObject *args);
PyObject *bind_sim_site(PyObject *object, PyObject *args);
PyObject *bind_sim_rays(PyObject *object, PyObject *args);
PyObject *bind_sim_distance(PyObject *object, PyObject *args);
PyObject *bind_sim_jacobian(PyObject *object, PyObject *args);
PyObject *bind_sim_inverse_dynamics(PyObject *object, PyObject *args);
PyObject *bind_sim_pair_friction(PyObject *object, PyObject *args);
PyObject *bind_sim_contact_forces(PyObject *object, PyObject *unused);
PyObject *bind_sim_events(PyObject *object, PyObject *unused);
PyObject *bind_sim_record(PyObject *object, PyObject *args);
PyObject *bind_sim_record_finish(PyObject *object, PyObject *unused);
PyObject *bind_sim_render(PyObject *object, PyObject *args);

// ── Functions ────────────────────────────────────────────────────────────────────────────────────

PyObject *bind_replay(PyObject *module, PyObject *args);
PyObject *bind_solve_mcp(PyObject *module, PyObject *args);
PyObject *bind_solve_contact(PyObject *module, PyObject *args);
PyObject *bind_layouts(PyObject *module, PyObject *unused);

PyObject *bind_vector(perp_vec3 v);
PyObject *bind_pose(const perp_pose *pose);
PyObject *bind_certificate(const perp_certificate *c);
