// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp check: a recorded run judged again, from its recording alone.
#include "cli.h"

#include <string.h>

static void print_item(const perp_check_result *item)
{
    if (!item->done) {
        printf("  %-22s %10s       not judged: %s\n", item->name, "-", item->why);
        return;
    }
    printf("  %-22s %10.2e %-4s %9.2e of its limit", item->name, item->worst, item->unit,
           item->over);
    if (item->worst > 0.0) {
        printf("  at t = %.9g s%s%s", item->t, item->where[0] ? ", " : "", cli_plain(item->where));
    }
    printf("%s\n", item->over <= 1.0 ? "" : "  VIOLATED");
}

// What could not be judged is said: a run is passed only where all of it was.
static const char *verdict_of(const perp_check *check)
{
    if (!check->passed) {
        return "violated";
    }
    return check->partly ? "partly judged" : "passed";
}

// The run's own end: a step that nobody solved leaves no frame, only an event.
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
           info->complete ? "" : "; the recording is incomplete: its run did not end");
    if (ended_unsolved(info)) {
        printf("remark      the run ended with a step that was not solved\n");
    }
    printf("verdict     %s%s\n", verdict_of(check),
           info->frames > 1 ? "" : ": there is no step to judge");
    if (check->divided > 0) {
        printf("divided     %d steps were taken in parts: of these only places are judged\n",
               check->divided);
    }
    for (int k = 0; k < PERP_CHECK_COUNT; k++) {
        print_item(&check->item[k]);
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
    printf(", \"frames\": %d, \"complete\": %s, \"unsolved\": %s, \"divided\": %d, \"verdict\": "
           "\"%s\",\n \"items\": {",
           info->frames, info->complete ? "true" : "false", ended_unsolved(info) ? "true" : "false",
           check->divided, verdict_of(check));
    for (int k = 0; k < PERP_CHECK_COUNT; k++) {
        fputs(k > 0 ? ",\n  " : "\n  ", stdout);
        print_json_item(&check->item[k]);
    }
    printf("}}\n");
}

// Whose limits judge: those of this program, or those that the file brings along.
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
