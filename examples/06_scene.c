// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A scene as text: a ball knocks a domino over. Given a directory as argument, the program records the run
// there, like `perp run`; `perp view DIR` plays it.
#include <perp/io.h>

#include <stdio.h>
#include <string.h>

static const char text[] =
    "{\"name\": \"domino\", \"step\": 0.005, \"until\": 2,\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\"}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"ball\", \"position\": [-0.6, 0.1], \"velocity\": [1.5, 0],\n"
    "   \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, \"density\": 100}]},\n"
    "  {\"name\": \"domino\", \"position\": [0, 0.25],\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.1, 0.5], \"density\": 40}]}]}\n";

static perp_status run(const perp_scene *scene, perp_sim *sim, perp_record *record)
{
    perp_body domino = perp_model_body(perp_scene_model(scene), "domino");
    perp_status status = PERP_OK;
    puts(" t [s]  angle [rad]  contacts");
    for (int k = 1; k <= 400 && status >= 0; k++) {
        status = perp_sim_step(sim, perp_scene_step(scene));
        if (k % 50 == 0) {
            printf("%6.3f %12.3f %9d\n", perp_sim_time(sim), perp_sim_body_angle(sim, domino),
                   perp_sim_info(sim)->contacts);
        }
        if (record && perp_record_step(record, sim) < 0) {
            return PERP_ERR_IO;
        }
    }
    return status;
}

int main(int count, char **words)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    perp_error error = {0};
    perp_status status = perp_scene_parse("domino", text, strlen(text), NULL, &scene, &error);
    if (status >= 0) {
        perp_sim_def def = perp_scene_sim_def(scene);
        status = perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error);
    }
    if (status >= 0 && count > 1) {
        perp_record_def def = perp_record_default();
        def.name = perp_scene_name(scene);
        def.scene = text;
        def.h = perp_scene_step(scene);
        status = perp_record_create(words[1], sim, &def, NULL, &record, &error);
    }
    if (status >= 0) {
        status = run(scene, sim, record);
    }
    if (status >= 0 && record) {
        status = perp_record_finish(record, sim);
    }
    if (status < 0) {
        fprintf(stderr, "scene: %s\n", error.text[0] ? error.text : perp_status_text(status));
    }
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return status < 0;
}
