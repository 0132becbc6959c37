// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp run: simulates a scene and records the run.
#include "cli.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct run_options {
    const char *file, *dir, *solver, *keyframe;
    double until, step, tolerance, max_seconds, max_work, accuracy;  // negative: from the scene
    int stepper, form, every, max_iterations;  // negative or 0: from the scene
    int threads, friction, facets, rotation, gyroscopic, positions, coordinates, start;
    double replay_mb;
    bool json, quiet, no_figures, no_replay, no_recording, profile;
    const char *csv;  // names of CSV files, commas between
    perp_scene_load_options reading;
} run_options;

typedef struct run {
    run_options options;
    perp_scene *scene;
    perp_sim *sim;
    perp_record *record;
    char dir[4096];
    double h, last;  // step size, and that of the last step [s]
    double until;
    int64_t steps;
    cli_profile profile;
} run;

static volatile sig_atomic_t interrupted;

// A step that does not end within a second after a signal is in a factorisation of another library, which cannot be
// interrupted. Frames are flushed as they come: the recording can be read up to the last one.
static void give_up(int number)
{
    static const char text[] = "perp: the step did not end in time; the recording is incomplete\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(CLI_INTERRUPTED);
}

static void interrupt(int number)
{
    if (!interrupted) {
        alarm(1);  // counted from the first of several
    }
    interrupted = number;
}

// For perp_env: ends a step that takes long.
static bool is_interrupted(void *user)
{
    (void)user;
    return interrupted != 0;
}

// ── Setup ───────────────────────────────────────────────────────────────────────────────────────

static cli_exit read_options(int count, char **words, run_options *o)
{
    *o = (run_options){.until = -1.0,
                       .step = -1.0,
                       .tolerance = -1.0,
                       .max_seconds = -1.0,
                       .max_work = -1.0,
                       .accuracy = -1.0,
                       .replay_mb = perp_replay_default().megabytes,
                       .stepper = -1,
                       .form = -1,
                       .friction = -1,
                       .rotation = -1,
                       .gyroscopic = -1,
                       .positions = -1,
                       .start = -1,
                       .coordinates = -1,
                       .reading = perp_scene_load_options_default()};
    const cli_option options[] = {
        {"-o", CLI_TEXT, &o->dir, NULL},
        {"--until", CLI_REAL, &o->until, NULL},
        {"--step", CLI_POSITIVE, &o->step, NULL},
        {"--stepper", CLI_WORD, &o->stepper, perp_stepper_word},
        {"--form", CLI_WORD, &o->form, perp_form_word},
        {"--solver", CLI_SOLVER, &o->solver, NULL},
        {"--friction", CLI_WORD, &o->friction, perp_friction_law_word},
        {"--facets", CLI_COUNT, &o->facets, NULL},
        {"--rotation", CLI_WORD, &o->rotation, perp_rotation_update_word},
        {"--gyroscopic", CLI_WORD, &o->gyroscopic, perp_gyroscopic_word},
        {"--start", CLI_WORD, &o->start, perp_start_word},
        {"--keyframe", CLI_TEXT, &o->keyframe, NULL},
        {"--positions", CLI_WORD, &o->positions, perp_positions_word},
        {"--coordinates", CLI_WORD, &o->coordinates, perp_coordinates_word},
        {"--tol", CLI_POSITIVE, &o->tolerance, NULL},
        {"--threads", CLI_COUNT, &o->threads, NULL},
        {"--max-seconds", CLI_REAL, &o->max_seconds, NULL},
        {"--max-work", CLI_REAL, &o->max_work, NULL},
        {"--accuracy", CLI_REAL, &o->accuracy, NULL},
        {"--max-iterations", CLI_COUNT, &o->max_iterations, NULL},
        {"--every", CLI_COUNT, &o->every, NULL},
        {"--profile", CLI_FLAG, &o->profile, NULL},
        {"--json", CLI_FLAG, &o->json, NULL},
        {"--csv", CLI_TEXT, &o->csv, NULL},
        {"--no-recording", CLI_FLAG, &o->no_recording, NULL},
        {"--no-figures", CLI_FLAG, &o->no_figures, NULL},
        {"--no-replay", CLI_FLAG, &o->no_replay, NULL},
        {"--replay-mb", CLI_POSITIVE, &o->replay_mb, NULL},
        CLI_READING(o->reading),
        {"-q", CLI_FLAG, &o->quiet, NULL}};
    return cli_options_parse("run", count, words, options, sizeof options / sizeof options[0],
                             &o->file, 1);
}

