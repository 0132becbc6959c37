// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening a recording: what it is of, and what it is made of.
//
// The order is that of what depends on what:
//
//   /            attributes: format and version, settings of the run, limits
//   progress     how many frames are good
//   model/       sizes, which decide about the columns; bodies, shapes, joints, springs to draw
//   columns      opened and checked here, read block by block in frame_in.c
//   scene, events, files/   texts and files, whole
//
// A file that does not hold together is refused when it is opened, with the name of the dataset or
// attribute, so that reading frames later can fail only where numbers of a frame are out of range.
#include "record/load.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

// ── What the run was made with ───────────────────────────────────────────────────────────────────

// The number of a word, in the list that `word` gives out.
static perp_status pick(perp_recording *r, const char *name, const char *(*word)(int), int *choice,
                        perp_error *error)
{
    const char *text = NULL;
    perp_status status = pp_load_word(r, "/", name, &text, error);
    if (status != PERP_OK) {
        return status;
    }
    for (*choice = 0; word(*choice); ++*choice) {
        if (strcmp(word(*choice), text) == 0) {
            return PERP_OK;
        }
    }
    return pp_load_fail(r, error, name, "is a word unknown to this version");
}

// Words that the run was made with.
static perp_status load_choices(perp_recording *r, perp_error *error)
{
    // Words, not numbers, are in the file: enums may be extended between releases.
    int stepper = 0, form = 0, friction = 0, impact = 0, coordinates = 0, positions = 0;
    perp_status status = pick(r, "stepper", perp_stepper_word, &stepper, error);
    if (status == PERP_OK) {
        status = pick(r, "form", perp_form_word, &form, error);
    }
    if (status == PERP_OK) {
        status = pick(r, "friction", perp_friction_law_word, &friction, error);
    }
    if (status == PERP_OK) {
        status = pick(r, "impact", perp_impact_law_word, &impact, error);
    }
    // Recordings without the word are of bodies.
    if (status == PERP_OK && H5Aexists(r->file, "coordinates") > 0) {
        status = pick(r, "coordinates", perp_coordinates_word, &coordinates, error);
    }
    // or of linear positions
    if (status == PERP_OK && H5Aexists(r->file, "positions") > 0) {
        status = pick(r, "positions", perp_positions_word, &positions, error);
    }
    r->info.coordinates = (perp_coordinates)coordinates;
    r->info.positions = (perp_positions)positions;
    r->info.stepper = (perp_stepper)stepper;
    r->info.form = (perp_form)form;
    r->info.friction = (perp_friction_law)friction;
    r->info.impact = (perp_impact_law)impact;
    if (status == PERP_OK) {
        status = pp_load_word(r, "/", "name", &r->info.name, error);
    }
    if (status == PERP_OK) {
        status = pp_load_word(r, "/", "solver", &r->info.solver, error);
    }
    return status;
}

// Settings of the run [SI units].
static perp_status load_numbers(perp_recording *r, perp_error *error)
{
    perp_recording_info *info = &r->info;
    double every = 1.0;
    // Limits that the run was given; 0: relative to the scales of each step.
    const struct {
        const char *name;
        double *value;
    } item[] = {{"h", &info->h},
                {"every", &every},
                {"tolerance", &info->tolerance},
                {"margin", &info->margin},
                {"theta", &info->theta},
                {"limit_gap", &info->limits.gap},
                {"limit_complementarity", &info->limits.complementarity},
                {"limit_cone", &info->limits.cone},
                {"limit_joint", &info->limits.joint},
                {"limit_momentum", &info->limits.momentum},
                {"limit_energy", &info->limits.energy},
                {"limit_residual", &info->limits.residual}};
    for (size_t k = 0; k < sizeof item / sizeof item[0]; k++) {
        perp_status status = pp_load_number(r, "/", item[k].name, item[k].value, error);
        if (status != PERP_OK) {
            return status;
        }
    }
    // Also refuses a NaN.
    if (!(every >= 1.0 && every <= 1e9)) {
        return pp_load_fail(r, error, "every", "is not a count");
    }
    info->every = (int)every;
    return PERP_OK;
}

