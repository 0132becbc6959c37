// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp view: runs a scene live in the browser, or writes the replay of a recording.
#include "live.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct view_options {
    const char *file, *base, *keyframe;
    const char *word[REPLAY_RUNS];  // file is the first
    int words;
    double megabytes;
    int port;
    bool run, open, quiet;
    perp_scene_load_options reading;
} view_options;

// Opens the default browser, if there is one.
static void open_browser(const char *what)
{
    if (fork() == 0) {
        execlp("xdg-open", "xdg-open", what, (char *)NULL);
        _exit(127);
    }
}

static bool is_recording(const char *path)
{
    struct stat about;
    size_t length = strlen(path);
    return (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) ||
           (length >= 3 && strcmp(path + length - 3, ".h5") == 0);
}

// Several runs are compared in a page of their own.
static cli_exit view_recording(const view_options *o)
{
    char dir[4096], path[4200];
    bool several = o->words > 1;
    if (o->base && !several) {
        return cli_complain("view: -o names the page of several recordings, or the recordings of a "
                            "live scene");
    }
    cli_recording_dir(o->file, dir, sizeof dir);
    if (o->base) {
        snprintf(path, sizeof path, "%s", o->base);
    } else {
        snprintf(path, sizeof path, "%s/%s", dir, several ? "compare.html" : "replay.html");
    }
    cli_exit code = cli_replay_write_of("view", o->word, o->words, path, o->megabytes, o->quiet);
    if (code == CLI_FINE && o->open) {
        open_browser(path);
    }
    return code;
}

#if defined(PERP_WITH_LIVE)
static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = number;
}

static cli_exit serve(live_sim *live, const view_options *o)
{
    size_t size = 0;
    char *page = live_sim_page(live, &size);
    if (!page) {
        return CLI_OUTPUT;
    }
    live_server *server = live_server_start(live->board, page, size, o->port);
    if (!server) {
        free(page);
        cli_complain("view: cannot listen on port %d of 127.0.0.1", o->port);
        return CLI_OUTPUT;
    }
    if (!o->quiet) {
        printf("scene       %s\nopen        %s\n", cli_plain(perp_scene_name(live->scene)),
               live_server_url(server));
        printf("stop        close the page, or press Ctrl-C\n");
    } else {
        printf("%s\n", live_server_url(server));
    }
    fflush(stdout);
    if (o->open) {
        open_browser(live_server_url(server));
    }
    live->running = o->run;
    (void)!live_sim_tell(live);
    (void)!live_sim_publish(live);
    live_sim_run(live);
    live_server_stop(server);
    free(page);
    return CLI_FINE;
}

static cli_exit view_scene(const view_options *o)
{
    live_board *board = calloc(1, sizeof *board);
    live_sim live;
    if (!board || !live_board_start(board)) {
        free(board);
        cli_complain("view: not enough memory");
        return CLI_OUTPUT;
    }
    cli_catch(interrupt);
    cli_exit code =
        live_sim_open(&live, o->file, &o->reading, o->keyframe, o->base, board, &interrupted);
    if (code == CLI_FINE) {
        code = serve(&live, o);
    }
    live_sim_close(&live);
    live_board_end(board);
    free(board);
    return code;
}
#endif

cli_exit cli_view(int count, char **words)
{
    size_t size;
    view_options o = {.megabytes = perp_replay_default().megabytes,
                      .reading = perp_scene_load_options_default()};
    const cli_option options[] = {
        {"-o", CLI_TEXT, &o.base, NULL},
        {"--keyframe", CLI_TEXT, &o.keyframe, NULL},
        {"--port", CLI_COUNT, &o.port, NULL},
        {"--run", CLI_FLAG, &o.run, NULL},
        {"--open", CLI_FLAG, &o.open, NULL},
        {"-q", CLI_FLAG, &o.quiet, NULL},
        {"--replay-mb", CLI_POSITIVE, &o.megabytes, NULL},
        CLI_READING(o.reading),
    };
    if (cli_wants_help("view", count, words)) {
        return CLI_FINE;
    }
    const cli_words room = {o.word, REPLAY_RUNS, &o.words, NULL};
    cli_exit code = cli_options_parse_words("view", count, words, options,
                                            sizeof options / sizeof options[0], &room);
    if (code == CLI_FINE && o.words == 0) {
        code = cli_complain("view: missing file name: see 'perp help view'");
    }
    if (code != CLI_FINE) {
        return code;
    }
    o.file = o.word[0];
    if (!cli_page(&size)) {
        return cli_no_page("view");
    }
    if (is_recording(o.file)) {
        return view_recording(&o);
    }
    if (o.words > 1) {
        return cli_complain("view: '%s' is not a recording: one scene at a time", o.file);
    }
#if defined(PERP_WITH_LIVE)
    return view_scene(&o);
#else
    return cli_complain("view: perp was built without the live view, which needs civetweb "
                        "(libcivetweb-dev); 'perp run' writes a replay");
#endif
}
