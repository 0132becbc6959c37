// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp sweep: many runs of a scene with different parameters.
#include "sweep.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sweep_options {
    const char *file, *dir, *shard, *only;
    int workers;
    double replay_mb;
    bool resume, merge, points, quiet, no_figures, no_replay;
    perp_scene_load_options reading;
} sweep_options;

typedef struct command {
    sweep_options options;
    perp_sweep *sweep;
    char dir[4096];
    int part, parts;  // of --shard: part 1 .. parts
    int64_t only;     // -1: all
    int rank, ranks;
} command;

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = number;
}

bool sweep_interrupted(void)
{
    return interrupted != 0;
}

// ── Options ──────────────────────────────────────────────────────────────────────────────────────

// "3/8": the third of eight parts.
static cli_exit read_shard(command *c)
{
    const long long most = 999999999;
    char *slash = NULL, *end = NULL;
    c->part = c->parts = 1;
    if (!c->options.shard) {
        return CLI_FINE;
    }
    long long part = strtoll(c->options.shard, &slash, 10);
    long long parts = *slash == '/' ? strtoll(slash + 1, &end, 10) : 0;
    if (part < 1 || part > parts || parts > most || !end || *end) {
        return cli_complain(
            "sweep: --shard: expected K/N with 1 <= K <= N, such as 3/8, not '%.40s'",
            c->options.shard);
    }
    c->part = (int)part;
    c->parts = (int)parts;
    return CLI_FINE;
}

static cli_exit read_only(command *c)
{
    char *end = NULL;
    c->only = -1;
    if (!c->options.only) {
        return CLI_FINE;
    }
    long long index = strtoll(c->options.only, &end, 10);
    if (!*c->options.only || *end || index < 0 || index >= perp_sweep_runs(c->sweep)) {
        return cli_complain("sweep: --only: expected the number of a run from 0 to %lld, not "
                            "'%.40s'",
                            (long long)perp_sweep_runs(c->sweep) - 1, c->options.only);
    }
    c->only = index;
    return CLI_FINE;
}

static cli_exit load(command *c)
{
    perp_error error = {0};
    const char *path = c->options.file;
    const char *source = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    if (perp_sweep_load(source, &c->options.reading, NULL, &c->sweep, &error) >= 0) {
        return CLI_FINE;
    }
    path = cli_plain(path);
    if (error.line > 0) {
        fprintf(stderr, "%s:%d:%d: %s\n", path, error.line, error.column, error.text);
    } else {
        fprintf(stderr, "%s: %s\n", path, error.text);
    }
    return CLI_INPUT;
}

static cli_exit read_options(command *c, int count, char **words)
{
    sweep_options *o = &c->options;
    *o = (sweep_options){.reading = perp_scene_load_options_default(), .replay_mb = 10.0};
    const cli_option options[] = {{"-o", CLI_TEXT, &o->dir, NULL},
                                  {"--resume", CLI_FLAG, &o->resume, NULL},
                                  {"--shard", CLI_TEXT, &o->shard, NULL},
                                  {"--only", CLI_TEXT, &o->only, NULL},
                                  {"--merge", CLI_FLAG, &o->merge, NULL},
                                  {"--points", CLI_FLAG, &o->points, NULL},
                                  {"--workers", CLI_COUNT, &o->workers, NULL},
                                  {"--no-figures", CLI_FLAG, &o->no_figures, NULL},
                                  {"--no-replay", CLI_FLAG, &o->no_replay, NULL},
                                  {"--replay-mb", CLI_POSITIVE, &o->replay_mb, NULL},
                                  {"--max-mb", CLI_POSITIVE, &o->reading.max_mb, NULL},
                                  {"--allow-outside", CLI_FLAG, &o->reading.outside, NULL},
                                  {"-q", CLI_FLAG, &o->quiet, NULL}};
    cli_exit code = cli_options_parse("sweep", count, words, options,
                                      sizeof options / sizeof options[0], &o->file, 1);
    if (code == CLI_FINE) {
        code = read_shard(c);
    }
    if (code != CLI_FINE) {
        return code;
    }
    if (o->workers > 1000) {
        return cli_complain("sweep: --workers: at most 1000");
    }
    code = load(c);
    if (code == CLI_FINE) {
        code = read_only(c);
    }
    return code;
}