// Settings that only runs in space have; whether this is one is known from the model.
static perp_status load_spatial(perp_recording *r, perp_error *error)
{
    int rotation = 0, gyroscopic = 0;
    double facets = 0.0;
    perp_status status = pick(r, "rotation_update", perp_rotation_update_word, &rotation, error);
    if (status == PERP_OK) {
        status = pick(r, "gyroscopic", perp_gyroscopic_word, &gyroscopic, error);
    }
    if (status == PERP_OK) {
        status = pp_load_number(r, "/", "facets", &facets, error);
    }
    if (status == PERP_OK && !(facets >= 0.0 && facets <= 256.0)) {
        status = pp_load_fail(r, error, "facets", "is not a count");
    }
    r->info.rotation = (perp_rotation_update)rotation;
    r->info.gyroscopic = (perp_gyroscopic)gyroscopic;
    r->info.facets = (int)facets;
    return status;
}

// A file of another program has no `format`, or another one: that is not reported as damage.
static perp_status load_head(perp_recording *r, perp_error *error)
{
    const char *format = NULL;
    double version = 0.0;
    perp_status status = pp_load_word(r, "/", "format", &format, error);
    if (status == PERP_ERR_MEMORY) {
        return status;
    }
    if (status != PERP_OK || strcmp(format, "perp recording") != 0) {
        return pp_fail(error, PERP_ERR_FORMAT, "%.150s: is not a perp recording", r->path);
    }
    status = pp_load_number(r, "/", "version", &version, error);
    if (status == PERP_OK && version != PP_RECORDING_VERSION) {
        return pp_fail(error, PERP_ERR_FORMAT,
                       "%.150s: has format version %g; this perp reads version %d", r->path,
                       version, PP_RECORDING_VERSION);
    }
    if (status == PERP_OK) {
        status = load_choices(r, error);
    }
    if (status == PERP_OK) {
        status = load_numbers(r, error);
    }
    return status;
}

// ── Columns ──────────────────────────────────────────────────────────────────────────────────────

// Frames that the last flush has finished; rows after them may be half written.
static perp_status load_progress(perp_recording *r, perp_error *error)
{
    // Frames that are good, and whether the run came to its end.
    int two = 2;
    const void *data = NULL;
    perp_status status = pp_load_array(r, "progress", PP_I64, 1, &two, &data, error);
    if (status != PERP_OK) {
        return status;
    }
    const int64_t *progress = data;
    // A run that was killed before its first flush.
    if (progress[0] < 1 || progress[0] > INT32_MAX) {
        return pp_fail(error, PERP_ERR_FORMAT, "%.150s: contains no frame yet", r->path);
    }
    r->info.frames = (int)progress[0];
    r->info.complete = progress[1] == 1;
    return PERP_OK;
}

// A column of ends, whole: it does not fall, and grows by at most `most` a row.
static perp_status load_ends(perp_recording *r, pp_h5_table table, pp_h5_column column,
                             int64_t most, const int64_t **ends, perp_error *error)
{
    char path[PP_COLUMN_PATH];
    const void *data = NULL;
    int rows = r->table[table].rows;
    pp_column_path(column, table, path);
    perp_status status = pp_load_column(r, table, column, rows, error);
    if (status == PERP_OK) {
        status = pp_load_rows(r, table, column, 0, rows, r->arena, &data, error);
    }
    *ends = data;
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < rows; k++) {
        int64_t before = k > 0 ? (*ends)[k - 1] : 0;
        if ((*ends)[k] < before || (*ends)[k] - before > most) {
            return pp_load_fail(r, error, path, "has inconsistent lengths");
        }
    }
    return PERP_OK;
}

