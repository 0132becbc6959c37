// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Chromium without a window. It reads messages from its descriptor 3 and writes them to 4: JSON, each ended by a zero
// byte (--remote-debugging-pipe).
#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
    PATH_ROOM = 4096,
    SILENCE = 120,    // seconds without an answer after which it is given up
    GONE = 5,         // seconds that its processes have to end once they are killed
    SOCKET_ROOM = 50  // bytes of a path of a socket, at most 107, that Chromium adds to TMPDIR
};

struct cli_browser {
    const char *verb;
    pid_t pid;
    int to, from;  // pipes
    char log[PATH_ROOM];
    char *text;  // what was read and not yet taken
    size_t used, room;
    char *session;  // of the page; NULL: none yet
    int last;       // number of the last request
    bool loud, failed;
    const volatile sig_atomic_t *stop;
};

// ── Finding it ───────────────────────────────────────────────────────────────────────────────────

// The first program of these names on the search path.
static bool on_path(const char *name, char *path, size_t size)
{
    const char *from = getenv("PATH");
    while (from && *from) {
        size_t length = strcspn(from, ":");
        int used = snprintf(path, size, "%.*s/%s", (int)length, from, name);
        if (length > 0 && used > 0 && (size_t)used < size && access(path, X_OK) == 0) {
            return true;
        }
        from += length + (from[length] == ':');
    }
    return false;
}

static bool find_browser(char *path, size_t size)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome",
                                        "google-chrome-stable", "chrome"};
    const char *asked = getenv("PERP_BROWSER");
    if (asked && asked[0]) {
        int used = snprintf(path, size, "%s", asked);
        return used > 0 && (size_t)used < size && access(path, X_OK) == 0;
    }
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (on_path(names[k], path, size)) {
            return true;
        }
    }
    return false;
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────

// The last line that the browser printed, as the reason.
static void last_words(const cli_browser *b, char *text, size_t size)
{
    FILE *file = fopen(b->log, "r");
    char line[400];
    text[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0]) {
            snprintf(text, size, ": %s", line);
        }
    }
    if (file) {
        fclose(file);
    }
}

// One complaint is enough.
static void give_up(cli_browser *b, const char *why)
{
    char words[500];
    if (b->failed) {
        return;
    }
    b->failed = true;
    last_words(b, words, sizeof words);
    cli_complain("%s: %s%s", b->verb, why, words);
}

static bool send_text(cli_browser *b, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t sent = write(b->to, text, size);
        if (sent < 0 && errno == EINTR && !*b->stop) {
            continue;
        }
        if (sent <= 0) {
            give_up(b, "the browser ended");
            return false;
        }
        text += sent;
        size -= (size_t)sent;
    }
    return true;
}

// The number of the request, 0: it could not be sent. Takes over params.
static int request(cli_browser *b, const char *method, json_t *params)
{
    json_t *message = json_pack("{s:i, s:s, s:o}", "id", ++b->last, "method", method, "params",
                                params ? params : json_object());
    if (message && b->session) {
        json_object_set_new(message, "sessionId", json_string(b->session));
    }
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    bool sent = text && send_text(b, text, strlen(text) + 1);  // with the zero
    free(text);
    json_decref(message);
    return sent ? b->last : 0;
}

// More bytes into the buffer; 0: the time is over, -1: the browser has ended, or a signal came.
static int read_more(cli_browser *b, int milliseconds)
{
    struct pollfd wait = {.fd = b->from, .events = POLLIN};
    int ready = poll(&wait, 1, milliseconds);
    if (*b->stop) {
        b->failed = true;  // no complaint: the user knows
        return -1;
    }
    if (ready <= 0) {
        return ready < 0 && errno != EINTR ? -1 : 0;
    }
    if (b->room - b->used < 65536) {
        char *more = realloc(b->text, 2 * b->room + 131072);
        if (!more) {
            give_up(b, "not enough memory");
            return -1;
        }
        b->text = more;
        b->room = 2 * b->room + 131072;
    }
    ssize_t got = read(b->from, b->text + b->used, b->room - b->used);
    if (got <= 0) {
        give_up(b, "the browser ended");
        return -1;
    }
    b->used += (size_t)got;
    return 1;
}

// The next message, or NULL: none within this time (then *alive), or the end.
static json_t *receive(cli_browser *b, int milliseconds, bool *alive)
{
    *alive = true;
    // Only new bytes can hold the end of a message.
    size_t seen = 0;
    for (;;) {
        char *end = memchr(b->text + seen, '\0', b->used - seen);
        if (end) {
            size_t length = (size_t)(end - b->text) + 1;
            json_t *message = json_loads(b->text, 0, NULL);
            memmove(b->text, b->text + length, b->used - length);
            b->used -= length;
            return message ? message : json_object();
        }
        seen = b->used;
        int got = read_more(b, milliseconds);
        if (got <= 0) {
            *alive = got == 0;
            return NULL;
        }
    }
}