// Default: <name>-sweep in the current directory.
static void choose_directory(command *c)
{
    const char *name = perp_sweep_name(c->sweep);
    if (c->options.dir) {
        snprintf(c->dir, sizeof c->dir, "%s", c->options.dir);
        return;
    }
    snprintf(c->dir, sizeof c->dir, "%.200s-sweep", name[0] ? name : "sweep");
    for (char *at = c->dir; *at; at++) {
        *at = *at == '/' || (unsigned char)*at < ' ' ? '_' : *at;
    }
    if (c->dir[0] == '.' || c->dir[0] == '-') {
        c->dir[0] = '_';  // neither hidden nor an option
    }
}

static int worker_count(const command *c)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int workers = c->options.workers > 0 ? c->options.workers : cores;
    return workers > 0 ? workers : 1;
}

static sweep_pool *create_pool(const command *c, int workers, const char *dir, bool record_all)
{
    sweep_pool_def def = {.sweep = c->sweep,
                          .workers = workers,
                          .dir = dir,
                          .record_all = record_all,
                          .replay_mb = c->options.no_replay ? 0.0 : c->options.replay_mb};
    sweep_pool *pool = sweep_pool_create(&def);
    if (!pool) {
        cli_complain("sweep: cannot start worker processes");
    }
    return pool;
}

// ── The ledger ───────────────────────────────────────────────────────────────────────────────────

int64_t sweep_ledger_next(sweep_ledger *ledger)
{
    int64_t runs = perp_sweep_runs(ledger->sweep);
    while (ledger->next < runs && ledger->had[ledger->next]) {
        ledger->next++;
    }
    return ledger->next < runs ? ledger->next++ : -1;
}

// "4711 of 100000 runs, 812 a second, 3 failed, 2 min left", on a terminal only.
static void show_progress(sweep_ledger *ledger, bool last)
{
    double now = cli_seconds(), spent = now - ledger->began;
    if (!ledger->shown || (!last && now - ledger->told < 0.2)) {
        return;
    }
    ledger->told = now;
    double rate = spent > 0.0 ? (double)ledger->rows / spent : 0.0;
    double left = rate > 0.0 ? (double)(ledger->due - ledger->rows) / rate : 0.0;
    char when[40];
    if (left < 100.0) {
        snprintf(when, sizeof when, "%.0f s", left);
    } else if (left < 6000.0) {
        snprintf(when, sizeof when, "%.0f min", left / 60.0);
    } else {
        snprintf(when, sizeof when, "%.1f h", left / 3600.0);
    }
    fprintf(stderr, "\r%lld of %lld runs, %.3g a second, %lld failed, %s left\033[K%s",
            (long long)ledger->rows, (long long)ledger->due, rate, (long long)ledger->failed, when,
            last ? "\n" : "");
    fflush(stderr);
}

// Rows of runs that have one already are dropped: each run counts once.
bool sweep_ledger_take(void *user, const void *row, size_t size)
{
    sweep_ledger *ledger = user;
    perp_error error = {0};
    if (!perp_sweep_row_unpack(ledger->sweep, row, size, &ledger->row) ||
        ledger->had[ledger->row.index]) {
        return true;
    }
    if (perp_shard_append(ledger->shard, row, size, &error) < 0) {
        cli_complain("%s", error.text);
        ledger->lost = true;
        return false;
    }
    ledger->had[ledger->row.index] = 1;
    ledger->rows++;
    ledger->failed += ledger->row.status > PERP_RUN_VIOLATED;
    show_progress(ledger, false);
    return true;
}

static double *make_values(const perp_sweep *sweep)
{
    int columns = 0;
    (void)perp_sweep_columns(sweep, &columns);
    return calloc((size_t)columns + 1, sizeof(double));
}

static void ledger_close(sweep_ledger *ledger)
{
    free(ledger->had);
    free(ledger->row.value);
}