// In one frame: beyond that a file is taken for damaged.
enum { CONTACTS_MOST = 100000000, PARTS_MOST = 10000000 };

// Opens all columns of a table; their rows are read block by block.
static perp_status load_table(perp_recording *r, pp_h5_table table, int64_t wrenches,
                              int64_t changes, perp_error *error)
{
    pp_h5_table_in *in = &r->table[table];
    perp_status status =
        load_ends(r, table, PP_COL_CONTACT_END, CONTACTS_MOST, &in->contact_end, error);
    if (status != PERP_OK) {
        return status;
    }
    int64_t contacts = in->rows > 0 ? in->contact_end[in->rows - 1] : 0;
    // Rows that a column must have, by pp_growth; bytes of events may be any number.
    const int64_t rows[] = {[PP_BY_FRAME] = in->rows,
                            [PP_BY_CONTACT] = contacts,
                            [PP_BY_WRENCH] = wrenches,
                            [PP_BY_CHANGE] = changes,
                            [PP_BY_BYTE] = 0};
    for (int k = 0; k < PP_COLUMN_COUNT; k++) {
        if (k == PP_COL_CONTACT_END || k == PP_COL_PART_END || k == PP_COL_APPLIED_END ||
            k == PP_COL_CHANGE_END) {
            continue;  // load_ends has opened it
        }
        pp_growth growth = pp_column_at((pp_h5_column)k)->growth;
        status = pp_load_column(r, table, (pp_h5_column)k, rows[growth], error);
        if (status != PERP_OK) {
            return status;
        }
    }
    return PERP_OK;
}

// Parts are known by part_end: files without it have none.
static perp_status load_columns(perp_recording *r, perp_error *error)
{
    int frames = r->info.frames;
    r->table[PP_FRAMES].rows = frames;
    perp_status status = load_ends(r, PP_FRAMES, PP_COL_PART_END, PARTS_MOST, &r->part_end, error);
    if (status != PERP_OK) {
        return status;
    }
    // The last end is the number of rows.
    int64_t parts = r->part_end[frames - 1];
    if (parts > INT32_MAX) {
        return pp_load_fail(r, error, "part_end", "has inconsistent lengths");
    }
    status = load_ends(r, PP_FRAMES, PP_COL_APPLIED_END, CONTACTS_MOST, &r->applied_end, error);
    if (status != PERP_OK) {
        return status;
    }
    enum { CHANGES_MOST = 1000000 };
    status = load_ends(r, PP_FRAMES, PP_COL_CHANGE_END, CHANGES_MOST, &r->change_end, error);
    if (status != PERP_OK) {
        return status;
    }
    status = load_table(r, PP_FRAMES, r->applied_end[frames - 1], r->change_end[frames - 1], error);
    if (status != PERP_OK || parts == 0) {
        return status;
    }
    r->table[PP_PARTS].rows = (int)parts;
    return load_table(r, PP_PARTS, 0, 0, error);
}

// The scene and the events, as texts that end with a zero.
static perp_status load_texts(perp_recording *r, perp_error *error)
{
    int any = -1;
    const void *scene = NULL, *events = NULL;
    perp_status status = pp_load_array(r, "scene", PP_U8, 1, &any, &scene, error);
    if (status == PERP_OK) {
        any = -1;
        status = pp_load_array(r, "events", PP_U8, 1, &any, &events, error);
    }
    // Texts end with a zero, which is not in the file.
    r->info.scene = scene;
    r->info.events = events;
    return status;
}