static perp_sim_def sim_def(const run *r)
{
    const run_options *o = &r->options;
    perp_sim_def def = perp_scene_sim_def(r->scene);
    if (o->stepper >= 0) {
        def.stepper = (perp_stepper)o->stepper;
    }
    if (o->form >= 0) {
        def.form = (perp_form)o->form;
    }
    if (o->tolerance > 0.0) {
        def.tolerance = o->tolerance;
    }
    if (o->max_seconds >= 0.0) {
        def.max_seconds = o->max_seconds;
    }
    if (o->max_work >= 0.0) {
        def.max_work = o->max_work;
    }
    if (o->accuracy >= 0.0) {
        def.accuracy = o->accuracy;
    }
    def.max_iterations = o->max_iterations > 0 ? o->max_iterations : def.max_iterations;
    if (o->friction >= 0) {
        def.friction = (perp_friction_law)o->friction;
    }
    if (o->rotation >= 0) {
        def.rotation = (perp_rotation_update)o->rotation;
    }
    if (o->gyroscopic >= 0) {
        def.gyroscopic = (perp_gyroscopic)o->gyroscopic;
    }
    if (o->start >= 0) {
        def.start = (perp_start)o->start;
    }
    if (o->positions >= 0) {
        def.positions = (perp_positions)o->positions;
    }
    if (o->coordinates >= 0) {
        def.coordinates = (perp_coordinates)o->coordinates;
    }
    def.facets = o->facets > 0 ? o->facets : def.facets;
    def.threads = o->threads > 0 ? o->threads : def.threads;
    def.solver = o->solver ? o->solver : def.solver;
    return def;
}

// The number of steps to the end time, and the size of the last one.
static cli_exit count_steps(run *r)
{
    const run_options *o = &r->options;
    r->until = o->until >= 0.0 ? o->until : perp_scene_until(r->scene);
    r->h = o->step > 0.0 ? o->step : perp_scene_step(r->scene);
    double start = perp_sim_time(r->sim);
    if (start > r->until) {
        return cli_complain(
            "run: the keyframe starts at t = %g s, and the run ends at %g s: choose "
            "a later end with --until",
            start, r->until);
    }
    if (perp_scene_schedule(start, r->until, r->h, &r->steps, &r->last) < 0) {
        return cli_complain("run: too many steps: %g s in steps of %g s", r->until, r->h);
    }
    return CLI_FINE;
}

static int frames_every(const run *r)
{
    double interval = perp_scene_interval(r->scene) / r->h;
    if (r->options.every > 0) {
        return r->options.every;
    }
    return interval >= 1.5 && interval < 1e9 ? (int)(interval + 0.5) : 1;
}

// Default: <name>-run in the current directory.
static void choose_directory(run *r)
{
    const char *name = perp_scene_name(r->scene);
    if (r->options.dir) {
        snprintf(r->dir, sizeof r->dir, "%s", r->options.dir);
        return;
    }
    snprintf(r->dir, sizeof r->dir, "%s-run", name[0] ? name : "scene");
    for (char *c = r->dir; *c; c++) {
        *c = *c == '/' || (unsigned char)*c < ' ' ? '_' : *c;
    }
    if (r->dir[0] == '.' || r->dir[0] == '-') {
        r->dir[0] = '_';  // neither hidden nor an option
    }
}

// Removes the other files of a previous run in the directory.
static void remove_leftovers(const run *r)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/unsolved.json", r->dir);
    remove(path);
    snprintf(path, sizeof path, "%s/replay.html", r->dir);
    remove(path);
    snprintf(path, sizeof path, "%s/index.html", r->dir);
    remove(path);
    for (int k = 0; perp_plot_name(k); k++) {
        snprintf(path, sizeof path, "%s/%s.svg", r->dir, perp_plot_name(k));
        remove(path);
    }
}

// The bits of perp_csv for a list such as "bodies,joints".
static cli_exit choose_csv(const char *list, unsigned *csv)
{
    static const struct {
        const char *name;
        unsigned bits;
    } files[] = {{"none", 0},
                 {"all", PERP_CSV_ALL},
                 {"bodies", PERP_CSV_BODIES},
                 {"contacts", PERP_CSV_CONTACTS},
                 {"parts", PERP_CSV_PARTS},
                 {"joints", PERP_CSV_JOINTS},
                 {"actuators", PERP_CSV_ACTUATORS},
                 {"sensors", PERP_CSV_SENSORS}};
    *csv = 0;
    for (const char *word = list; word;) {
        size_t length = strcspn(word, ","), k = 0, count = sizeof files / sizeof files[0];
        while (k < count &&
               (strlen(files[k].name) != length || strncmp(files[k].name, word, length) != 0)) {
            k++;
        }
        if (k == count) {
            return cli_complain("run: --csv: unknown file '%.*s': expected none, all, or some of "
                                "bodies, contacts, parts, joints, actuators, sensors",
                                (int)(length < 40 ? length : 40), word);
        }
        *csv |= files[k].bits;
        word = word[length] ? word + length + 1 : NULL;
    }
    return CLI_FINE;
}

