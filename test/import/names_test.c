// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every name of MJCF and URDF that docs/robots.md speaks of: it changes the scene, or the report has it. A name that does
// neither was dropped in silence. (`fusestatic` is what the import does in any case.) Whether it changes the scene rightly is the matter of truth/import and of import/mjcf and
// import/urdf.
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A model with and without a name: {A|B} stands for A in the model without it and for B in the one with it.
typedef struct name_case {
    const char *name;
    const char *model;
    // NULL: the scene changes. "": the name has no effect at all, and neither the scene nor the report changes.
    // Else a note that is not `used` has these words.
    const char *report;
} name_case;

// ── Models ───────────────────────────────────────────────────────────────────────────────────────

static void write_file(const folder *f, const char *name, const char *text)
{
    FILE *file = fopen(folder_at(f, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// The model with (side 1) or without (side 0) the name.
static void expand(const char *model, int side, char *out, size_t room)
{
    size_t n = 0;
    int at = -1;  // side of the braces that we are in, -1: outside
    for (const char *c = model; *c; c++) {
        if (*c == '{') {
            at = 0;
        } else if (*c == '|' && at == 0) {
            at = 1;
        } else if (*c == '}') {
            at = -1;
        } else if (at < 0 || at == side) {
            assert_true(n + 1 < room);
            out[n++] = *c;
        }
    }
    out[n] = '\0';
}

static perp_import *import_of(const folder *f, const name_case *row, int side)
{
    char text[4000];
    perp_import *import = NULL;
    perp_error error = {0};
    expand(row->model, side, text, sizeof text);
    if (perp_import_parse(folder_at(f, "model.xml"), text, strlen(text), NULL, NULL, &import,
                          &error) < 0) {
        fail_msg("%s: %d:%d: %s", row->name, error.line, error.column, error.text);
    }
    // What was written is a scene.
    perp_scene *scene = NULL;
    if (perp_scene_parse("scene", perp_import_text(import, NULL),
                         strlen(perp_import_text(import, NULL)), NULL, &scene, &error) < 0) {
        fail_msg("%s: its scene: %d:%d: %s", row->name, error.line, error.column, error.text);
    }
    perp_scene_destroy(scene);
    return import;
}

static bool reports(const perp_import *import, const char *words)
{
    int count = 0;
    const perp_import_note *note = perp_import_notes(import, &count);
    for (int k = 0; k < count; k++) {
        if (note[k].kind != PERP_IMPORT_USED &&
            (strstr(note[k].what, words) || strstr(note[k].why, words))) {
            return true;
        }
    }
    return false;
}

// Checks all rows, so that one run shows all that fail.
static void check(const folder *f, const name_case *list, int count)
{
    int failed = 0;
    for (int k = 0; k < count; k++) {
        perp_import *without = import_of(f, &list[k], 0), *with = import_of(f, &list[k], 1);
        bool changed = strcmp(perp_import_text(without, NULL), perp_import_text(with, NULL)) != 0;
        const char *words = list[k].report, *fault = NULL;
        if (!words && !changed) {
            fault = "the scene has not changed";
        } else if (words && !*words) {
            bool same =
                !changed && strcmp(perp_import_report(without), perp_import_report(with)) == 0;
            fault = same ? NULL : "the scene or the report has changed";
        } else if (words && (!reports(with, words) || reports(without, words))) {
            fault = "not in the report";
        }
        if (fault) {
            failed++;
            print_error("%s: %s\n%s\n", list[k].name, fault, perp_import_report(with));
        }
        perp_import_destroy(without);
        perp_import_destroy(with);
    }
    assert_int_equal(failed, 0);
}

#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

// ── MJCF ─────────────────────────────────────────────────────────────────────────────────────────

// An arm of one hinge, with room for attributes and elements.
#define ARM(head, joint, geom, tail)                                                               \
    "<mujoco>" head "<worldbody><body name='arm'><joint name='j' axis='0 1 0' " joint              \
    "/><geom name='g' type='box' size='.1 .1 .3' pos='0 0 .3' " geom "/></body></worldbody>" tail  \
    "</mujoco>"
// Two arms side by side.
#define ARMS(first, tail)                                                                          \
    "<mujoco><worldbody><body name='a'><joint name='ja' axis='0 1 0'/><geom name='ga' size='.1' "  \
    "pos='.3 0 0'/><site name='sa' pos='.5 0 0'/>" first                                           \
    "</body><body name='b' pos='1 0 0'><joint name='jb' axis='0 1 0'/>"                            \
    "<geom name='gb' size='.1' pos='-.3 0 0'/><site name='sb' pos='-.5 0 "                         \
    "0'/></body></worldbody>" tail "</mujoco>"
// One free body with what is inside.
#define FREE(head, inside)                                                                         \
    "<mujoco>" head "<worldbody><body name='b'><freejoint/>" inside "</body></worldbody></mujoco>"

static const name_case compilers[] = {
    {"include", FREE("{|<include file='default.xml'/>}", "<geom size='.1'/>"), NULL},
    {"angle", ARM("<compiler {|angle='radian'}/>", "range='-1 1'", "", ""), NULL},
    {"autolimits", ARM("<compiler {|autolimits='false'}/>", "range='-1 1'", "", ""), NULL},
    {"meshdir",
     FREE("<compiler meshdir='{.|meshes}'/><asset><mesh name='m' file='part.obj'/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     NULL},
    {"assetdir",
     FREE("<compiler assetdir='{.|meshes}'/><asset><mesh name='m' file='part.obj'/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     NULL},
    {"eulerseq",
     FREE("<compiler {|eulerseq='zyx'}/>", "<geom type='box' size='.1 .2 .3' euler='10 20 30'/>"),
     NULL},
    {"inertiafromgeom",
     FREE("<compiler {|inertiafromgeom='true'}/>",
          "<geom size='.1'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"),
     NULL},
    {"settotalmass", FREE("<compiler {|settotalmass='7'}/>", "<geom size='.1'/>"), NULL},
    {"boundmass", FREE("<compiler {|boundmass='5'}/>", "<geom size='.1' mass='1'/>"), NULL},
    {"boundinertia", FREE("<compiler {|boundinertia='5'}/>", "<geom size='.1' mass='1'/>"), NULL},
    {"balanceinertia",
     FREE("<compiler balanceinertia='true'/>",
          "<inertial pos='0 0 0' mass='1' diaginertia='1 1 {1.5|3}'/><geom size='.1'/>"),
     NULL},
    {"option timestep", FREE("<option {|timestep='.001'}/>", "<geom size='.1'/>"), NULL},
    {"option gravity", FREE("<option {|gravity='0 0 -1'}/>", "<geom size='.1'/>"), NULL},
    {"option density", FREE("<option {|density='1.2'}/>", "<geom size='.1'/>"), "density"},
    {"option viscosity", FREE("<option {|viscosity='1e-5'}/>", "<geom size='.1'/>"), "viscosity"},
    {"option impratio", FREE("<option {|impratio='10'}/>", "<geom size='.1'/>"), "softness"},
    {"flag gravity", FREE("<option><flag {|gravity='disable'}/></option>", "<geom size='.1'/>"),
     NULL},
    {"default", FREE("<default><geom {|density='3'}/></default>", "<geom size='.1'/>"), NULL},
    {"default class",
     FREE("<default><default class='c'><geom density='3'/></default></default>",
          "<geom size='.1' {|class='c'}/>"),
     NULL},
    {"childclass",
     "<mujoco><default><default class='c'><geom density='3'/></default></default><worldbody><body "
     "{|childclass='c'}><freejoint/><geom size='.1'/></body></worldbody></mujoco>",
     NULL},
};

static const name_case bodies[] = {
    {"quat", FREE("", "<geom type='box' size='.1 .2 .3' {|quat='1 .1 .2 .3'}/>"), NULL},
    {"axisangle", FREE("", "<geom type='box' size='.1 .2 .3' {|axisangle='0 0 1 30'}/>"), NULL},
    {"euler", FREE("", "<geom type='box' size='.1 .2 .3' {|euler='10 20 30'}/>"), NULL},
    {"xyaxes", FREE("", "<geom type='box' size='.1 .2 .3' {|xyaxes='0 1 0 -1 0 0'}/>"), NULL},
    {"zaxis", FREE("", "<geom type='box' size='.1 .2 .3' {|zaxis='1 0 0'}/>"), NULL},
    {"frame", FREE("", "{|<frame pos='1 0 0'>}<geom size='.1'/>{|</frame>}<geom size='.2'/>"),
     NULL},
    {"replicate",
     FREE("", "{|<replicate count='3' offset='1 0 0'>}<geom size='.1'/>{|</replicate>}"), NULL},
    {"several joints",
     "<mujoco><worldbody><body><joint/>{|<joint axis='1 0 0'/>}<geom "
     "size='.1' pos='0 .3 0'/></body></worldbody></mujoco>",
     NULL},
    {"slide", ARM("", "{|type='slide'}", "", ""), NULL},
    {"ball",
     "<mujoco><worldbody><body><joint {|type='ball'}/><geom size='.1' pos='0 0 "
     ".3'/></body></worldbody></mujoco>",
     NULL},
    {"free",
     "<mujoco><worldbody><body>{<joint/>|<freejoint/>}<geom size='.1' pos='0 0 "
     ".3'/></body></worldbody></mujoco>",
     NULL},
    {"gravcomp",
     "<mujoco><worldbody><body {|gravcomp='1'}><freejoint/><geom "
     "size='.1'/></body></worldbody></mujoco>",
     NULL},
    {"pos",
     "<mujoco><worldbody><body {|pos='1 2 3'}><freejoint/><geom "
     "size='.1'/></body></worldbody></mujoco>",
     NULL},
    {"site", ARMS("{|<site name='more' pos='0 0 1'/>}", ""), NULL},
    {"attach",
     FREE("<asset><model name='m' file='other.xml'/></asset>",
          "<geom size='.1'/>{|<attach model='m' body='limb' prefix='x_'/>}"),
     NULL},
    {"cylinder", FREE("", "<geom type='{box|cylinder}' size='.1 .2 .3'/>"), NULL},
    {"capsule", FREE("", "<geom type='{box|capsule}' size='.1 .2 .3'/>"), NULL},
    {"ellipsoid", FREE("", "<geom type='{box|ellipsoid}' size='.1 .2 .3'/>"), NULL},
    {"sphere", FREE("", "<geom type='{box|sphere}' size='.1 .2 .3'/>"), NULL},
    {"mesh",
     FREE("<asset><mesh name='m' file='part.obj'/></asset>",
          "<geom size='.1'/>{|<geom type='mesh' mesh='m'/>}"),
     NULL},
    {"mesh scale",
     FREE("<asset><mesh name='m' file='part.obj' {|scale='2 2 2'}/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     NULL},
    {"mesh inertia",
     FREE("<asset><mesh name='m' file='dent.obj' {|inertia='convex'}/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     NULL},
    {"mesh vertex",
     FREE("<asset><mesh name='m' vertex='0 0 0 .1 0 0 0 .1 0 0 0 {.1|.2}'/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     NULL},
    {"mesh face",
     FREE("<asset><mesh name='m' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .1 .02 .02 .02' {|face='0 2 1 0 1 "
          "3 0 3 2 1 2 4 2 3 4 3 1 4'}/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     NULL},
    {"mesh inertia shell",
     FREE("<asset><mesh name='m' file='part.obj' {|inertia='shell'}/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     NULL},
    {"mesh normal",
     FREE("<asset><mesh name='m' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .1' {|normal='0 0 1 0 0 1 0 0 1 0 "
          "0 1'}/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     "looks"},
    {"mesh texcoord",
     FREE("<asset><mesh name='m' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .1' {|texcoord='0 0 0 1 1 1 1 "
          "0'}/></asset>",
          "<geom type='mesh' mesh='m'/>"),
     "looks"},
    {"mesh builtin",
     FREE("<asset>{|<mesh name='m' builtin='sphere' params='2'/>}</asset>",
          "<geom size='.1'/>{|<geom type='mesh' mesh='m' mass='0'/>}"),
     "<mesh builtin>"},
    {"plane",
     "<mujoco><worldbody>{|<geom type='plane' size='1 1 1'/>}<body pos='0 0 1'><freejoint/><geom "
     "size='.1'/></body></worldbody></mujoco>",
     NULL},
    {"hfield",
     "<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 .1' elevation='0 1 1 "
     "0'/></asset><worldbody>{|<geom type='hfield' hfield='h'/>}<body pos='0 0 "
     "2'><freejoint/><geom "
     "size='.1'/></body></worldbody></mujoco>",
     NULL},
    {"fromto", FREE("", "<geom type='capsule' size='.1 .2' {|fromto='0 0 0 1 1 1'}/>"), NULL},
    {"mass", FREE("", "<geom size='.1' {|mass='3'}/>"), NULL},
    {"density", FREE("", "<geom size='.1' {|density='3'}/>"), NULL},
    {"contype", ARMS("<geom size='.05' {|contype='2'}/>", ""), NULL},
    {"conaffinity", ARMS("<geom size='.05' {|conaffinity='2'}/>", ""), NULL},
    {"condim", FREE("", "<geom size='.1' {|condim='6'}/>"), NULL},
    {"condim 1", FREE("", "<geom size='.1' {|condim='1'}/>"), NULL},
    {"priority", FREE("", "<geom size='.1' {|priority='1'}/>"), NULL},
    {"friction", FREE("", "<geom size='.1' {|friction='.3 .1 .1'}/>"), NULL},
    {"margin", FREE("", "<geom size='.1' {|margin='.01'}/>"), "softness"},
    {"gap", FREE("", "<geom size='.1' {|gap='.01'}/>"), "softness"},
    {"solref", FREE("", "<geom size='.1' {|solref='.01 1'}/>"), "softness"},
    {"solimp", FREE("", "<geom size='.1' {|solimp='.9 .95 .001'}/>"), "softness"},
};

static const name_case joints[] = {
    {"armature", ARM("", "{|armature='.1'}", "", ""), NULL},
    {"damping", ARM("", "{|damping='.1'}", "", ""), NULL},
    {"stiffness", ARM("", "{|stiffness='3'}", "", ""), NULL},
    {"springref", ARM("", "stiffness='3' {|springref='20'}", "", ""), NULL},
    {"frictionloss", ARM("", "{|frictionloss='.1'}", "", ""), NULL},
    {"range", ARM("", "{|range='-10 20'}", "", ""), NULL},
    {"limited", ARM("", "range='-10 20' {|limited='false'}", "", ""), NULL},
    {"ref", ARM("", "{|ref='10'}", "", ""), NULL},
    {"actuatorfrcrange",
     ARM("", "{|actuatorfrcrange='-1 1'}", "", "<actuator><motor joint='j'/></actuator>"), NULL},
    {"actuatorfrcrange with a tendon",
     "<mujoco><worldbody><body><joint name='j' {|actuatorfrcrange='-1 1'}/><geom size='.1' pos='.3 "
     "0 0'/></body></worldbody><tendon><fixed name='t'><joint joint='j' "
     "coef='2'/></fixed></tendon><actuator><motor tendon='t'/></actuator></mujoco>",
     "on tendons and sites"},
    {"actuatorfrcrange with a rope",
     "<mujoco><worldbody><site name='w'/><body><joint name='j' {|actuatorfrcrange='-1 1'}/><geom "
     "size='.1' pos='.3 0 0'/><site name='s' pos='.3 0 0'/></body></worldbody><tendon><spatial "
     "name='t'><site site='w'/><site site='s'/></spatial></tendon><actuator><motor "
     "tendon='t'/></actuator></mujoco>",
     "on tendons and sites"},
    {"actuatorfrcrange with a thruster",
     "<mujoco><worldbody><body><joint name='j' {|actuatorfrcrange='-1 1'}/><geom size='.1' pos='.3 "
     "0 0'/><site name='s' pos='.3 0 0'/></body></worldbody><actuator><motor site='s' gear='0 1 0 "
     "0 0 0'/></actuator></mujoco>",
     "on tendons and sites"},
    {"actuatorfrcrange with two actuators",
     ARM("", "{|actuatorfrcrange='-1 1'}", "",
         "<actuator><motor joint='j'/><motor joint='j' gear='2'/></actuator>"),
     "limits each of them"},
    {"name of a frame", FREE("", "<frame {|name='f'}><geom size='.1'/></frame>"), ""},
    {"margin of a joint", ARM("", "{|margin='.1'}", "", ""), "softness"},
    {"solreflimit", ARM("", "{|solreflimit='.1 1'}", "", ""), "softness"},
    {"contact exclude", ARMS("", "<contact>{|<exclude body1='a' body2='b'/>}</contact>"), NULL},
    {"contact pair",
     ARMS("", "<contact>{|<pair geom1='ga' geom2='gb' friction='.1 .1 .1 .1 .1'/>}</contact>"),
     NULL},
    {"connect", ARMS("", "<equality>{|<connect body1='a' body2='b' anchor='.5 0 0'/>}</equality>"),
     NULL},
    {"weld", ARMS("", "<equality>{|<weld body1='a' body2='b'/>}</equality>"), NULL},
    {"equality joint",
     ARMS("", "<equality>{|<joint joint1='ja' joint2='jb' polycoef='0 -2 0 0 0'/>}</equality>"),
     NULL},
    {"fixed tendon",
     ARMS("",
          "<tendon>{|<fixed name='t' stiffness='2'><joint joint='ja' coef='1'/><joint joint='jb' "
          "coef='-1'/></fixed>}</tendon>"),
     NULL},
    {"spatial tendon",
     ARMS("", "<tendon>{|<spatial name='t' stiffness='2'><site site='sa'/><site "
              "site='sb'/></spatial>}</tendon>"),
     NULL},
    {"equality tendon",
     ARMS(
         "",
         "<tendon><fixed name='t'><joint joint='ja' coef='1'/></fixed></tendon><equality>{|<tendon "
         "tendon1='t'/>}</equality>"),
     NULL},
    {"keyframe", ARM("", "", "", "<keyframe>{|<key name='k' qpos='.3'/>}</keyframe>"), NULL},
    {"key qvel", ARM("", "", "", "<keyframe><key name='k' qpos='.3' {|qvel='1'}/></keyframe>"),
     NULL},
    {"key ctrl",
     ARM("", "", "",
         "<actuator><motor joint='j'/></actuator><keyframe><key {|ctrl='1'}/></keyframe>"),
     NULL},
};

#define DRIVE(what) ARM("", "range='-50 50'", "", "<actuator>" what "</actuator>")
static const name_case actuators[] = {
    {"motor", DRIVE("{|<motor joint='j'/>}"), NULL},
    {"position", DRIVE("{|<position joint='j' kp='3'/>}"), NULL},
    {"velocity", DRIVE("{|<velocity joint='j' kv='3'/>}"), NULL},
    {"general", DRIVE("{|<general joint='j' gainprm='2'/>}"), NULL},
    {"affine bias", DRIVE("<general joint='j' {|biastype='affine' biasprm='1 -2 -3'}/>"), NULL},
    {"filter", DRIVE("<general joint='j' {|dyntype='filter' dynprm='.1'}/>"), NULL},
    {"filterexact", DRIVE("<general joint='j' {|dyntype='filterexact' dynprm='.1'}/>"), NULL},
    {"ctrlrange", DRIVE("<motor joint='j' {|ctrlrange='-1 1'}/>"), NULL},
    {"forcerange", DRIVE("<motor joint='j' {|forcerange='-1 1'}/>"), NULL},
    {"gear", DRIVE("<motor joint='j' {|gear='5'}/>"), NULL},
    {"kp", DRIVE("<position joint='j' {|kp='7'}/>"), NULL},
    {"kv", DRIVE("<position joint='j' kp='7' {|kv='2'}/>"), NULL},
    {"dampratio", DRIVE("<position joint='j' kp='7' {|dampratio='1'}/>"), NULL},
    {"timeconst", DRIVE("<position joint='j' kp='7' {|timeconst='.1'}/>"), NULL},
    {"inheritrange", DRIVE("<position joint='j' kp='7' {|inheritrange='1'}/>"), NULL},
    {"site", ARMS("", "<actuator>{|<motor site='sa' gear='0 0 1 0 0 .1'/>}</actuator>"), NULL},
    {"site with a bias",
     ARMS("", "<actuator><general site='sa' gear='0 0 1 0 0 0' {|biastype='affine' biasprm='1 0 "
              "-2'}/></actuator>"),
     NULL},
    {"site with a filter",
     ARMS("", "<actuator><general site='sa' gear='0 0 1 0 0 0' {|dyntype='filter' "
              "dynprm='.1'}/></actuator>"),
     NULL},
    {"site with a force range",
     ARMS("", "<actuator><motor site='sa' gear='0 0 1 0 0 0' {|forcerange='-1 1'}/></actuator>"),
     NULL},
    {"site that pushes nothing",
     ARMS("", "<actuator>{|<motor site='sa' gear='0 0 0 0 0 0'/>}</actuator>"), "push nothing"},
    {"tendon",
     ARMS("", "<tendon><fixed name='t'><joint joint='ja' "
              "coef='1'/></fixed></tendon><actuator>{|<motor tendon='t'/>}</actuator>"),
     NULL},
    {"muscle", DRIVE("{|<muscle joint='j'/>}"), "not linear"},
    {"adhesion", DRIVE("{|<adhesion body='arm' gain='1'/>}"), "ctuators"},
    {"body", DRIVE("{|<general body='arm'/>}"), "ctuators on"},
};

#define SENSOR(what)                                                                               \
    ARMS("", "<actuator><motor name='m' joint='ja'/></actuator><sensor>" what "</sensor>")
static const name_case sensors[] = {
    {"gyro", SENSOR("{|<gyro site='sa'/>}"), NULL},
    {"accelerometer", SENSOR("{|<accelerometer site='sa'/>}"), NULL},
    {"framepos", SENSOR("{|<framepos objtype='site' objname='sa'/>}"), NULL},
    {"framequat", SENSOR("{|<framequat objtype='site' objname='sa'/>}"), NULL},
    {"framelinvel", SENSOR("{|<framelinvel objtype='xbody' objname='a'/>}"), NULL},
    {"frameangvel", SENSOR("{|<frameangvel objtype='site' objname='sa'/>}"), NULL},
    {"jointpos", SENSOR("{|<jointpos joint='ja'/>}"), NULL},
    {"jointvel", SENSOR("{|<jointvel joint='ja'/>}"), NULL},
    {"actuatorpos", SENSOR("{|<actuatorpos actuator='m'/>}"), NULL},
    {"actuatorvel", SENSOR("{|<actuatorvel actuator='m'/>}"), NULL},
    {"touch", SENSOR("{|<touch site='sa'/>}"), NULL},
    {"force", SENSOR("{|<force site='sa'/>}"), NULL},
    {"torque", SENSOR("{|<torque site='sa'/>}"), NULL},
    {"rangefinder", SENSOR("{|<rangefinder site='sa'/>}"), NULL},
    {"actuatorfrc", SENSOR("{|<actuatorfrc actuator='m'/>}"), "actuatorfrc"},
    {"magnetometer", SENSOR("{|<magnetometer site='sa'/>}"), "magnetometer"},
    {"subtreecom", SENSOR("{|<subtreecom body='a'/>}"), "subtreecom"},
    {"noise", SENSOR("<gyro site='sa' {|noise='.1'}/>"), "noise"},
    {"cutoff", SENSOR("<gyro site='sa' {|cutoff='.1'}/>"), "cutoff"},
};

// ── URDF ─────────────────────────────────────────────────────────────────────────────────────────

#define INERTIAL                                                                                   \
    "<inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' "              \
    "iyz='0'/></inertial>"
// A base that carries a limb by a joint of a kind.
#define LIMB(kind, joint, link, more)                                                              \
    "<robot name='r'><link name='base'/><link name='limb'>" link                                   \
    "</link><joint name='j' type='" kind "'><parent link='base'/><child link='limb'/>" joint       \
    "</joint>" more "</robot>"
#define LIMITS "<limit lower='-1' upper='1' effort='5' velocity='1'/>"

static const name_case urdf[] = {
    {"continuous", LIMB("{revolute|continuous}", LIMITS, INERTIAL, ""), NULL},
    {"prismatic", LIMB("{revolute|prismatic}", LIMITS, INERTIAL, ""), NULL},
    {"planar", LIMB("{revolute|planar}", LIMITS, INERTIAL, ""), NULL},
    {"floating", LIMB("{revolute|floating}", LIMITS, INERTIAL, ""), NULL},
    {"fixed", LIMB("{revolute|fixed}", LIMITS, INERTIAL, ""), NULL},
    {"spherical", LIMB("{revolute|spherical}", LIMITS, INERTIAL, ""), NULL},
    {"limit",
     LIMB("revolute", "<limit lower='-1' upper='{1|2}' effort='5' velocity='1'/>", INERTIAL, ""),
     NULL},
    {"velocity", LIMB("continuous", "<limit effort='5' {|velocity='3'}/>", INERTIAL, ""),
     "velocity"},
    {"dynamics damping", LIMB("continuous", "<dynamics {|damping='2'}/>", INERTIAL, ""), NULL},
    {"dynamics friction", LIMB("continuous", "<dynamics {|friction='2'}/>", INERTIAL, ""), NULL},
    {"axis", LIMB("continuous", "{|<axis xyz='0 1 0'/>}", INERTIAL, ""), NULL},
    {"axis of another length", LIMB("continuous", "<axis xyz='0 {1|2} 0'/>", INERTIAL, ""), "unit"},
    {"origin of a joint",
     LIMB("continuous", "{|<origin xyz='1 2 3' rpy='.1 .2 .3'/>}", INERTIAL, ""), NULL},
    {"origin of an inertia",
     LIMB("continuous", "",
          "<inertial>{|<origin xyz='1 2 3' rpy='.1 .2 .3'/>}<mass value='1'/><inertia ixx='.1' "
          "iyy='.2' izz='.25' "
          "ixy='0' ixz='0' iyz='0'/></inertial>",
          ""),
     NULL},
    {"safety_controller",
     LIMB("revolute", LIMITS "{|<safety_controller k_velocity='1'/>}", INERTIAL, ""), "safety"},
    {"calibration", LIMB("revolute", LIMITS "{|<calibration rising='1'/>}", INERTIAL, ""),
     "calibration"},
    {"mimic",
     "<robot name='r'><link name='base'/><link name='a'>" INERTIAL "</link><link name='b'>" INERTIAL
     "</link><joint name='ja' type='continuous'><parent link='base'/><child "
     "link='a'/></joint><joint name='jb' "
     "type='continuous'><parent link='a'/><child link='b'/>{|<mimic joint='ja' "
     "multiplier='2'/>}</joint></robot>",
     NULL},
    {"transmission", LIMB("continuous", "", INERTIAL, "{|<transmission name='t'/>}"),
     "transmission"},
    {"gazebo", LIMB("continuous", "", INERTIAL, "{|<gazebo/>}"), "gazebo"},
    {"box",
     LIMB("continuous", "",
          INERTIAL "{|<collision><geometry><box size='1 2 3'/></geometry></collision>}", ""),
     NULL},
    {"cylinder",
     LIMB("continuous", "",
          INERTIAL
          "{|<collision><geometry><cylinder radius='1' length='2'/></geometry></collision>}",
          ""),
     NULL},
    {"sphere",
     LIMB("continuous", "",
          INERTIAL "{|<collision><geometry><sphere radius='1'/></geometry></collision>}", ""),
     NULL},
    {"capsule",
     LIMB("continuous", "",
          INERTIAL
          "{|<collision><geometry><capsule radius='1' length='2'/></geometry></collision>}",
          ""),
     NULL},
    {"OBJ",
     LIMB("continuous", "",
          INERTIAL "{|<collision><geometry><mesh filename='part.obj'/></geometry></collision>}",
          ""),
     NULL},
    {"STL",
     LIMB("continuous", "",
          INERTIAL "{|<collision><geometry><mesh filename='part.stl'/></geometry></collision>}",
          ""),
     NULL},
    {"DAE",
     LIMB("continuous", "",
          INERTIAL "{|<collision><geometry><mesh filename='part.dae'/></geometry></collision>}",
          ""),
     NULL},
    {"scale",
     LIMB(
         "continuous", "",
         INERTIAL
         "<collision><geometry><mesh filename='part.obj' {|scale='2 2 2'}/></geometry></collision>",
         ""),
     NULL},
    {"a missing mesh",
     LIMB("continuous", "",
          INERTIAL "{|<collision><geometry><mesh filename='none.obj'/></geometry></collision>}",
          ""),
     "none.obj"},
    {"visual",
     LIMB("continuous", "", INERTIAL "{|<visual><geometry><box size='1 2 3'/></geometry></visual>}",
          ""),
     NULL},
    {"material",
     LIMB("continuous", "",
          INERTIAL "<visual><geometry><box size='1 2 3'/></geometry>{|<material name='m'><color "
                   "rgba='1 0 0 1'/></material>}</visual>",
          ""),
     NULL},
    {"texture",
     LIMB("continuous", "",
          INERTIAL
          "<visual><geometry><box size='1 2 3'/></geometry><material name='m'><color rgba='1 0 0 "
          "1'/>{|<texture filename='t.png'/>}</material></visual>",
          ""),
     "texture"},
    {"an inertia that is missing",
     LIMB("continuous", "",
          "{" INERTIAL "|}<collision><geometry><box size='1 2 3'/></geometry></collision>", ""),
     "mass"},
    {"the triangle inequality",
     LIMB("continuous", "",
          "<inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='{.1|.5}' ixy='0' ixz='0' "
          "iyz='0'/></inertial>",
          ""),
     "inerti"},
    {"a mass of zero",
     LIMB("continuous", "",
          "<inertial><mass value='{1|0}'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' "
          "iyz='0'/></inertial><collision><geometry><box size='1 2 3'/></geometry></collision>",
          ""),
     "mass"},
    {"limits in reverse order",
     LIMB("revolute", "<limit lower='{-1|2}' upper='1' effort='5' velocity='1'/>", INERTIAL, ""),
     "reverse"},
    {"an attribute that nobody knows",
     LIMB("continuous", "", INERTIAL, "{|<link name='x' colour='red'/>}"), "colour"},
};

// ── Runs ─────────────────────────────────────────────────────────────────────────────────────────

static const char tetrahedron[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
// Two tetrahedra that share a vertex: not convex.
static const char dent[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    "v -1 0 0\nv 0 -1 0\nv 0 0 -1\nf 1 5 6\nf 1 7 5\nf 5 7 6\nf 1 6 7\n";
static const char stl[] =
    "solid s\nfacet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 "
    "0\nendloop\nendfacet\n"
    "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\n"
    "facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 "
    "0\nendloop\nendfacet\nendsolid s\n";
static const char dae[] =
    "<COLLADA><library_geometries><geometry id='g'><mesh><source id='p'><float_array id='pa' "
    "count='12'>0 0 0 1 0 0 0 1 0 0 0 "
    "1</float_array><technique_common><accessor source='#pa' count='4' "
    "stride='3'/></technique_common></source><vertices "
    "id='v'><input semantic='POSITION' source='#p'/></vertices><triangles count='4'><input "
    "semantic='VERTEX' source='#v' "
    "offset='0'/><p>0 2 1 0 1 3 1 2 3 0 3 "
    "2</p></triangles></mesh></geometry></library_geometries><library_visual_scenes>"
    "<visual_scene id='s'><node><instance_geometry "
    "url='#g'/></node></visual_scene></library_visual_scenes><scene>"
    "<instance_visual_scene url='#s'/></scene></COLLADA>";

static int make_files(void **state)
{
    static folder f;
    f = folder_create();
    write_file(&f, "part.obj", tetrahedron);
    write_file(&f, "dent.obj", dent);
    write_file(&f, "part.stl", stl);
    write_file(&f, "part.dae", dae);
    write_file(&f, "default.xml", "<mujoco><default><geom density='3'/></default></mujoco>");
    write_file(&f, "other.xml",
               "<mujoco><worldbody><body name='limb' pos='0 0 1'><joint/><geom size='.1' pos='0 .2 "
               "0'/></body></worldbody></mujoco>");
    char command[600], out[100];
    (void)snprintf(command, sizeof command, "mkdir %s/meshes", f.path);
    assert_int_equal(command_run(command, out, sizeof out), 0);
    write_file(&f, "meshes/part.obj", dent);
    *state = &f;
    return 0;
}

static int remove_files(void **state)
{
    folder_remove(*state);
    return 0;
}

static void compilers_of_mjcf(void **state)
{
    check(*state, compilers, COUNT(compilers));
}

static void bodies_of_mjcf(void **state)
{
    check(*state, bodies, COUNT(bodies));
}

static void joints_of_mjcf(void **state)
{
    check(*state, joints, COUNT(joints));
}

static void actuators_of_mjcf(void **state)
{
    check(*state, actuators, COUNT(actuators));
}

static void sensors_of_mjcf(void **state)
{
    check(*state, sensors, COUNT(sensors));
}

static void names_of_urdf(void **state)
{
    check(*state, urdf, COUNT(urdf));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compilers_of_mjcf), cmocka_unit_test(bodies_of_mjcf),
        cmocka_unit_test(joints_of_mjcf),    cmocka_unit_test(actuators_of_mjcf),
        cmocka_unit_test(sensors_of_mjcf),   cmocka_unit_test(names_of_urdf),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
