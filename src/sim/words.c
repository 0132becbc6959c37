// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The words for the choices of a sim: one table for scene files, recordings and the command line.
#include <perp/sim.h>

// The word at an index; NULL where there is none, by which callers know that a value is unknown.
#define PICK(table, index)                                                                         \
    ((index) >= 0 && (index) < (int)(sizeof(table) / sizeof(table)[0]) ? (table)[index] : NULL)

// The order is that of the enums; scene.schema.json has the same words.
const char *perp_stepper_word(int stepper)
{
    static const char *const words[] = {[PERP_STEPPER_STEWART_TRINKLE] = "stewart-trinkle",
                                        [PERP_STEPPER_ANITESCU_POTRA] = "anitescu-potra",
                                        [PERP_STEPPER_MOREAU_JEAN] = "moreau-jean",
                                        [PERP_STEPPER_QUASISTATIC] = "quasistatic",
                                        [PERP_STEPPER_EVENT] = "event",
                                        [PERP_STEPPER_IMPLICIT] = "implicit"};
    return PICK(words, stepper);
}

const char *perp_form_word(int form)
{
    static const char *const words[] = {[PERP_FORM_AUTO] = "auto",
                                        [PERP_FORM_MCP] = "mcp",
                                        [PERP_FORM_LCP] = "lcp",
                                        [PERP_FORM_CONE] = "cone"};
    return PICK(words, form);
}

const char *perp_friction_law_word(int law)
{
    static const char *const words[] = {[PERP_FRICTION_COULOMB] = "coulomb",
                                        [PERP_FRICTION_NONE] = "none",
                                        [PERP_FRICTION_PYRAMID] = "pyramid"};
    return PICK(words, law);
}

const char *perp_impact_law_word(int law)
{
    static const char *const words[] = {
        [PERP_IMPACT_NEWTON] = "newton", [PERP_IMPACT_POISSON] = "poisson"};
    return PICK(words, law);
}

const char *perp_rotation_update_word(int update)
{
    static const char *const words[] = {
        [PERP_ROTATION_EXPONENTIAL] = "exponential", [PERP_ROTATION_LINEAR] = "linear"};
    return PICK(words, update);
}

const char *perp_gyroscopic_word(int how)
{
    static const char *const words[] = {
        [PERP_GYROSCOPIC_IMPLICIT] = "implicit", [PERP_GYROSCOPIC_EXPLICIT] = "explicit"};
    return PICK(words, how);
}

const char *perp_positions_word(int how)
{
    static const char *const words[] = {
        [PERP_POSITIONS_LINEAR] = "linear", [PERP_POSITIONS_EXACT] = "exact"};
    return PICK(words, how);
}

const char *perp_start_word(int how)
{
    static const char *const words[] = {
        [PERP_START_MENDED] = "mended", [PERP_START_AS_GIVEN] = "as given"};
    return PICK(words, how);
}

const char *perp_coordinates_word(int which)
{
    static const char *const words[] = {[PERP_COORDINATES_BODY] = "body",
                                        [PERP_COORDINATES_JOINT] = "joint",
                                        [PERP_COORDINATES_AUTO] = "auto"};
    return PICK(words, which);
}

const char *perp_uniqueness_word(int which)
{
    static const char *const words[] = {[PERP_UNIQUENESS_UNKNOWN] = "unknown",
                                        [PERP_UNIQUENESS_PROVED] = "unique",
                                        [PERP_UNIQUENESS_DISPROVED] = "not unique"};
    return PICK(words, which);
}

const char *perp_contact_mode_word(int mode)
{
    static const char *const words[] = {
        [PERP_CONTACT_OPEN] = "open", [PERP_CONTACT_STICK] = "stick", [PERP_CONTACT_SLIP] = "slip"};
    return PICK(words, mode);
}

const char *perp_event_kind_word(int kind)
{
    static const char *const words[] = {[PERP_EVENT_IMPACT] = "impact",
                                        [PERP_EVENT_SEPARATION] = "separation",
                                        [PERP_EVENT_STICK_TO_SLIP] = "stick-to-slip",
                                        [PERP_EVENT_SLIP_TO_STICK] = "slip-to-stick",
                                        [PERP_EVENT_LIMIT_REACHED] = "limit-reached",
                                        [PERP_EVENT_LIMIT_LEFT] = "limit-left",
                                        [PERP_EVENT_EFFORT_BOUND] = "effort-bound",
                                        [PERP_EVENT_EFFORT_WITHIN] = "effort-within",
                                        [PERP_EVENT_ZENO] = "zeno",
                                        [PERP_EVENT_PAINLEVE] = "painleve",
                                        [PERP_EVENT_PROJECTED] = "projected",
                                        [PERP_EVENT_CAPTURED] = "captured"};
    return PICK(words, kind);
}
