// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The server of a live view beside connections that say nothing, and its end.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/shell.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IDLE = 200, PATIENCE = 8 };  // connections; [s]

static folder place;

typedef struct server {
    pid_t process;
    int port;
    char path[64];  // with the word that lets one in
} server;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// perp view in the background; false: this perp has no live view.
static bool begin(server *s)
{
    int out[2];
    char text[400] = "";
    shell_file(&place, "fall.json",
               "{\"step\": 0.01, \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1}]}");
    assert_int_equal(pipe(out), 0);
    s->process = fork();
    if (s->process == 0) {
        dup2(out[1], 1);
        close(out[0]);
        close(out[1]);
        if (chdir(place.path) == 0) {
            execl(PERP_CLI, "perp", "view", "fall.json", "-q", "--run", (char *)NULL);
        }
        _exit(99);
    }
    close(out[1]);
    FILE *lines = fdopen(out[0], "r");
    assert_non_null(lines);
    bool told = fgets(text, sizeof text, lines) != NULL;
    fclose(lines);
    const char *path = told ? strstr(text, "/?k=") : NULL;
    if (!path) {
        waitpid(s->process, NULL, 0);
        return false;
    }
    s->port = (int)strtol(strrchr(text, ':') + 1, NULL, 10);
    snprintf(s->path, sizeof s->path, "%.*s", (int)strcspn(path, "\n"), path);
    return true;
}

static int reach(const server *s)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval wait = {.tv_sec = PATIENCE};
    int c = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(c >= 0);
    setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(c, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (connect(c, (struct sockaddr *)&to, sizeof to) != 0) {
        close(c);
        return -1;
    }
    return c;
}

// What the server says to a request for the page, as far as one read goes.
static double ask(const server *s, char *text, size_t size)
{
    double start = seconds();
    int c = reach(s);
    text[0] = '\0';
    if (c >= 0) {
        char request[200];
        int length = snprintf(request, sizeof request,
                              "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", s->path, s->port);
        ssize_t got = send(c, request, (size_t)length, MSG_NOSIGNAL) == length
                          ? recv(c, text, size - 1, 0)
                          : 0;
        text[got > 0 ? got : 0] = '\0';
        close(c);
    }
    return seconds() - start;
}

static void idle_connections_silence_nobody(void **state)
{
    (void)state;
    server s;
    char text[1000];
    int idle[IDLE];
    if (!begin(&s)) {
        print_message("skipped: this perp was built without the live view\n");
        return;
    }
    ask(&s, text, sizeof text);
    assert_non_null(strstr(text, "200 OK"));
    for (int k = 0; k < IDLE; k++) {
        idle[k] = reach(&s);
    }
    double waited = ask(&s, text, sizeof text);
    print_message("beside %d connections that say nothing: %.2f s\n", IDLE, waited);
    assert_non_null(strstr(text, "200 OK"));
    // Half a request is no more than none.
    for (int k = 0; k < IDLE; k++) {
        (void)!send(idle[k], "GET /", 5, MSG_NOSIGNAL);
    }
    ask(&s, text, sizeof text);
    assert_non_null(strstr(text, "200 OK"));
    // They are let go in the end, not kept.
    double start = seconds();
    int open = IDLE;
    while (open > 0 && seconds() - start < 30.0) {
        open = 0;
        for (int k = 0; k < IDLE; k++) {
            char byte[64];
            ssize_t got = idle[k] >= 0 ? recv(idle[k], byte, sizeof byte, MSG_DONTWAIT) : 0;
            open += got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    assert_int_equal(open, 0);
    for (int k = 0; k < IDLE; k++) {
        close(idle[k]);
    }
    kill(s.process, SIGTERM);
    int status = 0;
    waitpid(s.process, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// The recording that nobody saved is gone, and nothing else is left behind.
static void signals_end_it(void **state)
{
    (void)state;
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    for (int k = 0; k < 3; k++) {
        server s;
        if (!begin(&s)) {
            print_message("skipped: this perp was built without the live view\n");
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        kill(s.process, numbers[k]);
        int status = 0;
        waitpid(s.process, &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        shell_says(&place, PERP_CLI, "ls @ | wc -l", 0, "1\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_connections_silence_nobody),
        cmocka_unit_test(signals_end_it),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