// The group must be in this file, not a link to another.
static perp_status load_file_count(perp_recording *r, int *files, perp_error *error)
{
    enum { MOST = 100000 };
    *files = 0;
    if (H5Lexists(r->file, "files", H5P_DEFAULT) <= 0) {
        return PERP_OK;  // recordings of earlier versions have none
    }
    H5L_info_t link;
    if (H5Lget_info(r->file, "files", &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
        return pp_load_fail(r, error, "files", "is not in this file");
    }
    double count = 0.0;
    perp_status status = pp_load_number(r, "files", "count", &count, error);
    if (status != PERP_OK) {
        return status;
    }
    if (!(count >= 0.0 && count <= MOST)) {
        return pp_load_fail(r, error, "files", "has no count");
    }
    *files = (int)count;
    return PERP_OK;
}

// Names and bytes of files/0, files/1, ...
static perp_status load_file_contents(perp_recording *r, int files, perp_scene_file *file,
                                      perp_error *error)
{
    const char **name = NULL;
    perp_status status = pp_load_names(r, "files/name", files, &name, error);
    if (status != PERP_OK) {
        return status;
    }
    for (int k = 0; k < files; k++) {
        char path[32];
        int size = -1;
        pp_print(path, sizeof path, "files/%d", k);
        file[k].name = name[k];
        status = pp_load_array(r, path, PP_U8, 1, &size, &file[k].data, error);
        if (status != PERP_OK) {
            return status;
        }
        file[k].size = (size_t)size;
    }
    return PERP_OK;
}

// reading receives the files, for the parser of scenes.
perp_status pp_load_files(perp_recording *r, perp_scene_load_options *reading, perp_error *error)
{
    int files = 0;
    pp_hdf5_silence quiet = pp_hdf5_silence_begin();
    perp_status status = load_file_count(r, &files, error);
    perp_scene_file *file = PP_ZEROS(r->arena, perp_scene_file, files);
    if (status == PERP_OK && !file) {
        status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
    }
    if (status == PERP_OK && files > 0) {
        status = load_file_contents(r, files, file, error);
    }
    pp_hdf5_silence_end(&quiet);
    reading->file = file;
    reading->files = files;
    return status;
}

// Memory that perp_snapshot points into: bodies, joints and wrenches of the frame that was read
// last. Contacts have a list that grows.
static perp_status reserve_frame(perp_recording *r, perp_error *error)
{
    int n = r->info.bodies;
    r->position = PP_ZEROS(r->arena, perp_vec3, n);
    r->velocity = PP_ZEROS(r->arena, perp_vec3, n);
    r->angle = PP_ZEROS(r->arena, double, n);
    r->spin = PP_ZEROS(r->arena, double, n);
    r->rotation = PP_ZEROS(r->arena, perp_quat, n);
    r->omega = PP_ZEROS(r->arena, perp_vec3, n);
    r->joint_state = PP_ZEROS(r->arena, perp_joint_state, r->info.joints);
    r->applied = PP_ZEROS(r->arena, perp_wrench, n);
    r->actuator_state = PP_ZEROS(r->arena, perp_actuator_state, r->info.actuators);
    bool good = r->actuator_state && r->applied && r->position && r->velocity && r->angle &&
                r->spin && r->rotation && r->omega && r->joint_state;
    return good ? PERP_OK : pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
}

// ── Opening ──────────────────────────────────────────────────────────────────────────────────────

// A file that is being written, or whose writer was killed. HDF5 reads again what does not fit its
// checksum, since it may be just being written, and waits twice as long each time: 2^19 ns at last.
static hid_t open_growing(const char *path)
{
    enum { ATTEMPTS = 20 };
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_metadata_read_attempts(access, ATTEMPTS);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    H5Pclose(access);
    return file;
}

// path: the directory of a run, or run.h5 itself.
static perp_status open_file(perp_recording *r, const char *path, perp_error *error)
{
    struct stat about;
    // Asked of the system, whose reason is clearer than HDF5's.
    if (stat(path, &about) != 0) {
        return pp_fail(error, PERP_ERR_IO, "%.150s: cannot open: %s", path, strerror(errno));
    }
    pp_print(r->path, sizeof r->path, "%s", path);
    // The usual case: the directory of a run.
    if (S_ISDIR(about.st_mode)) {
        perp_status status = pp_path_join(r->path, path, "run.h5", error);
        if (status != PERP_OK) {
            return status;
        }
        if (stat(r->path, &about) != 0) {
            return pp_fail(error, PERP_ERR_IO, "%.150s: contains no recording (run.h5)", path);
        }
    }
    if (!S_ISREG(about.st_mode)) {  // HDF5 would wait for a pipe
        return pp_fail(error, PERP_ERR_IO, "%.150s: is a device or a pipe, not a file", r->path);
    }
    // The usual way works with files that were closed; one that is being written, or whose writer
    // was killed, opens in SWMR mode only.
    r->file = H5Fopen(r->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (r->file < 0) {
        r->file = open_growing(r->path);
    }
    if (r->file < 0) {
        return pp_fail(error, PERP_ERR_FORMAT, "%.150s: is not an HDF5 file, or is damaged",
                       r->path);
    }
    return PERP_OK;
}

// The order matters: sizes of the model decide about the columns.
static perp_status load_recording(perp_recording *r, const char *path, perp_error *error)
{
    perp_status status = open_file(r, path, error);
    if (status == PERP_OK) {
        status = load_head(r, error);
    }
    if (status == PERP_OK) {
        status = load_progress(r, error);
    }
    if (status == PERP_OK) {
        status = pp_load_model(r, error);
    }
    if (status == PERP_OK && r->sizes.spatial) {
        status = load_spatial(r, error);
    }
    if (status == PERP_OK) {
        status = load_columns(r, error);
    }
    if (status == PERP_OK) {
        status = load_texts(r, error);
    }
    if (status == PERP_OK) {
        status = reserve_frame(r, error);
    }
    return status;
}

// After a failure nothing stays open, and *recording is NULL.
perp_status perp_recording_open(const char *path, const perp_env *env, perp_recording **recording,
                                perp_error *error)
{
    if (!path || !recording) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "recording: the path is NULL");
    }
    *recording = NULL;
    perp_recording *r = pp_alloc(env, sizeof *r);
    if (!r) {
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
    }
    memset(r, 0, sizeof *r);
    r->env = env ? *env : (perp_env){0};
    r->file = -1;
    for (int k = 0; k < PP_COLUMN_COUNT; k++) {
        r->table[PP_FRAMES].column[k] = r->table[PP_PARTS].column[k] = -1;
    }
    r->arena = pp_arena_create(env);
    r->table[PP_FRAMES].arena = pp_arena_create(env);
    r->table[PP_PARTS].arena = pp_arena_create(env);
    // Files are expected to be broken at times: what HDF5 would print is said by the status.
    pp_hdf5_silence quiet = pp_hdf5_silence_begin();
    perp_status status = r->arena && r->table[PP_FRAMES].arena && r->table[PP_PARTS].arena
                             ? load_recording(r, path, error)
                             : pp_fail(error, PERP_ERR_MEMORY, "not enough memory");
    pp_hdf5_silence_end(&quiet);
    if (status != PERP_OK) {
        perp_recording_close(r);
        return status;
    }
    *recording = r;
    return PERP_OK;
}

