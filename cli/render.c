// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp render: a picture or film of a recorded run, drawn by the viewer's page in Chromium without a window.
#include "browser.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE_LEAST = 16, SIDE_MOST = 4096, PATH_ROOM = 4096 };

typedef struct render_options {
    const char *word[REPLAY_RUNS];  // recordings
    int words;
    const char *output, *size, *camera, *view;
    double fps, speed, at, from, to, hold, megabytes;  // negative: not given
    bool quiet;
    int width, height;
    const char *format;
    double eye[3];
    int eyes;
} render_options;

static volatile sig_atomic_t stop;

static void interrupt(int number)
{
    stop = number;
}

// ── Options ──────────────────────────────────────────────────────────────────────────────────────

static const char *format_of(const char *path)
{
    static const char *const formats[] = {"png", "gif", "webm"};
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < sizeof formats / sizeof formats[0]; k++) {
        if (strcmp(dot + 1, formats[k]) == 0) {
            return formats[k];
        }
    }
    return NULL;
}

// As in 1280x720.
static bool read_size(const char *text, int *width, int *height)
{
    char *end = NULL;
    long w = strtol(text, &end, 10);
    if (end == text || (*end != 'x' && *end != 'X')) {
        return false;
    }
    const char *rest = end + 1;
    long h = strtol(rest, &end, 10);
    bool fine = end != rest && !*end && w >= SIDE_LEAST && h >= SIDE_LEAST && w <= SIDE_MOST &&
                h <= SIDE_MOST;
    if (fine) {
        *width = (int)w;
        *height = (int)h;
    }
    return fine;
}

// Two or three numbers, separated by commas.
static int read_camera(const char *text, double eye[3])
{
    for (int k = 0; k < 3; k++) {
        char *end = NULL;
        eye[k] = strtod(text, &end);
        if (end == text || !isfinite(eye[k])) {
            return 0;
        }
        if (!*end) {
            return k + 1 >= 2 && (k < 2 || eye[2] > 0.0) ? k + 1 : 0;
        }
        if (*end != ',') {
            return 0;
        }
        text = end + 1;
    }
    return 0;
}

static cli_exit check_options(render_options *o)
{
    o->output = o->output ? o->output : "film.webm";
    o->format = format_of(o->output);
    if (!o->format) {
        return cli_complain("render: '%s': the name of the output ends with .png, .gif or .webm",
                            o->output);
    }
    if (o->size && !read_size(o->size, &o->width, &o->height)) {
        return cli_complain(
            "render: --size: '%s' is not of the form 1280x720, with %d to %d pixels", o->size,
            SIDE_LEAST, SIDE_MOST);
    }
    o->eyes = o->camera ? read_camera(o->camera, o->eye) : 0;
    if (o->camera && o->eyes == 0) {
        return cli_complain("render: --camera: '%s' is not of the form AZIMUTH,ELEVATION[,ZOOM] "
                            "(in a plane X,Y[,ZOOM])",
                            o->camera);
    }
    bool picture = strcmp(o->format, "png") == 0;
    if (picture && (o->from >= 0.0 || o->to >= 0.0 || o->fps > 0.0 || o->speed > 0.0)) {
        return cli_complain("render: a picture has one time: --at");
    }
    if (!picture && o->at >= 0.0) {
        return cli_complain("render: --at is for pictures (.png); a film has --from and --to");
    }
    if (o->fps > 60.0) {
        return cli_complain("render: --fps: at most 60 frames per second");
    }
    return CLI_FINE;
}

// ── The page ─────────────────────────────────────────────────────────────────────────────────────

// A path or fragment as part of an address.
static bool put_escaped(char *out, size_t size, size_t *used, const char *text, const char *keep)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr(keep, c);
        int n = snprintf(out + *used, size - *used, plain ? "%c" : "%%%02X", c);
        if (n < 0 || *used + (size_t)n >= size) {
            return false;
        }
        *used += (size_t)n;
    }
    return true;
}

static bool page_address(const render_options *o, const char *page, char *url, size_t size)
{
    size_t used = (size_t)snprintf(url, size, "file://");
    if (!put_escaped(url, size, &used, page, "-._~/")) {
        return false;
    }
    used += (size_t)snprintf(url + used, size - used, "#paused&strips=0&render=soft&");
    return !o->view || put_escaped(url, size, &used, o->view, "-._~=&,%+");
}

// The call that makes the file.
static char *render_call(const render_options *o)
{
    json_t *wish =
        json_pack("{s:s, s:i, s:i}", "format", o->format, "width", o->width, "height", o->height);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"fps", o->fps},   {"speed", o->speed}, {"at", o->at},
                   {"from", o->from}, {"to", o->to},       {"hold", o->hold}};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        if (numbers[k].value >= 0.0) {
            json_object_set_new(wish, numbers[k].name, json_real(numbers[k].value));
        }
    }
    if (o->eyes > 0) {
        json_t *eye = json_array();
        for (int k = 0; k < o->eyes; k++) {
            json_array_append_new(eye, json_real(o->eye[k]));
        }
        json_object_set_new(wish, "camera", eye);
    }
    char *text = wish ? json_dumps(wish, JSON_COMPACT) : NULL;
    size_t size = text ? strlen(text) + 200 : 0;
    char *call = text ? malloc(size) : NULL;
    if (call) {
        snprintf(call, size,
                 "window.perp.exporter.text({...%s, progress: (k, n) => {window.perpDone = "
                 "`frame ${k + 1} of ${n}`;}})",
                 text);
    }
    free(text);
    json_decref(wish);
    return call;
}

// ── The file ─────────────────────────────────────────────────────────────────────────────────────