static cli_exit begin_recording(run *r)
{
    perp_error error = {0};
    perp_record_def record = perp_record_default();
    if (r->options.csv) {
        cli_exit code = choose_csv(r->options.csv, &record.csv);
        if (code != CLI_FINE) {
            return code;
        }
    }
    record.name = perp_scene_name(r->scene);
    record.scene = perp_scene_text(r->scene, NULL);
    record.file = perp_scene_files(r->scene, &record.files);
    record.report = perp_scene_report(r->scene);
    record.h = r->h;
    record.every = frames_every(r);
    record.summary_only = r->options.no_recording;
    if (perp_record_create(r->dir, r->sim, &record, NULL, &r->record, &error) < 0) {
        cli_complain("%s", error.text);
        return error.status == PERP_ERR_IO ? CLI_OUTPUT : CLI_INPUT;
    }
    if (!r->options.no_recording) {
        remove_leftovers(r);
    }
    return CLI_FINE;
}

static cli_exit begin(run *r)
{
    perp_error error = {0};
    cli_exit code = cli_scene_open(r->options.file, &r->options.reading, &r->scene);
    if (code != CLI_FINE) {
        return code;
    }
    signal(SIGALRM, give_up);
    cli_catch(interrupt);  // from here on computations ask for it
    perp_sim_def def = sim_def(r);
    code = cli_keyframe_find(r->options.file, r->scene, r->options.keyframe, &def.keyframe);
    if (code != CLI_FINE) {
        return code;
    }
    const perp_env env = {.stop = is_interrupted};
    perp_status created = perp_sim_create(perp_scene_model(r->scene), &def, &env, &r->sim, &error);
    if (created < 0) {
        cli_complain("%s: %s", r->options.file, error.text);
        return created == PERP_ERR_STOPPED ? CLI_INTERRUPTED : CLI_INPUT;
    }
    code = count_steps(r);
    if (code != CLI_FINE) {
        return code;
    }
    choose_directory(r);
    return begin_recording(r);
}

// ── Stepping ─────────────────────────────────────────────────────────────────────────────────────

// Reports corrections made to the initial state.
static void warn_of_start(const run *r)
{
    const char *remark = perp_sim_info(r->sim)->remark;
    if (remark[0]) {
        cli_complain("warning: %s", remark);
    }
}

// The first step that violates the certificate, if it knows why.
static void warn_of_violation(const run *r)
{
    const perp_step_info *info = perp_sim_info(r->sim);
    if (!info->certificate.passed && info->remark[0]) {
        cli_complain("warning: t = %.9g: %s", perp_sim_time(r->sim), info->remark);
    }
}

static cli_exit lost_output(const run *r)
{
    cli_complain("%s: the recording in '%s' is incomplete", perp_record_error(r->record)->text,
                 r->dir);
    return CLI_OUTPUT;
}

// Writes the unsolved problem, for `perp solve` and for bug reports.
static void dump_problem(const run *r)
{
    char path[4200];
    perp_step_problem *problem = NULL;
    if (r->options.no_recording) {
        return;
    }
    snprintf(path, sizeof path, "%s/unsolved.json", r->dir);
    if (perp_sim_problem(r->sim, PERP_FORM_MCP, &problem) >= 0 &&
        perp_mcp_write(&problem->mcp, perp_scene_name(r->scene), path, NULL) >= 0) {
        cli_complain("the problem of this step was written to '%s'", path);
    }
    perp_step_problem_destroy(problem);
}

static cli_exit step_all(run *r)
{
    double start = perp_sim_time(r->sim);
    progress line = progress_begin(!r->options.quiet, start, r->until);
    cli_exit code = CLI_FINE;
    bool violated = false;
    if (!r->options.quiet) {
        warn_of_start(r);
    }
    for (int64_t k = 0; k < r->steps && code == CLI_FINE; k++) {
        perp_status status = perp_sim_step(r->sim, k + 1 < r->steps ? r->h : r->last);
        if (status == PERP_ERR_STOPPED) {  // the state is that of the last step, which is recorded
            code = CLI_INTERRUPTED;
            break;
        }
        cli_profile_step(&r->profile, perp_sim_info(r->sim));
        if (status == PERP_INEXACT && !violated && !r->options.quiet) {
            progress_end(&line);
            warn_of_violation(r);
        }
        violated = violated || status == PERP_INEXACT;
        if (perp_record_step(r->record, r->sim) < 0) {
            progress_end(&line);
            return lost_output(r);
        }
        progress_step(&line, r->sim, perp_record_summary(r->record).worst.residual);
        code = status < 0 ? CLI_UNSOLVED : interrupted ? CLI_INTERRUPTED : CLI_FINE;
    }
    alarm(0);  // what is left to do takes as long as it takes
    progress_end(&line);
    return code;
}