// Runs whose rows are in any shard of the directory, and runs of other parts, are not due.
static cli_exit ledger_open(sweep_ledger *ledger, const command *c)
{
    perp_error error = {0};
    perp_sweep_table *table = NULL;
    int64_t runs = perp_sweep_runs(c->sweep);
    char name[64] = "all";
    if (c->parts > 1) {
        snprintf(name, sizeof name, "%d-of-%d", c->part, c->parts);
    }
    *ledger = (sweep_ledger){.sweep = c->sweep,
                             .had = calloc((size_t)runs, 1),
                             .row.value = make_values(c->sweep),
                             .began = cli_seconds(),
                             .shown = !c->options.quiet && isatty(STDERR_FILENO)};
    if (!ledger->had || !ledger->row.value) {
        return cli_complain("sweep: not enough memory");
    }
    if (perp_shard_open(c->sweep, c->dir, name, c->options.resume, &ledger->shard, &error) < 0 ||
        perp_sweep_table_read(c->sweep, c->dir, NULL, &table, &error) < 0) {
        cli_complain("%s", error.text);
        return error.status == PERP_ERR_IO ? CLI_OUTPUT : CLI_INPUT;
    }
    for (int64_t k = 0; k < runs; k++) {
        bool ours = k % c->parts == c->part - 1;
        ledger->had[k] = perp_sweep_table_has(table, k) || !ours;
        ledger->due += !ledger->had[k];
    }
    perp_sweep_table_destroy(table);
    return CLI_FINE;
}

// ── Engines ──────────────────────────────────────────────────────────────────────────────────────

// Worker processes of this machine.
static cli_exit run_here(sweep_ledger *ledger, sweep_pool *pool)
{
    while (ledger->rows < ledger->due) {
        int room = sweep_pool_room(pool);
        for (int k = 0; k < room; k++) {
            int64_t index = sweep_ledger_next(ledger);
            if (index < 0 || !sweep_pool_give(pool, index)) {
                break;
            }
        }
        if (interrupted) {
            return CLI_INTERRUPTED;
        }
        if (!sweep_pool_wait(pool, 200, sweep_ledger_take, ledger)) {
            return CLI_OUTPUT;
        }
    }
    return CLI_FINE;
}

static cli_exit run_all(const command *c, sweep_ledger *ledger, int workers)
{
    int64_t most = ledger->due < workers ? ledger->due : workers;
    if (most == 0) {
        workers = 1;
    } else {
        workers = (int)most;
    }
    sweep_pool *pool = create_pool(c, workers, c->dir, false);
    if (!pool) {
        return CLI_OUTPUT;
    }
    cli_exit code = c->ranks > 1 ? sweep_mpi_lead(ledger, pool) : run_here(ledger, pool);
    sweep_pool_destroy(pool);
    show_progress(ledger, true);
    return code;
}

// ── Results ──────────────────────────────────────────────────────────────────────────────────────

static void print_counts(const perp_sweep_table *table, int64_t runs)
{
    printf("runs        %lld: ", (long long)runs);
    const char *comma = "";
    for (int k = 0; k < PERP_RUN_COUNT; k++) {
        int64_t count = perp_sweep_table_count(table, (perp_run_status)k);
        if (count > 0) {
            printf("%s%lld %s", comma, (long long)count, perp_run_status_word(k));
            comma = ", ";
        }
    }
    printf("\n");
}

// All shards together. Results are written when no run is missing, or when they are asked for.
static cli_exit merge(const command *c)
{
    perp_error error = {0};
    perp_sweep_table *table = NULL;
    if (perp_sweep_table_read(c->sweep, c->dir, NULL, &table, &error) < 0) {
        cli_complain("%s", error.text);
        return error.status == PERP_ERR_IO ? CLI_OUTPUT : CLI_INPUT;
    }
    int64_t missing = perp_sweep_table_count(table, PERP_RUN_MISSING);
    cli_exit code = CLI_FINE;
    if (!c->options.quiet) {
        printf("sweep       %s\n", cli_plain(perp_sweep_name(c->sweep)));
        print_counts(table, perp_sweep_runs(c->sweep));
    }
    if (missing > 0 && !c->options.merge) {
        if (!c->options.quiet) {
            printf("results     when the runs that are missing are there: the other shards, or "
                   "--resume\n");
        }
    } else if (perp_sweep_table_write(table, c->dir, &error) < 0 ||
               (!c->options.no_figures &&
                perp_plot_write_sweep(c->dir, c->dir, NULL, &error) < 0)) {
        cli_complain("%s", error.text);
        code = CLI_OUTPUT;
    } else if (!c->options.quiet) {
        printf("results     %s/sweep.csv, sweep.h5%s\n", cli_plain(c->dir),
               c->options.no_figures ? "" : ", index.html");
    }
    perp_sweep_table_destroy(table);
    return code;
}