// The inverse of perp_recording_open, also of one that failed half-way.
void perp_recording_close(perp_recording *recording)
{
    if (!recording) {
        return;
    }
    perp_env env = recording->env;
    pp_hdf5_silence quiet = pp_hdf5_silence_begin();
    // Columns first: HDF5 keeps a file open as long as an object in it is.
    for (int k = 0; k < PP_TABLES * PP_COLUMN_COUNT; k++) {
        hid_t column = recording->table[k / PP_COLUMN_COUNT].column[k % PP_COLUMN_COUNT];
        if (column >= 0) {
            H5Dclose(column);
        }
    }
    if (recording->file >= 0) {
        H5Fclose(recording->file);
    }
    pp_hdf5_silence_end(&quiet);
    pp_free(&env, recording->contact, (size_t)recording->contact_room * sizeof *recording->contact);
    pp_arena_destroy(recording->table[PP_FRAMES].arena);
    pp_arena_destroy(recording->table[PP_PARTS].arena);
    pp_arena_destroy(recording->arena);
    pp_free(&env, recording, sizeof *recording);
}

// A recording that is NULL has nothing in it, and no pointers to follow.
const perp_recording_info *perp_recording_about(const perp_recording *recording)
{
    static const perp_recording_info none = {.name = "", .scene = "", .solver = "", .events = ""};
    return recording ? &recording->info : &none;
}

