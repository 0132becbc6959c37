// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The built-in viewer (from viewer/), and replays of recordings.
#include "cli.h"

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

cli_exit cli_replay_write(const char *verb, perp_recording *recording, const char *dir,
                          double megabytes, bool quiet)
{
    char path[4200];
    perp_replay_def def = perp_replay_default();
    perp_replay *replay = NULL;
    perp_error error = {0};
    def.page = cli_page(&def.page_size);
    def.megabytes = megabytes;
    if (!def.page) {
        return cli_no_page(verb);
    }
    snprintf(path, sizeof path, "%s/replay.html", dir);
    perp_status status = perp_replay_create(recording, &def, NULL, &replay, &error);
    if (status >= 0) {
        status = perp_replay_save(replay, path, &error);
    }
    if (status < 0) {
        cli_complain("%s: %s", verb, error.text);
        perp_replay_destroy(replay);
        return status == PERP_ERR_IO || status == PERP_ERR_MEMORY ? CLI_OUTPUT : CLI_INPUT;
    }
    if (!quiet) {
        int kept = 0, recorded = 0;
        perp_replay_frame_counts(replay, &kept, &recorded);
        printf("replay      %s", cli_plain(path));
        if (kept < recorded) {
            printf(" (%d of %d frames, to fit %g MB)", kept, recorded, megabytes);
        }
        putchar('\n');
    }
    perp_replay_destroy(replay);
    return CLI_FINE;
}
