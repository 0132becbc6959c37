// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp explain --loads: the load of each contact, and its range for the same motion.
#include "cli.h"

#include <math.h>

typedef struct load {
    const char *a, *b;
    double force, least, most;  // [N]
} load;

static bool load_of(const perp_sim *sim, int i, double h, load *out)
{
    int count;
    const perp_contact *contact = &perp_sim_contacts(sim, &count)[i];
    const perp_model *model = perp_sim_model(sim);
    double least, most;
    *out = (load){perp_model_shape_name(model, contact->a),
                  perp_model_shape_name(model, contact->b), contact->pn / h, 0.0, 0.0};
    if (perp_sim_load_range(sim, i, &least, &most) < 0) {
        return false;
    }
    out->least = least / h;
    out->most = most / h;
    return true;
}

static void put_number(FILE *out, double value)
{
    if (isfinite(value)) {
        fprintf(out, "%.9g", value);
    } else {
        fputs("null", out);  // unbounded
    }
}

static void put_line(FILE *out, const load *l, bool json, bool first)
{
    if (!json) {
        fprintf(out, "  %-20.20s %-20.20s %12.6g %12.6g %12.6g\n", cli_plain(l->a), cli_plain(l->b),
                l->force, l->least, l->most);
        return;
    }
    fputs(first ? "\n  {\"a\": " : ",\n  {\"a\": ", out);
    cli_json_string(out, l->a);
    fputs(", \"b\": ", out);
    cli_json_string(out, l->b);
    fputs(", \"force\": ", out);
    put_number(out, l->force);
    fputs(", \"least\": ", out);
    put_number(out, l->least);
    fputs(", \"most\": ", out);
    put_number(out, l->most);
    putc('}', out);
}

bool explain_loads(FILE *out, const perp_sim *sim, double h, bool json)
{
    int count, columns, rank;
    load l;
    perp_sim_contacts(sim, &count);
    if (perp_sim_active_set(sim, &columns, &rank) < 0) {
        return false;
    }
    if (json) {
        fprintf(out, "{\"columns\": %d, \"rank\": %d, \"loads\": [", columns, rank);
    } else {
        fprintf(out, "%d impulses (joints, closed contacts, sticking friction), rank %d: %s\n",
                columns, rank, rank < columns ? "not unique" : "determined by the motion");
        fprintf(out, "  %-20s %-20s %12s %12s %12s\n", "shape", "shape", "force [N]", "min [N]",
                "max [N]");
    }
    for (int i = 0; i < count; i++) {
        if (!load_of(sim, i, h, &l)) {
            return false;
        }
        put_line(out, &l, json, i == 0);
    }
    if (json) {
        fputs("]}\n", out);
    }
    return true;
}