// A handle that is out of range gives a body without a name, as the three functions below do.
perp_recorded_body perp_recording_body(const perp_recording *recording, perp_body body)
{
    // Handles of another recording may be out of range.
    bool known = recording && body.i >= 0 && body.i < recording->info.bodies;
    return known ? recording->body[body.i].about : (perp_recorded_body){.name = "", .at_nu = -1};
}

perp_recorded_shape perp_recording_visual(const perp_recording *recording, perp_visual visual)
{
    bool known = recording && visual.i >= 0 && visual.i < recording->info.visuals;
    return known ? recording->visual[visual.i] : (perp_recorded_shape){.name = ""};
}

perp_recorded_shape perp_recording_shape(const perp_recording *recording, perp_shape shape)
{
    bool known = recording && shape.i >= 0 && shape.i < recording->info.shapes;
    return known ? recording->shape[shape.i] : (perp_recorded_shape){.name = ""};
}

perp_recorded_spring perp_recording_spring(const perp_recording *recording, int k)
{
    bool known = recording && k >= 0 && k < recording->info.springs;
    return known ? recording->spring[k] : (perp_recorded_spring){.name = ""};
}

const char *perp_recording_input_name(const perp_recording *recording, perp_input input)
{
    bool known = recording && input.i >= 0 && input.i < recording->info.inputs;
    return known ? recording->input_name[input.i] : "";
}

perp_recorded_actuator perp_recording_actuator(const perp_recording *recording,
                                               perp_actuator actuator)
{
    bool known = recording && actuator.i >= 0 && actuator.i < recording->info.actuators;
    if (!known) {
        return (perp_recorded_actuator){.name = "", .joint = {-1}};
    }
    return (perp_recorded_actuator){.name = recording->actuator_name[actuator.i],
                                    .joint = {recording->actuator_joint[actuator.i]}};
}

perp_recorded_site perp_recording_site(const perp_recording *recording, perp_site site)
{
    bool known = recording && site.i >= 0 && site.i < recording->info.sites;
    return known ? recording->site[site.i]
                 : (perp_recorded_site){
                       .name = "", .body = {-1}, .X_BS = {.rot = {1.0, 0.0, 0.0, 0.0}}};
}

perp_recorded_sensor perp_recording_sensor(const perp_recording *recording, perp_sensor sensor)
{
    bool known = recording && sensor.i >= 0 && sensor.i < recording->info.sensors;
    return known ? recording->sensor[sensor.i]
                 : (perp_recorded_sensor){.name = "",
                                          .unit = "",
                                          .site = {-1},
                                          .body = {-1},
                                          .joint = {-1},
                                          .actuator = {-1}};
}

// Either pointer may be NULL.
void perp_recording_exclusion(const perp_recording *recording, int k, perp_body *a, perp_body *b)
{
    bool known = recording && k >= 0 && k < recording->info.exclusions;
    if (a) {
        *a = (perp_body){known ? recording->exclusion[2 * k] : -1};
    }
    if (b) {
        *b = (perp_body){known ? recording->exclusion[2 * k + 1] : -1};
    }
}

perp_recorded_joint perp_recording_joint(const perp_recording *recording, perp_joint joint)
{
    bool known = recording && joint.i >= 0 && joint.i < recording->info.joints;
    return known ? recording->joint[joint.i] : (perp_recorded_joint){.name = ""};
}
