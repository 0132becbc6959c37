// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp check: verifies a recorded run from its recording alone.
#include "cli.h"

#include <string.h>

// Labels of the text output; items not listed here are printed under their names, which are the keys of --json.
static const char *const label[PERP_CHECK_COUNT] = {
    [PERP_CHECK_PULL] = "pulling contact",      [PERP_CHECK_PUSH] = "force at an open gap",
    [PERP_CHECK_CLOSE] = "unresolved approach", [PERP_CHECK_CONTACT] = "recorded contacts",
    [PERP_CHECK_RECORD] = "recorded data",
};

static void print_item(const perp_check_result *item, const char *name)
{
    if (!item->done) {
        printf("  %-22s %10s       not judged: %s\n", name, "-", item->why);
        return;
    }
    printf("  %-22s %10.2e %-4s %9.2e of limit", name, item->worst, item->unit, item->over);
    if (item->worst > 0.0) {
        printf("  at t = %.9g s%s%s", item->t, item->where[0] ? ", " : "", cli_plain(item->where));
    }
    printf("%s\n", item->over <= 1.0 ? "" : "  VIOLATED");
}

// A run passes only if all of it was judged, and there was something to judge.
static const char *verdict_of(const perp_recording_info *info, const perp_check *check)
{
    if (!check->passed) {
        return "violated";
    }
    if (info->frames < 2) {
        return "empty";
    }
    return check->partly ? "partly judged" : "passed";
}

// An unsolved step leaves no frame, only an event.
static bool ended_unsolved(const perp_recording_info *info)
{
    return strstr(info->events, "\"event\": \"unsolved\"") ||
           strstr(info->events, "\"event\": \"jam\"");
}

static void print_text(const perp_recording_info *info, const perp_check *check)
{
    printf("scene       %s\n", cli_plain(info->name));
    printf("method      %s, form %s, solver %s, h = %g s\n", perp_stepper_word((int)info->stepper),
           perp_form_word((int)info->form), cli_plain(info->solver), info->h);
    printf("frames      %d%s\n", info->frames,
           info->complete ? "" : "; the recording is incomplete: the run did not finish");
    if (ended_unsolved(info)) {
        printf("note        the run ended with an unsolved step\n");
    }
    printf("verdict     %s%s\n", verdict_of(info, check),
           info->frames > 1 ? "" : ": there is no step to judge");
    if (check->divided > 0) {
        printf("divided     %d step%s taken in parts: only positions are judged\n", check->divided,
               check->divided == 1 ? " was" : "s were");
    }
    if (check->placed > 0) {
        printf(
            "placed      %d step%s from a state that the program set: only positions are judged\n",
            check->placed, check->placed == 1 ? " starts" : "s start");
    }
    for (int k = 0; k < PERP_CHECK_COUNT; k++) {
        print_item(&check->item[k], label[k] ? label[k] : check->item[k].name);
    }
}

static void print_json_item(const perp_check_result *item)
{
    cli_json_string(stdout, item->name);
    printf(": {\"judged\": %s, \"worst\": ", item->done ? "true" : "false");
    cli_json_number(stdout, item->worst);
    printf(", \"limit\": ");
    cli_json_number(stdout, item->limit);
    printf(", \"unit\": ");
    cli_json_string(stdout, item->unit);
    printf(", \"t\": ");
    cli_json_number(stdout, item->t);
    printf(", \"where\": ");
    cli_json_string(stdout, item->where);
    printf(", \"why\": ");
    cli_json_string(stdout, item->why);
    putchar('}');
}

static void print_json(const perp_recording_info *info, const perp_check *check)
{
    printf("{\"scene\": ");
    cli_json_string(stdout, info->name);
    printf(", \"frames\": %d, \"complete\": %s, \"unsolved\": %s, \"divided\": %d, "
           "\"placed\": %d, \"verdict\": "
           "\"%s\",\n \"items\": {",
           info->frames, info->complete ? "true" : "false", ended_unsolved(info) ? "true" : "false",
           check->divided, check->placed, verdict_of(info, check));
    for (int k = 0; k < PERP_CHECK_COUNT; k++) {
        fputs(k > 0 ? ",\n  " : "\n  ", stdout);
        print_json_item(&check->item[k]);
    }
    printf("}}\n");
}

// Which limits apply: those of this program, or those in the recording.
enum { LIMITS_PROGRAM, LIMITS_RECORDED };

static const char *limits_word(int k)
{
    static const char *const words[] = {"program", "recorded"};
    return k >= 0 && k < 2 ? words[k] : NULL;
}

cli_exit cli_check(int count, char **words)
{
    const char *dir = NULL;
    bool json = false, quiet = false;
    int limits = LIMITS_PROGRAM;
    const cli_option options[] = {{"--json", CLI_FLAG, &json, NULL},
                                  {"--limits", CLI_WORD, &limits, limits_word},
                                  {"-q", CLI_FLAG, &quiet, NULL}};
    perp_recording *recording = NULL;
    if (cli_wants_help("check", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = cli_options_parse("check", count, words, options, 3, &dir, 1);
    if (code == CLI_FINE) {
        code = cli_recording_open(dir, &recording);
    }
    if (code != CLI_FINE) {
        return code;
    }
    perp_check check;
    perp_error error = {0};
    const perp_limits *own =
        limits == LIMITS_RECORDED ? &perp_recording_about(recording)->limits : NULL;
    if (perp_recording_check(recording, own, &check, &error) < 0) {
        code = cli_complain("%s", error.text);
    } else {
        if (json) {
            print_json(perp_recording_about(recording), &check);
        } else if (!quiet) {
            print_text(perp_recording_about(recording), &check);
        }
        code = check.passed ? CLI_FINE : CLI_VIOLATED;
    }
    perp_recording_close(recording);
    return code;
}
