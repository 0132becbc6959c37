// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp solve: every file, with one solver or with all that accept the problem.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { SOLVERS_MOST = 64 };

// Counts so far.
typedef struct tally {
    int files, solved, unreadable;
    int printed;                               // results, for commas between them
    int ran[SOLVERS_MOST], won[SOLVERS_MOST];  // by solver, with --solver all
} tally;

typedef struct session {
    solve_options options;
    bool all, several;
    int name_width;
    csv_file csv;
    tally tally;
} session;

// ── Output of one result, in the requested form ──────────────────────────────────────────────────

static void begin_output(session *s)
{
    const solve_options *o = &s->options;
    if (o->json && s->several) {
        puts("[");
    } else if (!o->json && !o->quiet && s->several) {
        table_head(stdout, s->name_width);
    }
}

static void put_result(session *s, const result *r)
{
    const solve_options *o = &s->options;
    if (o->json) {
        fputs(s->tally.printed++ > 0 ? ",\n" : "", stdout);
        json_print(stdout, r);
    } else if (!o->quiet && s->several) {
        table_row(stdout, s->name_width, r);
    } else if (!o->quiet) {
        block_print(stdout, r);
    }
    csv_row(&s->csv, r);
}

static void put_unreadable(session *s, const char *path)
{
    if (s->options.json) {
        fputs(s->tally.printed++ > 0 ? ",\n" : "", stdout);
        json_print_unreadable(stdout, path);
    }
}

static void end_output(session *s)
{
    const solve_options *o = &s->options;
    const tally *t = &s->tally;
    if (o->json) {
        fputs(s->several ? "\n]\n" : "\n", stdout);
        return;
    }
    if (o->quiet || !s->several) {
        return;
    }
    if (s->all) {
        fputs("solved per solver: ", stdout);
        for (int k = 0, n = 0; k < perp_solver_count() && k < SOLVERS_MOST; k++) {
            if (t->ran[k] > 0) {
                printf("%s%s %d / %d", n++ > 0 ? ", " : "", perp_solver_at(k)->name, t->won[k],
                       t->ran[k]);
            }
        }
        putchar('\n');
    }
    printf("solved %d / %d", t->solved, t->files);
    if (t->unreadable > 0) {
        printf(", %d unreadable", t->unreadable);
    }
    putchar('\n');
}

// ── Work ─────────────────────────────────────────────────────────────────────────────────────────

// Every solver that accepts the problem; those that refuse it when run are not listed.
static bool run_all(session *s, const task *t, double *z)
{
    bool solved = false;
    for (int k = 0; k < perp_solver_count() && k < SOLVERS_MOST; k++) {
        const perp_solver_card *card = perp_solver_at(k);
        if (!task_takes(t, card)) {
            continue;
        }
        result r = task_run(t, card->name, &s->options, z);
        if (r.info.error.status == PERP_ERR_REFUSED) {
            continue;
        }
        s->tally.ran[k]++;
        s->tally.won[k] += result_solved(&r);
        solved = solved || result_solved(&r);
        r.info.solver = card->name;  // the one compared; "auto" stays "auto"
        put_result(s, &r);
    }
    return solved;
}

static cli_exit solve_file(session *s, const char *path)
{
    task t;
    s->tally.files++;
    cli_exit code = task_open(path, &s->options, &t);
    double *z = code == CLI_FINE ? malloc(((size_t)t.n + 1) * sizeof *z) : NULL;
    if (code == CLI_FINE && !z) {
        code = cli_complain("%s: not enough memory", path);
        task_close(&t);
    }
    if (code != CLI_FINE) {
        s->tally.unreadable++;
        put_unreadable(s, path);
        return code;
    }
    bool solved;
    if (s->all) {
        solved = run_all(s, &t, z);
    } else {
        result r = task_run(&t, s->options.solver, &s->options, z);
        solved = result_solved(&r);
        put_result(s, &r);
    }
    s->tally.solved += solved;
    free(z);
    task_close(&t);
    return solved ? CLI_FINE : CLI_UNSOLVED;
}

// Bad input outranks an unsolved problem; lost output outranks both.
static cli_exit worse(cli_exit a, cli_exit b)
{
    static const cli_exit order[] = {CLI_OUTPUT, CLI_INPUT, CLI_UNSOLVED, CLI_FINE};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        if (a == order[k] || b == order[k]) {
            return order[k];
        }
    }
    return CLI_FINE;
}

cli_exit cli_solve(int count, char **words)
{
    if (count > 0 && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0)) {
        char topic[] = "solve", *page = topic;
        return cli_help(1, &page);
    }
    session s = {0};
    cli_exit code = solve_options_parse(count, words, &s.options);
    if (code != CLI_FINE) {
        return code;
    }
    s.all = strcmp(s.options.solver, "all") == 0;
    s.several = s.all || s.options.file_count > 1;
    s.name_width = table_name_width(&s.options);
    code = csv_open(&s.options, &s.csv);
    if (code != CLI_FINE) {
        return code;
    }
    begin_output(&s);
    for (int k = 0; k < s.options.file_count && !ferror(stdout); k++) {
        code = worse(code, solve_file(&s, s.options.files[k]));
    }
    end_output(&s);
    return worse(code, csv_close(&s.csv));
}
