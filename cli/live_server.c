// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The server of a live view (civetweb): one page and one websocket, for local clients that know a random key. It
// listens on the loopback address only. Pages of other sites cannot use it: a request must have the right Host, a
// websocket the right Origin, and both the key.
#include "live.h"

#include <civetweb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// A connection occupies a worker until its request arrives or times out; each page occupies one. This number leaves
// workers free even if a hundred silent connections arrive per second.
#define WORKERS "240"

enum { KEY_BYTES = 16, OPCODE = 0x0f, FINAL = 0x80 };

struct live_server {
    struct mg_context *context;
    live_board *board;
    const char *page;
    size_t page_size;
    int port;
    char key[2 * KEY_BYTES + 1];
    char url[128];
};

// The last frame and status sent to a page.
typedef struct reader {
    uint64_t frame, status;
    unsigned char *copy;
    size_t room;
} reader;

// ── Access control ──────────────────────────────────────────────────────────────────────────────────────

static bool make_key(char key[2 * KEY_BYTES + 1])
{
    unsigned char bytes[KEY_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (int k = 0; k < KEY_BYTES; k++) {
        snprintf(key + 2 * k, 3, "%02x", bytes[k]);
    }
    return true;
}

// Comparison in constant time.
static bool same_key(const char *given, const char key[2 * KEY_BYTES + 1])
{
    unsigned differ = strlen(given) != 2 * KEY_BYTES;
    for (size_t k = 0; k < 2 * KEY_BYTES && differ != 1; k++) {
        differ |= ((unsigned)(unsigned char)given[k] ^ (unsigned)(unsigned char)key[k]) << 1;
    }
    return differ == 0;
}

static bool is_here(const live_server *s, const char *text, const char *before)
{
    char name[64];
    static const char *const hosts[] = {"127.0.0.1", "localhost"};
    for (int k = 0; text && k < 2; k++) {
        snprintf(name, sizeof name, "%s%s:%d", before, hosts[k], s->port);
        if (strcmp(text, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool allowed(const live_server *s, const struct mg_connection *c, bool needs_origin)
{
    const struct mg_request_info *info = mg_get_request_info(c);
    const char *origin = mg_get_header(c, "Origin"), *query = info->query_string;
    char key[64] = "";
    if (!is_here(s, mg_get_header(c, "Host"), "") || (!origin && needs_origin) ||
        (origin && !is_here(s, origin, "http://"))) {
        return false;
    }
    return query && mg_get_var(query, strlen(query), "k", key, sizeof key) > 0 &&
           same_key(key, s->key);
}

// ── The page ─────────────────────────────────────────────────────────────────────────────────────

static int refuse(struct mg_connection *c, int code, const char *words)
{
    mg_printf(c,
              "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n"
              "Connection: close\r\n\r\n%s",
              code, words, (int)strlen(words), words);
    return code;
}

static int serve_page(struct mg_connection *c, void *server)
{
    const live_server *s = server;
    const struct mg_request_info *info = mg_get_request_info(c);
    if (!allowed(s, c, false)) {
        return refuse(c, 403, "Forbidden");
    }
    if (strcmp(info->request_method, "GET") != 0 || strcmp(info->local_uri, "/") != 0) {
        return refuse(c, 404, "Not Found");
    }
    mg_printf(c,
              "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
              "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
              "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\n"
              "Cross-Origin-Opener-Policy: same-origin\r\nConnection: close\r\n\r\n",
              s->page_size);
    mg_write(c, s->page, s->page_size);
    return 200;
}

// ── The websocket ────────────────────────────────────────────────────────────────────────────────

static int meet(const struct mg_connection *c, void *server)
{
    live_server *s = server;
    pthread_mutex_lock(&s->board->lock);
    bool room = s->board->pages < LIVE_PAGES;
    pthread_mutex_unlock(&s->board->lock);
    if (!room || !allowed(s, c, true)) {
        return 1;
    }
    reader *r = calloc(1, sizeof *r);
    mg_set_user_connection_data(c, r);
    if (r) {
        live_board_page(s->board, 1);
    }
    return r ? 0 : 1;
}

static void ready(struct mg_connection *c, void *server)
{
    (void)c;
    (void)server;
}

static bool copied(reader *r, const void *data, size_t size)
{
    if (size > r->room) {
        free(r->copy);
        r->copy = malloc(2 * size);
        r->room = r->copy ? 2 * size : 0;
    }
    if (size > r->room) {
        return false;
    }
    memcpy(r->copy, data, size);
    return true;
}

// Sends the status if it is new, else the newest frame, else {} after a timeout.
static int answer(live_server *s, struct mg_connection *c, reader *r)
{
    live_board *b = s->board;
    struct timespec until;
    size_t size = 0;
    int kind = MG_WEBSOCKET_OPCODE_TEXT;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 40000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&b->lock);
    if (b->status_number == r->status && b->frame_number == r->frame && !b->stop) {
        pthread_cond_timedwait(&b->fresh, &b->lock, &until);
    }
    if (b->status && b->status_number != r->status) {
        size = strlen(b->status);
        r->status = b->status_number;
        size = copied(r, b->status, size) ? size : 0;
    } else if (b->frame_size > 0 && b->frame_number != r->frame) {
        size = b->frame_size;
        r->frame = b->frame_number;
        kind = MG_WEBSOCKET_OPCODE_BINARY;
        size = copied(r, b->frame, size) ? size : 0;
    }
    pthread_mutex_unlock(&b->lock);
    const char *data = size > 0 ? (const char *)r->copy : "{}";
    return mg_websocket_write(c, size > 0 ? kind : MG_WEBSOCKET_OPCODE_TEXT, data,
                              size > 0 ? size : 2) > 0;
}

static int hear(struct mg_connection *c, int bits, char *data, size_t size, void *server)
{
    live_server *s = server;
    reader *r = mg_get_user_connection_data(c);
    int opcode = bits & OPCODE;
    if (opcode == MG_WEBSOCKET_OPCODE_PING || opcode == MG_WEBSOCKET_OPCODE_PONG) {
        return 1;
    }
    if (!r || opcode != MG_WEBSOCKET_OPCODE_TEXT || !(bits & FINAL) || size >= LIVE_COMMAND_BYTES) {
        return 0;
    }
    if (size == 4 && memcmp(data, "next", 4) == 0) {
        return answer(s, c, r);
    }
    if (size == 4 && memcmp(data, "stop", 4) == 0) {
        pthread_mutex_lock(&s->board->lock);
        s->board->stop = true;
        pthread_cond_broadcast(&s->board->work);
        pthread_mutex_unlock(&s->board->lock);
        return 0;
    }
    live_board_command(s->board, data, size);
    return 1;
}

static void part(const struct mg_connection *c, void *server)
{
    live_server *s = server;
    reader *r = mg_get_user_connection_data(c);
    if (r) {
        mg_set_user_connection_data(c, NULL);
        free(r->copy);
        free(r);
        live_board_page(s->board, -1);
    }
}

// ── Beginning and end ────────────────────────────────────────────────────────────────────────────

static int silent(const struct mg_connection *c, const char *text)
{
    (void)c;
    (void)text;
    return 1;
}

live_server *live_server_start(live_board *board, const char *page, size_t size, int port)
{
    char listen[48];
    struct mg_callbacks callbacks = {.log_message = silent};
    struct mg_server_port bound[2];
    live_server *s = calloc(1, sizeof *s);
    snprintf(listen, sizeof listen, "127.0.0.1:%d", port);
    const char *options[] = {"listening_ports",
                             listen,
                             "num_threads",
                             WORKERS,
                             "request_timeout_ms",
                             "2000",
                             "websocket_timeout_ms",
                             "3600000",
                             "enable_websocket_ping_pong",
                             "yes",
                             NULL};
    if (!s || !make_key(s->key)) {
        free(s);
        return NULL;
    }
    s->board = board;
    s->page = page;
    s->page_size = size;
    mg_init_library(0);
    s->context = mg_start(&callbacks, NULL, options);
    if (!s->context || mg_get_server_ports(s->context, 2, bound) < 1) {
        live_server_stop(s);
        return NULL;
    }
    s->port = bound[0].port;
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d/?k=%s", s->port, s->key);
    mg_set_request_handler(s->context, "/", serve_page, s);
    mg_set_websocket_handler(s->context, "/live", meet, ready, hear, part, s);
    return s;
}

void live_server_stop(live_server *server)
{
    if (server) {
        if (server->context) {
            mg_stop(server->context);
        }
        mg_exit_library();
        free(server);
    }
}

const char *live_server_url(const live_server *server)
{
    return server->url;
}