// ── Results ────────────────────────────────────────────────────────────────────────────────────────

static void print_line(const perp_certificate *c, perp_judged what, const char *name, double value,
                       const char *unit)
{
    double over = c->relative[what];
    printf("  %-16s %10.2e %-4s %9.2e of limit%s\n", name, value, unit, over,
           over <= 1.0 ? "" : "  VIOLATED");
}

static void print_certificate(const perp_summary *sum)
{
    const perp_certificate *c = &sum->worst;
    if (sum->violations > 0) {
        printf("certificate violated in %lld of %lld steps; worst values:\n",
               (long long)sum->violations, (long long)sum->steps);
    } else {
        printf("certificate %s; worst values of all steps:\n", sum->steps > 0 ? "passed" : "empty");
    }
    print_line(c, PERP_JUDGED_GAP, "gap", c->gap, "m");
    print_line(c, PERP_JUDGED_COMPLEMENTARITY, "complementarity", c->complementarity, "J");
    print_line(c, PERP_JUDGED_CONE, "friction cone", c->cone, "N s");
    print_line(c, PERP_JUDGED_JOINT, "joints", c->joint, "m");
    print_line(c, PERP_JUDGED_MOMENTUM, "momentum", c->momentum, "N s");
    print_line(c, PERP_JUDGED_ENERGY, "energy created", c->energy_created, "J");
    print_line(c, PERP_JUDGED_RESIDUAL, "residual", c->residual, "m/s");
    print_line(c, PERP_JUDGED_MOTION, "motion", c->motion, "m");
    if (c->relative[PERP_JUDGED_PATH] > 1.0) {
        print_line(c, PERP_JUDGED_PATH, "path", c->path, "m");
    } else {
        printf("  %-16s %s\n", "path",
               c->path_clear ? "clear: no body passed through another"
                             : "not checked in every step");
    }
}

// What the numbers above mean, and what they do not.
static void print_accuracy(const perp_summary *sum, const perp_sim_def *def)
{
    // event has an integrator with tolerances of its own
    if (def->stepper == PERP_STEPPER_EVENT || sum->steps == 0) {
        return;
    }
    if (!(def->accuracy > 0.0)) {
        printf("accuracy    equations solved to %.1e m/s; error of the motion not estimated "
               "(--accuracy)\n",
               sum->worst.residual);
        return;
    }
    printf("accuracy    equations solved to %.1e m/s, estimated error of the motion ",
           sum->worst.residual);
    if (isfinite(sum->motion_error)) {
        printf("%.1e m, of a step %.1e m\n", sum->motion_error, sum->step_error);
    } else {
        printf("unknown: parts of steps could not be compared\n");
    }
}

static void print_uniqueness(const char *name, const int64_t count[3], double apart,
                             const char *unit)
{
    printf("  %-16s unique in %lld steps, not unique in %lld, unknown in %lld", name,
           (long long)count[PERP_UNIQUENESS_PROVED], (long long)count[PERP_UNIQUENESS_DISPROVED],
           (long long)count[PERP_UNIQUENESS_UNKNOWN]);
    if (count[PERP_UNIQUENESS_DISPROVED] > 0) {
        printf("; solutions differ by up to %.2e %s", apart, unit);
    }
    printf("\n");
}

// Omitted if every step is proved to have a unique solution.
static void print_answers(const perp_summary *sum)
{
    if (sum->unique == sum->steps) {
        return;
    }
    printf("uniqueness\n");
    print_uniqueness("motion", sum->motion, sum->motion_apart, "m/s");
    print_uniqueness("impulses", sum->impulses, sum->impulses_apart, "N s");
}