// ── One run ──────────────────────────────────────────────────────────────────────────────────────

// As few digits as read back to the same number.
static void print_number(double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    printf("%s", text);
}

static void print_row(const perp_sweep *sweep, const perp_sweep_row *row)
{
    int count = 0;
    const perp_sweep_column *column = perp_sweep_columns(sweep, &count);
    printf("%-20s %lld\n", "index", (long long)row->index);
    for (int k = 0; k < count; k++) {
        if (isnan(row->value[k])) {
            printf("%-20s -\n", column[k].name);
        } else {
            printf("%-20s ", column[k].name);
            print_number(row->value[k]);
            printf("%s%s\n", column[k].unit[0] ? " " : "", column[k].unit);
        }
    }
    printf("%-20s %s\n", "status", perp_run_status_word((int)row->status));
    if (row->reason[0]) {
        printf("%-20s %s\n", "reason", cli_plain(row->reason));
    }
}

typedef struct single {
    const perp_sweep *sweep;
    perp_sweep_row row;
    bool came;
    char bytes[8192];
    size_t size;
} single;

static bool take_single(void *user, const void *row, size_t size)
{
    single *s = user;
    s->came = perp_sweep_row_unpack(s->sweep, row, size, &s->row);
    s->size = size < sizeof s->bytes ? size : 0;
    memcpy(s->bytes, row, s->size);
    return true;
}

// The row of the run in the directory, if it is there, must be the same to the last bit.
static cli_exit compare_row(const command *c, single *s)
{
    perp_sweep_table *table = NULL;
    perp_sweep_row old = {.value = make_values(c->sweep)};
    char bytes[sizeof s->bytes];
    cli_exit code = CLI_FINE;
    if (c->options.dir && old.value &&
        perp_sweep_table_read(c->sweep, c->dir, NULL, &table, NULL) >= 0 &&
        perp_sweep_table_has(table, c->only)) {
        perp_sweep_table_row(table, c->only, &old);
        size_t size = perp_sweep_row_pack(c->sweep, &old, bytes, sizeof bytes);
        bool same = size == s->size && memcmp(bytes, s->bytes, size) == 0;
        if (same && !c->options.quiet) {
            printf("%-20s the same row is in '%s'\n", "compared", cli_plain(c->dir));
        } else if (!same) {
            cli_complain("the row of run %lld in '%s' is different: another machine or library, or "
                         "a limit",
                         (long long)c->only, c->dir);
            code = CLI_VIOLATED;
        }
    }
    perp_sweep_table_destroy(table);
    free(old.value);
    return code;
}

// In a worker, with the limits of any other run; recorded where a directory is given.
static cli_exit run_only(const command *c)
{
    single s = {.sweep = c->sweep, .row.value = make_values(c->sweep)};
    const char *dir = c->options.dir ? c->dir : NULL;
    sweep_pool *pool = s.row.value ? create_pool(c, 1, dir, dir != NULL) : NULL;
    if (!pool) {
        free(s.row.value);
        return CLI_OUTPUT;
    }
    bool more = sweep_pool_give(pool, c->only);
    while (more && !s.came && !interrupted) {
        more = sweep_pool_wait(pool, 200, take_single, &s);
    }
    sweep_pool_destroy(pool);
    cli_exit code = interrupted ? CLI_INTERRUPTED : CLI_OUTPUT;
    if (s.came) {
        print_row(c->sweep, &s.row);
        code = compare_row(c, &s);
        bool solved = s.row.status <= PERP_RUN_VIOLATED;
        code = code == CLI_FINE && !solved ? CLI_UNSOLVED : code;
    }
    free(s.row.value);
    return code;
}