// ── Requests and answers ─────────────────────────────────────────────────────────────────────────

static json_t *evaluation(const char *expression)
{
    return json_pack("{s:s, s:b, s:b}", "expression", expression, "awaitPromise", 1,
                     "returnByValue", 1);
}

static const char *text_in(const json_t *message, const char *const *keys)
{
    for (; *keys && message; keys++) {
        message = json_object_get(message, *keys);
    }
    return json_string_value(message);
}

// Shows what the watch expression returned.
static void show(const cli_browser *b, const json_t *message)
{
    static const char *const value[] = {"result", "result", "value", NULL};
    const char *text = text_in(message, value);
    if (b->loud && text && text[0]) {
        fprintf(stderr, "\r%-40.40s", cli_plain(text));
        fflush(stderr);
    }
}

// The answer to a request; events are dropped. watch: asked once a second meanwhile. NULL after an error message.
static json_t *answer(cli_browser *b, int id, const char *watch)
{
    double heard = cli_seconds();
    int watching = 0;
    while (id > 0) {
        bool alive;
        json_t *message = receive(b, 1000, &alive);
        if (!alive) {
            give_up(b, "the browser ended");
            return NULL;
        }
        if (!message) {
            if (cli_seconds() - heard > SILENCE) {
                give_up(b, "the browser does not answer");
                return NULL;
            }
            if (watch && watching == 0) {
                watching = request(b, "Runtime.evaluate", evaluation(watch));
            }
            continue;
        }
        heard = cli_seconds();
        int number = (int)json_integer_value(json_object_get(message, "id"));
        if (number == id) {
            return message;
        }
        if (number > 0 && number == watching) {
            watching = 0;
            show(b, message);
        }
        json_decref(message);
    }
    return NULL;
}

// The value in an answer, which is released; NULL: *fault has the reason, also to be released.
static json_t *value_of(json_t *message, char **fault)
{
    static const char *const failed[] = {"error", "message", NULL};
    static const char *const thrown[] = {"result", "exceptionDetails", "exception", "description",
                                         NULL};
    const char *reason = text_in(message, failed);
    reason = reason ? reason : text_in(message, thrown);
    *fault = reason ? strndup(reason, strcspn(reason, "\n")) : NULL;
    json_t *value = NULL;
    if (!reason) {
        value =
            json_object_get(json_object_get(json_object_get(message, "result"), "result"), "value");
        json_incref(value);
        *fault = value ? NULL : strdup("the page gave no value");
    }
    json_decref(message);
    return value;
}

json_t *cli_browser_evaluate(cli_browser *b, const char *expression, const char *watch)
{
    char *fault = NULL;
    json_t *message = answer(b, request(b, "Runtime.evaluate", evaluation(expression)), watch);
    if (b->loud && watch) {
        fprintf(stderr, "\r%-40s\r", "");
    }
    if (!message) {
        return NULL;
    }
    json_t *value = value_of(message, &fault);
    if (!value && !b->failed) {
        const char *text = fault ? fault : "not enough memory";
        b->failed = true;
        cli_complain("%s: %s", b->verb, strncmp(text, "Error: ", 7) == 0 ? text + 7 : text);
    }
    free(fault);
    return value;
}

// A page of its own; its session takes the requests from then on.
static bool attach(cli_browser *b, const char *url)
{
    static const char *const target[] = {"result", "targetId", NULL};
    static const char *const session[] = {"result", "sessionId", NULL};
    json_t *made =
        answer(b, request(b, "Target.createTarget", json_pack("{s:s}", "url", url)), NULL);
    const char *id = text_in(made, target);
    json_t *joined = NULL;
    if (id) {
        json_t *params = json_pack("{s:s, s:b}", "targetId", id, "flatten", 1);
        joined = answer(b, request(b, "Target.attachToTarget", params), NULL);
    }
    const char *name = text_in(joined, session);
    b->session = name ? strdup(name) : NULL;
    json_decref(made);
    json_decref(joined);
    return b->session != NULL;
}

// While a page loads, expressions may fail: its world is replaced.
bool cli_browser_open(cli_browser *b, const char *url, const char *ready)
{
    double until = cli_seconds() + SILENCE;
    if (!attach(b, url)) {
        give_up(b, "the browser opens no page");
        return false;
    }
    while (cli_seconds() < until) {
        char *fault = NULL;
        json_t *message = answer(b, request(b, "Runtime.evaluate", evaluation(ready)), NULL);
        if (!message) {
            return false;
        }
        json_t *value = value_of(message, &fault);
        bool done = json_is_true(value);
        json_decref(value);
        free(fault);
        if (done) {
            return true;
        }
        (void)poll(NULL, 0, 30);
    }
    give_up(b, "the page does not start");
    return false;
}