static void print_summary(const run *r, const perp_summary *sum)
{
    perp_sim_def def = sim_def(r);
    const perp_step_info *info = perp_sim_info(r->sim);
    double t = perp_sim_time(r->sim);
    printf("scene       %s\n", cli_plain(perp_scene_name(r->scene)));
    cli_import_line(r->scene,
                    r->options.no_recording ? "'perp import'" : "report.json, or 'perp import'");
    printf("method      %s, form %s, solver %s\n", perp_stepper_word((int)def.stepper),
           perp_form_word((int)(sum->steps > 0 ? info->form : def.form)),
           def.solver ? def.solver : "auto");
    const char *why = "";
    perp_coordinates coordinates = perp_sim_coordinates(r->sim, &why);
    if (why[0]) {
        printf("coordinates %s: %s\n", perp_coordinates_word((int)coordinates), why);
    }
    char last[48] = "";
    if (sum->steps == r->steps && r->last != r->h) {
        snprintf(last, sizeof last, " (last step %g s)", r->last);
    }
    printf("steps       %lld of %g s%s, to t = %.9g s; %d frame%s\n", (long long)sum->steps, r->h,
           last, t, sum->frames, sum->frames == 1 ? "" : "s");
    int bodies = perp_model_bodies(perp_scene_model(r->scene)) - 1;
    printf("size        %d %s, up to %d contact%s\n", bodies, bodies == 1 ? "body" : "bodies",
           sum->contacts_max, sum->contacts_max == 1 ? "" : "s");
    cli_left_out(perp_scene_model(r->scene));
    printf("time        %.3f s (%.3g x real time), %.3g us per step\n", sum->seconds,
           t / sum->seconds, 1e6 * sum->step_seconds);
    printf("  stepping %.3f s, certifying %.3f s, recording %.3f s\n", sum->seconds_steps,
           sum->seconds_certify, sum->seconds_record);
    print_answers(sum);
    print_certificate(sum);
    print_accuracy(sum, &def);
    printf("recording   %s\n", r->options.no_recording ? "none" : cli_plain(r->dir));
}

// Draws the figures and writes the replay page. Without the viewer built in, prints a note and succeeds.
static bool draw(const run *r)
{
    size_t size;
    perp_recording *recording = NULL;
    perp_error error = {0};
    const run_options *o = &r->options;
    if (o->no_recording || (o->no_figures && o->no_replay)) {
        return true;
    }
    double began = cli_seconds();
    bool drawn = perp_recording_open(r->dir, NULL, &recording, &error) >= 0 &&
                 (o->no_figures || perp_plot_write(recording, r->dir, NULL, NULL, &error) >= 0);
    if (!drawn) {
        cli_complain("%s", error.text);
    } else if (!o->no_replay && cli_page(&size)) {
        bool quiet = o->quiet || o->json;
        drawn = cli_replay_write("run", recording, r->dir, o->replay_mb, quiet) == CLI_FINE;
    } else if (!o->no_replay && !o->quiet && !o->json) {
        printf("replay      none: perp was built without the viewer (needs Node.js and npm)\n");
    }
    perp_recording_close(recording);
    if (drawn && !o->quiet && !o->json) {
        printf("drawing     %.3f s\n", cli_seconds() - began);
    }
    return drawn;
}

static cli_exit end(run *r, cli_exit code)
{
    if (code == CLI_UNSOLVED) {
        cli_complain("%s: %s", perp_scene_name(r->scene), perp_sim_error(r->sim)->text);
        dump_problem(r);
    } else if (code == CLI_INTERRUPTED) {
        cli_complain(r->options.no_recording
                         ? "interrupted at t = %g s"
                         : "interrupted at t = %g s; recorded up to there, without figures and "
                           "replay (perp plot, perp view)",
                     perp_sim_time(r->sim));
    }
    if (perp_record_finish(r->record, r->sim) < 0) {
        return lost_output(r);
    }
    perp_summary sum = perp_record_summary(r->record);
    const char *text = perp_record_summary_text(r->record, r->sim);
    if (r->options.json && text) {
        fputs(text, stdout);
    } else if (!r->options.quiet) {
        print_summary(r, &sum);
    }
    if (r->options.profile) {
        cli_profile_print(&r->profile, r->options.json ? stderr : stdout);
    }
    // after a signal the run ends soon: drawing a long recording takes seconds
    if (code != CLI_INTERRUPTED && !draw(r)) {
        return CLI_OUTPUT;
    }
    return code == CLI_FINE && !sum.worst.passed ? CLI_VIOLATED : code;
}

cli_exit cli_run(int count, char **words)
{
    run r = {0};
    if (cli_wants_help("run", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = read_options(count, words, &r.options);
    if (code == CLI_FINE) {
        code = begin(&r);
    }
    if (code == CLI_FINE) {
        code = step_all(&r);
        code = code == CLI_OUTPUT ? code : end(&r, code);
    }
    perp_record_destroy(r.record);
    perp_sim_destroy(r.sim);
    perp_scene_destroy(r.scene);
    return code;
}