// The parameters of all runs, as CSV.
static cli_exit print_points(const command *c)
{
    int columns = 0;
    const perp_sweep_column *column = perp_sweep_columns(c->sweep, &columns);
    int n = perp_sweep_parameters(c->sweep);
    double *value = make_values(c->sweep);
    if (!value) {
        return cli_complain("sweep: not enough memory");
    }
    printf("index");
    for (int k = 0; k < n; k++) {
        bool unit = column[k].unit[0] != '\0';
        printf(",%s%s%s%s", column[k].name, unit ? " [" : "", column[k].unit, unit ? "]" : "");
    }
    printf("\n");
    for (int64_t i = 0; i < perp_sweep_runs(c->sweep); i++) {
        if (i % c->parts != c->part - 1 || perp_sweep_point(c->sweep, i, value) < 0) {
            continue;
        }
        printf("%lld", (long long)i);
        for (int k = 0; k < n; k++) {
            printf(",");
            print_number(value[k]);
        }
        printf("\n");
    }
    free(value);
    return CLI_FINE;
}

// ── The command ──────────────────────────────────────────────────────────────────────────────────

// Everything that only the first rank does.
static cli_exit lead(const command *c)
{
    sweep_ledger ledger = {0};
    perp_error error = {0};
    int workers = c->ranks > 1 ? 1 : worker_count(c);
    cli_exit code = ledger_open(&ledger, c);
    int64_t had = perp_sweep_runs(c->sweep) - ledger.due;
    if (code == CLI_FINE) {
        code = run_all(c, &ledger, workers);
    } else if (c->ranks > 1) {
        // The others wait for a first word.
        sweep_pool *pool = create_pool(c, 1, NULL, false);
        ledger.due = ledger.rows = 0;
        if (pool) {
            (void)sweep_mpi_lead(&ledger, pool);
        }
        sweep_pool_destroy(pool);
    }
    if (perp_shard_close(ledger.shard, &error) < 0 && code == CLI_FINE) {
        cli_complain("%s", error.text);
        code = CLI_OUTPUT;
    }
    double spent = cli_seconds() - ledger.began;
    if (code == CLI_FINE) {
        code = merge(c);
        if (!c->options.quiet && ledger.due > 0) {
            printf("time        %.3g s, %.4g runs a second, %d %s%s\n", spent,
                   (double)ledger.rows / (spent > 0.0 ? spent : 1.0),
                   c->ranks > 1 ? c->ranks : workers, c->ranks > 1 ? "rank" : "worker",
                   (c->ranks > 1 ? c->ranks : workers) == 1 ? "" : "s");
        }
    } else if (code == CLI_INTERRUPTED) {
        cli_complain("sweep: interrupted; %lld rows are in '%s': continue with --resume",
                     (long long)(ledger.rows + (c->parts == 1 ? had : 0)), c->dir);
    }
    ledger_close(&ledger);
    return code;
}

static cli_exit run_ranks(command *c)
{
    if (!sweep_mpi_open(&c->rank, &c->ranks)) {
        return CLI_INPUT;
    }
    cli_exit code;
    if (c->rank == 0) {
        code = lead(c);
    } else {
        sweep_pool *pool = create_pool(c, 1, c->dir, false);
        code = pool ? sweep_mpi_serve(c->sweep, pool) : CLI_OUTPUT;
        sweep_pool_destroy(pool);
    }
    fflush(NULL);
    sweep_mpi_close();
    return code;
}

cli_exit cli_sweep(int count, char **words)
{
    command c = {.only = -1, .ranks = 1};
    if (cli_wants_help("sweep", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = read_options(&c, count, words);
    if (code != CLI_FINE) {
        perp_sweep_destroy(c.sweep);
        return code;
    }
    choose_directory(&c);
    cli_catch(interrupt);
    int ranks = sweep_mpi_size();
    if (c.options.points) {
        code = print_points(&c);
    } else if (c.only >= 0) {
        code = run_only(&c);
    } else if (c.options.merge) {
        code = merge(&c);
    } else if (ranks > 1) {
        code = run_ranks(&c);
    } else {
        code = lead(&c);
    }
    perp_sweep_destroy(c.sweep);
    return code;
}
