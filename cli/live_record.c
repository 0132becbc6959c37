// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The recording of a live run since the last reset or change, under a temporary name until it is saved.
#include "live.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void live_record_begin(live_sim *live)
{
    perp_error error = {0};
    perp_record_def def = perp_record_default();
    def.name = perp_scene_name(live->scene);
    def.scene = perp_scene_text(live->scene, NULL);
    def.file = perp_scene_files(live->scene, &def.files);
    def.h = live->h;
    live->full = false;
    live->recorded_from = perp_sim_time(live->sim);
    snprintf(live->work, sizeof live->work, "%.2000s.part-XXXXXX", live->base);
    if (!mkdtemp(live->work)) {
        live->work[0] = '\0';
        snprintf(live->message, sizeof live->message,
                 "not recorded: cannot create a directory here");
    } else if (perp_record_create(live->work, live->sim, &def, NULL, &live->record, &error) < 0) {
        rmdir(live->work);
        live->work[0] = '\0';
        snprintf(live->message, sizeof live->message, "not recorded: %s", error.text);
    }
}

// Removes a recording; the directory contains nothing else.
static void remove_folder(const char *dir)
{
    char path[4400];
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
            remove(path);
        }
    }
    if (folder) {
        closedir(folder);
    }
    rmdir(dir);
}

void live_record_drop(live_sim *live)
{
    perp_record_destroy(live->record);
    live->record = NULL;
    if (live->work[0]) {
        remove_folder(live->work);
        live->work[0] = '\0';
    }
}

static void free_name(live_sim *live, char *name, size_t size)
{
    struct stat there;
    do {
        live->saved++;
        snprintf(name, size, "%.2000s-%d", live->base, live->saved);
    } while (stat(name, &there) == 0 && live->saved < 100000);
}

void live_record_save(live_sim *live)
{
    char name[2100];
    perp_recording *recording = NULL;
    if (!live->record) {
        snprintf(live->message, sizeof live->message, "nothing has been recorded");
        return;
    }
    bool whole = perp_record_finish(live->record, live->sim) >= 0;
    free_name(live, name, sizeof name);
    whole = whole && rename(live->work, name) == 0;
    if (whole) {
        live->work[0] = '\0';
        snprintf(live->message, sizeof live->message, "saved %.4g to %.4g s in %.300s",
                 live->recorded_from, perp_sim_time(live->sim), name);
        if (perp_recording_open(name, NULL, &recording, NULL) >= 0) {
            double most = perp_replay_default().megabytes;
            (void)cli_replay_write("view", recording, name, most, true);
        }
        perp_recording_close(recording);
        printf("saved       %s\n", cli_plain(name));
        fflush(stdout);
    } else {
        snprintf(live->message, sizeof live->message, "not saved: %s",
                 perp_record_error(live->record)->text);
    }
    live_record_drop(live);
    live_record_begin(live);
}
