// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run amounts to, for programs: summary.json.
//
// One JSON object: settings, counts, times, the worst certificate with its verdict, how many steps
// have proved or disproved uniqueness, and the last state with its hash. Keys end in their units
// where they have one (gap_m, residual_m_s).
#include "record/writer.h"

#include <math.h>

// Lower end of the first bin [s], and the ratio of neighbouring bins.
static const double SHORTEST = 1e-8, RATIO = 1.01;

// A NaN replaces any number, and is never replaced.
static void merge_worst(double *worst, double value)
{
    if (!(value <= *worst)) {
        *worst = value;
    }
}

// path_clear holds when it held in every step; pairs is the largest number of one step.
void pp_certificate_merge(perp_certificate *into, const perp_certificate *from)
{
    merge_worst(&into->gap, from->gap);
    merge_worst(&into->complementarity, from->complementarity);
    merge_worst(&into->cone, from->cone);
    merge_worst(&into->slip_opposed, from->slip_opposed);
    merge_worst(&into->joint, from->joint);
    merge_worst(&into->momentum, from->momentum);
    merge_worst(&into->energy_created, from->energy_created);
    merge_worst(&into->residual, from->residual);
    merge_worst(&into->motion, from->motion);
    merge_worst(&into->path, from->path);
    into->path_clear = into->path_clear && from->path_clear;
    into->pairs = from->pairs > into->pairs ? from->pairs : into->pairs;
    for (int k = 0; k < PERP_JUDGED_COUNT; k++) {
        merge_worst(&into->relative[k], from->relative[k]);
    }
    into->passed = into->passed && from->passed;
}

// Logarithmic bins, each 1 % wider than the one before: memory does not grow with the run.
void pp_summary_time(perp_record *r, double seconds)
{
    double bin = seconds > SHORTEST ? pp_log(seconds / SHORTEST) / pp_log(RATIO) : 0.0;
    r->time[bin < PP_TIME_BINS - 1 ? (int)bin : PP_TIME_BINS - 1]++;
}

// The middle of the bin in which half of the steps is reached [s].
static double median_time(const perp_record *r)
{
    int64_t sum = 0;
    for (int k = 0; k < PP_TIME_BINS; k++) {
        sum += r->time[k];
        if (2 * sum >= r->sum.steps && sum > 0) {
            return SHORTEST * pp_pow(RATIO, k + 0.5);
        }
    }
    return 0.0;
}

// A copy, also while the run goes on.
perp_summary perp_record_summary(const perp_record *record)
{
    if (!record) {
        return (perp_summary){.status = PERP_ERR_ARGUMENT};
    }
    perp_summary sum = record->sum;
    if (!record->finished) {
        sum.seconds = pp_seconds() - record->began;
    }
    sum.step_seconds = median_time(record);
    return sum;
}

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────

// On a line of its own.
static void put_count(pp_text *text, const char *key, int64_t value)
{
    pp_text_add(text, ",\n \"");
    pp_text_add(text, key);
    pp_text_add(text, "\": ");
    pp_text_int(text, value);
}

// Pairs of shapes that no contact was looked for between, by reason.
static void put_left_out(pp_text *text, const perp_model *model)
{
    perp_excluded_pairs out = perp_model_excluded_pairs(model);
    const struct {
        const char *key;
        int64_t value;
    } part[] = {{"{\"not_free\": ", out.not_dynamic},
                {", \"listed_only\": ", out.listed_only},
                {", \"not_detected\": ", out.not_detected},
                {", \"ignored\": ", out.ignored},
                {", \"masked\": ", out.masked},
                {", \"excluded\": ", out.excluded},
                {", \"joined\": ", out.joined}};
    pp_text_add(text, ",\n \"left_out\": ");
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        pp_text_add(text, part[k].key);
        pp_text_int(text, part[k].value);
    }
    pp_text_add(text, "}");
}

// The law that was solved: in the plane the pyramid is exact.
static const char *friction_word_of(const perp_sim *sim, perp_form form)
{
    if (sim->def.friction == PERP_FRICTION_NONE) {
        return "none";
    }
    bool cone = form == PERP_FORM_CONE && sim->def.friction != PERP_FRICTION_PYRAMID;
    return cone ? "cone" : "pyramid";
}

// Settings of the run. The form `auto` is replaced by that of the last step, once there is one.
static void put_head(pp_text *text, const perp_record *r, const perp_sim *sim)
{
    perp_form form = r->sum.steps > 0 ? sim->info.form : sim->def.form;
    pp_text_add(text, "{\"scene\": ");
    pp_text_quoted(text, r->name);
    pp_text_named(text, "stepper", perp_stepper_word((int)sim->def.stepper));
    pp_text_named(text, "form", perp_form_word((int)form));
    pp_text_named(text, "solver", sim->def.solver ? sim->def.solver : "auto");
    pp_text_named(text, "law", friction_word_of(sim, form));
    pp_text_member(text, "h", r->def.h);
    put_count(text, "steps", r->sum.steps);
    pp_text_add(text, ", \"t_end\": ");
    pp_text_time(text, sim->now.t);
    put_count(text, "bodies", sim->model->bodies - 1);
    put_count(text, "contacts_max", r->sum.contacts_max);
    put_left_out(text, sim->model);
}

// A run that stopped at a step without a solution, and one without steps, is neither passed nor violated.
static const char *verdict_of(const perp_summary *sum)
{
    if (sum->status < 0) {
        return "unsolved";
    }
    if (sum->steps == 0) {
        return "empty";
    }
    return sum->worst.passed ? "passed" : "violated";
}