// ── The process ──────────────────────────────────────────────────────────────────────────────────

// In the child: descriptors 3 and 4 are the pipes, output goes to the log. A group of its own, so that all its processes
// can be ended.
static void become_browser(const char *path, const char *folder, const char *log, int in, int out)
{
    char profile[PATH_ROOM + 32];
    int low = fcntl(in, F_DUPFD, 10), high = fcntl(out, F_DUPFD, 10);
    int messages = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int nothing = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    // What it makes beside its profile is also deleted with the folder.
    if (strlen(folder) + SOCKET_ROOM < 107) {
        setenv("TMPDIR", folder, 1);
    }
    if (low < 0 || high < 0 || messages < 0 || nothing < 0 || dup2(low, 3) < 0 ||
        dup2(high, 4) < 0 || dup2(nothing, 0) < 0 || dup2(messages, 1) < 0 ||
        dup2(messages, 2) < 0) {
        _exit(126);
    }
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", folder);
    // Without a sandbox only where Chromium refuses to start with one: as root.
    execl(path, path, "--headless", "--remote-debugging-pipe", profile, "--disable-gpu",
          "--no-first-run", "--no-default-browser-check", "--disable-extensions",
          "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--disable-dev-shm-usage", "--disable-background-timer-throttling",
          "--disable-renderer-backgrounding", "--hide-scrollbars", "--mute-audio",
          geteuid() == 0 ? "--no-sandbox" : "--no-pings", "about:blank", (char *)NULL);
    _exit(127);
}

static bool launch(cli_browser *b, const char *path, const char *folder)
{
    int in[2], out[2];
    if (pipe(in) != 0) {
        return false;
    }
    if (pipe(out) != 0) {
        close(in[0]);
        close(in[1]);
        return false;
    }
    // Ends that the child must not keep.
    fcntl(in[1], F_SETFD, FD_CLOEXEC);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
#ifdef __linux__
    // Processes whose parents end become children of this one, which can then wait for all of them.
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
#endif
    b->pid = fork();
    if (b->pid == 0) {
        become_browser(path, folder, b->log, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    b->to = in[1];
    b->from = out[0];
    return b->pid > 0;
}

cli_browser *cli_browser_start(const char *verb, const char *folder, bool loud,
                               const volatile sig_atomic_t *stop)
{
    char path[PATH_ROOM];
    if (!find_browser(path, sizeof path)) {
        const char *asked = getenv("PERP_BROWSER");
        if (asked && asked[0]) {
            cli_complain("%s: PERP_BROWSER: there is no program '%s'", verb, asked);
        } else {
            cli_complain("%s: Chromium was not found: install the package 'chromium', or set "
                         "PERP_BROWSER to the program",
                         verb);
        }
        return NULL;
    }
    cli_browser *b = calloc(1, sizeof *b);
    if (!b) {
        cli_complain("%s: not enough memory", verb);
        return NULL;
    }
    *b = (cli_browser){.verb = verb, .to = -1, .from = -1, .room = 131072, .stop = stop};
    b->loud = loud && isatty(STDERR_FILENO);
    b->text = malloc(b->room);
    int used = snprintf(b->log, sizeof b->log, "%s/messages", folder);
    if (!b->text || used < 0 || (size_t)used >= sizeof b->log || !launch(b, path, folder)) {
        cli_complain("%s: cannot start '%s': %s", verb, path, strerror(errno));
        cli_browser_stop(b);
        return NULL;
    }
    return b;
}

// Waits for the browser and all its processes: until then they write into its folder. Its crash handlers are outside of
// the group, and end when they have lost the others.
static void kill_all(pid_t pid)
{
    double until = cli_seconds() + GONE;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);  // if it has no group yet
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    while (cli_seconds() < until) {
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0 && errno != EINTR) {
            return;  // there are none
        }
        if (ended == 0) {
            (void)poll(NULL, 0, 2);
        }
    }
}

void cli_browser_stop(cli_browser *b)
{
    if (!b) {
        return;
    }
    if (b->pid > 0) {
        kill_all(b->pid);
    }
    if (b->to >= 0) {
        close(b->to);
        close(b->from);
    }
    free(b->session);
    free(b->text);
    free(b);
}

// ── Its folder ───────────────────────────────────────────────────────────────────────────────────

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

// Where processes could not be waited for, they may still write: once more.
void cli_folder_remove(const char *folder)
{
    for (int k = 0; k < 5 && access(folder, F_OK) == 0; k++) {
        (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        if (access(folder, F_OK) == 0) {
            (void)poll(NULL, 0, 100);
        }
    }
}