static int sextet(char c)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? (int)(at - letters) : -1;
}

// From base64; false: the disk is full, or the like.
static bool write_decoded(FILE *file, const char *text, size_t *bytes)
{
    unsigned held = 0;
    int bits = 0;
    *bytes = 0;
    for (; *text && *text != '='; text++) {
        int value = sextet(*text);
        if (value < 0) {
            return false;
        }
        held = (held << 6 | (unsigned)value) & 0xffffu;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            if (fputc((int)(held >> bits & 255u), file) == EOF) {
                return false;
            }
            (*bytes)++;
        }
    }
    return true;
}

// Under another name first: no half film remains.
static cli_exit save(const render_options *o, const char *base64)
{
    char part[PATH_ROOM + 8];
    size_t bytes = 0;
    int used = snprintf(part, sizeof part, "%s.part", o->output);
    errno = used > 0 && (size_t)used < sizeof part ? 0 : ENAMETOOLONG;
    FILE *file = errno == 0 ? fopen(part, "wb") : NULL;
    if (!file) {
        cli_complain("render: cannot write '%s': %s", o->output, strerror(errno));
        return CLI_OUTPUT;
    }
    bool whole = write_decoded(file, base64, &bytes);
    whole = fclose(file) == 0 && whole;
    if (!whole || rename(part, o->output) != 0) {
        cli_complain("render: cannot write '%s': %s", o->output, strerror(errno ? errno : EIO));
        remove(part);
        return CLI_OUTPUT;
    }
    if (!o->quiet) {
        printf("%-11s %s (%d x %d, %.0f kB)\n", strcmp(o->format, "png") == 0 ? "picture" : "film",
               cli_plain(o->output), o->width, o->height, (double)bytes / 1000.0);
    }
    return CLI_FINE;
}

// ── The verb ─────────────────────────────────────────────────────────────────────────────────────

static cli_exit film(const render_options *o, const char *folder)
{
    char page[PATH_ROOM + 32], url[3 * PATH_ROOM];
    snprintf(page, sizeof page, "%s/replay.html", folder);
    if (!page_address(o, page, url, sizeof url)) {
        return cli_complain("render: the text of --view is too long");
    }
    cli_browser *browser = cli_browser_start("render", folder, !o->quiet, &stop);
    char *call = browser ? render_call(o) : NULL;
    cli_exit code = CLI_OUTPUT;
    if (call && cli_browser_open(browser, url, "!!window.perp && window.perp.drawn > 0")) {
        json_t *made = cli_browser_evaluate(browser, call, "window.perpDone || ''");
        if (made) {
            code = save(o, json_string_value(made) ? json_string_value(made) : "");
        }
        json_decref(made);
    }
    free(call);
    cli_browser_stop(browser);
    return stop ? CLI_INTERRUPTED : code;
}

// The page goes to a folder of its own: the run's may be read-only, and its replay thinned.
static cli_exit render(const render_options *o)
{
    char folder[PATH_ROOM], page[PATH_ROOM + 32];
    const char *base = getenv("TMPDIR");
    cli_catch(interrupt);  // before there is a folder that an interrupt would leave behind
    int used =
        snprintf(folder, sizeof folder, "%s/perp-render-XXXXXX", base && base[0] ? base : "/tmp");
    if (used < 0 || (size_t)used >= sizeof folder || !mkdtemp(folder)) {
        cli_complain("render: cannot make a folder for the browser: %s", strerror(errno));
        return CLI_OUTPUT;
    }
    snprintf(page, sizeof page, "%s/replay.html", folder);
    cli_exit code = cli_replay_write_of("render", o->word, o->words, page, o->megabytes, true);
    if (code == CLI_FINE) {
        code = film(o, folder);
    }
    cli_folder_remove(folder);
    return code;
}

cli_exit cli_render(int count, char **words)
{
    size_t size;
    render_options o = {.width = 1280,
                        .height = 720,
                        .megabytes = 100.0,
                        .fps = -1.0,
                        .speed = -1.0,
                        .at = -1.0,
                        .from = -1.0,
                        .to = -1.0,
                        .hold = -1.0};
    const cli_option options[] = {
        {"-o", CLI_TEXT, (void *)&o.output, NULL},
        {"--size", CLI_TEXT, (void *)&o.size, NULL},
        {"--fps", CLI_POSITIVE, &o.fps, NULL},
        {"--speed", CLI_POSITIVE, &o.speed, NULL},
        {"--at", CLI_REAL, &o.at, NULL},
        {"--from", CLI_REAL, &o.from, NULL},
        {"--to", CLI_REAL, &o.to, NULL},
        {"--hold", CLI_REAL, &o.hold, NULL},
        {"--camera", CLI_TEXT, (void *)&o.camera, NULL},
        {"--view", CLI_TEXT, (void *)&o.view, NULL},
        {"--replay-mb", CLI_POSITIVE, &o.megabytes, NULL},
        {"-q", CLI_FLAG, &o.quiet, NULL},
    };
    if (cli_wants_help("render", count, words)) {
        return CLI_FINE;
    }
    const cli_words room = {o.word, REPLAY_RUNS, &o.words, NULL};
    cli_exit code = cli_options_parse_words("render", count, words, options,
                                            sizeof options / sizeof options[0], &room);
    if (code == CLI_FINE && o.words == 0) {
        code = cli_complain("render: missing file name: see 'perp help render'");
    }
    if (code == CLI_FINE) {
        code = check_options(&o);
    }
    if (code != CLI_FINE) {
        return code;
    }
    if (!cli_page(&size)) {
        return cli_no_page("render");
    }
    return render(&o);
}