// The worst of all steps, number by number; the units are in the keys.
static void put_certificate(pp_text *text, const perp_summary *sum)
{
    const perp_certificate *c = &sum->worst;
    pp_text_add(text, ",\n \"certificate\": {\"gap_m\": ");
    pp_text_number(text, c->gap);
    pp_text_member(text, "residual_m_s", c->residual);
    pp_text_member(text, "cone_N_s", c->cone);
    pp_text_member(text, "joint_m", c->joint);
    pp_text_member(text, "momentum_N_s", c->momentum);
    pp_text_member(text, "energy_created_J", c->energy_created);
    pp_text_member(text, "motion_m", c->motion);
    pp_text_member(text, "path_m", c->path);
    pp_text_named(text, "path", c->path_clear ? "clear" : "not checked");
    pp_text_named(text, "verdict", verdict_of(sum));
    pp_text_add(text, "}");
}

// What equations are solved to, and what the motion is estimated to be off by; JSON has no infinity, null: unknown.
static void put_accuracy(pp_text *text, const perp_sim *sim, const perp_summary *sum)
{
    pp_text_add(text, ",\n \"accuracy\": {\"asked_m_s\": ");
    pp_text_number(text, sim->def.accuracy);
    pp_text_member(text, "equations_m_s", sum->worst.residual);
    if (isfinite(sum->motion_error)) {
        pp_text_member(text, "motion_m", sum->motion_error);
        pp_text_member(text, "step_m", sum->step_error);
    } else {
        pp_text_add(text, ", \"motion_m\": null, \"step_m\": null");
    }
    pp_text_add(text, "}");
}

// Counts of steps: unique, not unique, unknown; `apart` is the largest distance of a second answer.
static void put_uniqueness(pp_text *text, const char *head, const int64_t count[3], double apart)
{
    pp_text_add(text, head);
    pp_text_number(text, (double)count[PERP_UNIQUENESS_PROVED]);
    put_count(text, "not_unique", count[PERP_UNIQUENESS_DISPROVED]);
    put_count(text, "unknown", count[PERP_UNIQUENESS_UNKNOWN]);
    pp_text_member(text, "apart", apart);
    pp_text_add(text, "}");
}

// Steps by what is proved of their answers: whether there is another motion, or other impulses for
// the same motion.
static void put_answers(pp_text *text, const perp_summary *sum)
{
    put_uniqueness(text, ",\n \"answers\": {\"motion\": {\"unique\": ", sum->motion,
                   sum->motion_apart);
    put_uniqueness(text, ", \"impulses\": {\"unique\": ", sum->impulses, sum->impulses_apart);
    pp_text_add(text, "}");
}

// key: with the opening bracket.
static void put_list(pp_text *text, const char *key, int count, const double *value)
{
    pp_text_add(text, key);
    for (int k = 0; k < count; k++) {
        pp_text_add(text, k > 0 ? ", " : "");
        pp_text_number(text, value[k]);
    }
    pp_text_add(text, "]");
}

// Pose and velocity of each body at the end: numbers that a test can compare.
static void put_final(pp_text *text, const perp_sim *sim)
{
    pp_text_add(text, ",\n \"final\": {");
    for (int i = 1; i < sim->model->bodies; i++) {
        // In the plane x, y, one angle and one rate; in space vectors and a quaternion.
        const pp_frame *f = &sim->frames[i];
        pp_text_add(text, i > 1 ? ",\n  " : "\n  ");
        pp_text_quoted(text, sim->model->body[i].name);
        const double p[3] = {f->p.x, f->p.y, f->p.z}, v[3] = {f->v.x, f->v.y, f->v.z};
        const double q[4] = {f->rot.w, f->rot.x, f->rot.y, f->rot.z};
        const double w[3] = {f->w.x, f->w.y, f->w.z};
        bool spatial = sim->model->spatial;
        put_list(text, ": {\"position\": [", spatial ? 3 : 2, p);
        put_list(text, ", \"rotation\": [", spatial ? 4 : 1, spatial ? q : &f->angle);
        put_list(text, ", \"velocity\": [", spatial ? 3 : 2, v);
        put_list(text, ", \"spin\": [", spatial ? 3 : 1, spatial ? w : &w[2]);
        pp_text_add(text, "}");
    }
    pp_text_add(text, "}");
}

// The text belongs to the record, until it is asked for again.
const char *perp_record_summary_text(perp_record *record, const perp_sim *sim)
{
    if (!record || !sim || sim->given != record->model) {
        return NULL;
    }
    pp_text *text = &record->summary;
    perp_summary sum = perp_record_summary(record);
    // Hexadecimal: JSON numbers are doubles, which do not hold 64 bits.
    char hash[24];
    pp_text_clear(text);
    put_head(text, record, sim);
    pp_text_add(text, ",\n \"wall_s\": ");
    pp_text_number(text, sum.seconds);
    pp_text_member(text, "us_per_step_median", 1e6 * sum.step_seconds);
    pp_text_add(text, ",\n \"seconds\": {\"stepping\": ");
    pp_text_number(text, sum.seconds_steps);
    pp_text_member(text, "certifying", sum.seconds_certify);
    pp_text_member(text, "recording", sum.seconds_record);
    pp_text_add(text, "}");
    put_certificate(text, &sum);
    if (sim->def.accuracy > 0.0) {
        put_accuracy(text, sim, &sum);
    }
    put_answers(text, &sum);
    put_final(text, sim);
    pp_print(hash, sizeof hash, "%016llx", (unsigned long long)perp_sim_state_hash(sim));
    pp_text_named(text, "hash", hash);
    pp_text_add(text, "}\n");
    // NULL: memory is out.
    return text->failed ? NULL : text->data;
}
