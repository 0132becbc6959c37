// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Data exchange between the sim and the pages.
#include "live.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double GRACE = 2.0;  // longest time that a page takes to reload [s]

double live_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool live_board_start(live_board *board)
{
    pthread_condattr_t monotonic;
    *board = (live_board){0};
    bool made = pthread_mutex_init(&board->lock, NULL) == 0 &&
                pthread_condattr_init(&monotonic) == 0 &&
                pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0;
    return made && pthread_cond_init(&board->fresh, &monotonic) == 0 &&
           pthread_cond_init(&board->work, &monotonic) == 0;
}

void live_board_end(live_board *board)
{
    pthread_cond_destroy(&board->fresh);
    pthread_cond_destroy(&board->work);
    pthread_mutex_destroy(&board->lock);
    free(board->frame);
    free(board->status);
}

bool live_board_publish(live_board *board, const void *frame, size_t size)
{
    pthread_mutex_lock(&board->lock);
    if (size > board->frame_room) {
        free(board->frame);
        board->frame = malloc(2 * size);
        board->frame_room = board->frame ? 2 * size : 0;
    }
    bool room = size <= board->frame_room;
    if (room) {
        memcpy(board->frame, frame, size);
        board->frame_size = size;
        board->frame_number++;
        pthread_cond_broadcast(&board->fresh);
    }
    pthread_mutex_unlock(&board->lock);
    return room;
}

bool live_board_tell(live_board *board, const char *status)
{
    char *copy = strdup(status);
    pthread_mutex_lock(&board->lock);
    if (copy) {
        free(board->status);
        board->status = copy;
        board->status_number++;
        pthread_cond_broadcast(&board->fresh);
    }
    pthread_mutex_unlock(&board->lock);
    return copy != NULL;
}

static bool is_drag(const char *text)
{
    return strncmp(text, "{\"drag\":", 8) == 0;
}

void live_board_command(live_board *board, const char *text, size_t size)
{
    if (size >= LIVE_COMMAND_BYTES) {
        return;
    }
    pthread_mutex_lock(&board->lock);
    int at = board->commands;
    if (at > 0 && size > 8 && is_drag(text) && is_drag(board->command[at - 1])) {
        at--;
    }
    if (at < LIVE_COMMANDS) {
        memcpy(board->command[at], text, size);
        board->command[at][size] = '\0';
        board->commands = at + 1;
        pthread_cond_signal(&board->work);
    }
    pthread_mutex_unlock(&board->lock);
}

static struct timespec later(double seconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t ns = at.tv_nsec + (int64_t)(seconds * 1e9);
    at.tv_sec += (time_t)(ns / 1000000000);
    at.tv_nsec = ns % 1000000000;
    return at;
}

bool live_board_take(live_board *board, char command[LIVE_COMMAND_BYTES], double seconds)
{
    struct timespec until = later(seconds);
    pthread_mutex_lock(&board->lock);
    if (board->commands == 0 && !board->stop && seconds > 0.0) {
        pthread_cond_timedwait(&board->work, &board->lock, &until);
    }
    bool some = board->commands > 0;
    if (some) {
        memcpy(command, board->command[0], LIVE_COMMAND_BYTES);
        board->commands--;
        memmove(board->command[0], board->command[1], (size_t)board->commands * LIVE_COMMAND_BYTES);
    }
    pthread_mutex_unlock(&board->lock);
    return some;
}

void live_board_page(live_board *board, int change)
{
    pthread_mutex_lock(&board->lock);
    board->pages += change;
    board->seen = true;
    board->last_left = live_seconds();
    pthread_cond_signal(&board->work);
    pthread_mutex_unlock(&board->lock);
}

bool live_board_over(live_board *board)
{
    pthread_mutex_lock(&board->lock);
    bool alone = board->seen && board->pages == 0 && live_seconds() - board->last_left > GRACE;
    bool over = board->stop || alone;
    pthread_mutex_unlock(&board->lock);
    return over;
}
