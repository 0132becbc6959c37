// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The built-in viewer (from viewer/), and replays of recordings.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#if defined(PERP_WITH_VIEWER)
extern const unsigned char perp_viewer_page[];
extern const size_t perp_viewer_page_size;

const char *cli_page(size_t *size)
{
    *size = perp_viewer_page_size;
    return perp_viewer_page_size > 0 ? (const char *)perp_viewer_page : NULL;
}
#else
const char *cli_page(size_t *size)
{
    *size = 0;
    return NULL;
}
#endif

cli_exit cli_no_page(const char *verb)
{
    return cli_complain("%s: perp was built without the viewer: install Node.js (>= 18) and npm "
                        "('make demo' does) and rebuild",
                        verb);
}

// What to write. label: names of the runs, shown if there are several.
typedef struct replay_wish {
    const char *verb;  // for error messages
    perp_recording *const *recording;
    const char *const *label;
    int count;
    const char *path;
    double megabytes;
    bool quiet;
} replay_wish;

// size: without the zero byte.
typedef struct page_text {
    char *data;
    size_t size;
} page_text;

// The two blocks of a recording, as they stand in a page; the mark alone is a page for that.
static perp_status blocks_of(const replay_wish *wish, int k, perp_replay **replay,
                             perp_error *error)
{
    perp_replay_def def = perp_replay_default();
    def.page = "<!--perp-data-->";
    def.megabytes = wish->megabytes / wish->count;
    def.remark = wish->label[k];
    return perp_replay_create(wish->recording[k], &def, NULL, replay, error);
}

// Appends to a text; false: not enough memory.
static bool append(page_text *text, const char *data, size_t size)
{
    char *more = realloc(text->data, text->size + size + 1);
    if (!more) {
        return false;
    }
    memcpy(more + text->size, data, size);
    more[text->size + size] = '\0';
    *text = (page_text){more, text->size + size};
    return true;
}

// The viewer's page with the blocks of the other runs after the place for the first one.
static perp_status page_for(const replay_wish *wish, page_text *page, perp_error *error)
{
    static const char mark[] = "<!--perp-data-->";
    size_t size = 0;
    const char *viewer = cli_page(&size);
    const char *place = viewer;
    while ((size_t)(place - viewer) + sizeof mark <= size &&
           memcmp(place, mark, sizeof mark - 1) != 0) {
        place++;
    }
    size_t before = (size_t)(place - viewer) + sizeof mark - 1;
    bool whole = append(page, viewer, before);
    for (int k = 1; k < wish->count; k++) {
        perp_replay *replay = NULL;
        perp_status status = blocks_of(wish, k, &replay, error);
        if (status < 0) {
            return status;
        }
        size_t length = 0;
        const char *text = perp_replay_text(replay, &length);
        whole = whole && append(page, "\n", 1) && append(page, text, length);
        perp_replay_destroy(replay);
    }
    whole = whole && append(page, viewer + before, size - before);
    if (!whole) {
        snprintf(error->text, sizeof error->text, "not enough memory");
        return PERP_ERR_MEMORY;
    }
    return PERP_OK;
}

static cli_exit write_replay(const replay_wish *wish)
{
    perp_replay_def def = perp_replay_default();
    perp_replay *replay = NULL;
    perp_error error = {0};
    page_text page = {0};
    size_t size;
    if (!cli_page(&size)) {
        return cli_no_page(wish->verb);
    }
    perp_status status = page_for(wish, &page, &error);
    if (status >= 0) {
        // The size asked for is that of all runs together.
        def.page = page.data;
        def.page_size = page.size;
        def.megabytes = (double)(page.size - size) / 1e6 + wish->megabytes / wish->count;
        def.remark = wish->count > 1 ? wish->label[0] : NULL;
        status = perp_replay_create(wish->recording[0], &def, NULL, &replay, &error);
    }
    if (status >= 0) {
        status = perp_replay_save(replay, wish->path, &error);
    }
    free(page.data);
    if (status < 0) {
        cli_complain("%s: %s", wish->verb, error.text);
        perp_replay_destroy(replay);
        return status == PERP_ERR_IO || status == PERP_ERR_MEMORY ? CLI_OUTPUT : CLI_INPUT;
    }
    if (!wish->quiet) {
        int kept = 0, recorded = 0;
        perp_replay_frame_counts(replay, &kept, &recorded);
        printf("replay      %s", cli_plain(wish->path));
        if (kept < recorded) {
            printf(" (%d of %d frames, to fit %g MB)", kept, recorded, wish->megabytes);
        }
        putchar('\n');
    }
    perp_replay_destroy(replay);
    return CLI_FINE;
}

cli_exit cli_replay_write(const char *verb, perp_recording *recording, const char *dir,
                          double megabytes, bool quiet)
{
    char path[4200];
    perp_recording *one[] = {recording};
    const char *label[] = {NULL};
    snprintf(path, sizeof path, "%s/replay.html", dir);
    return write_replay(&(replay_wish){verb, one, label, 1, path, megabytes, quiet});
}

// A planar run and a spatial one have no view in common.
static cli_exit open_all(const char *verb, const char *const *file, int count,
                         perp_recording **recording)
{
    for (int k = 0; k < count; k++) {
        cli_exit code = cli_recording_open(file[k], &recording[k]);
        if (code != CLI_FINE) {
            return code;
        }
        bool spatial = perp_recording_about(recording[k])->spatial;
        if (spatial != perp_recording_about(recording[0])->spatial) {
            return cli_complain("%s: '%s' is %s, '%s' is not: they cannot be shown together", verb,
                                file[k], spatial ? "spatial" : "planar", file[0]);
        }
    }
    return CLI_FINE;
}

cli_exit cli_replay_write_of(const char *verb, const char *const *file, int count, const char *path,
                             double megabytes, bool quiet)
{
    perp_recording *recording[REPLAY_RUNS] = {0};
    cli_exit code = open_all(verb, file, count, recording);
    if (code == CLI_FINE) {
        code = write_replay(&(replay_wish){verb, recording, file, count, path, megabytes, quiet});
    }
    for (int k = 0; k < count; k++) {
        perp_recording_close(recording[k]);
    }
    return code;
}
