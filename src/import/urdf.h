// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The reader of URDF, the robot description of ROS.
#pragma once

#include "import/files.h"
#include "import/robot.h"

perp_status pp_urdf_read(pp_xml *root, pp_import_files *files, pp_import_report *report,
                         pp_robot *robot, perp_error *error);

// Vertices and triangles of a COLLADA file (dae.c), with the transforms of its nodes and its unit applied, and its
// up axis not, as URDF tools do. PERP_ERR_FORMAT: it has no triangles, or is not understood.
perp_status pp_dae_read(const char *text, size_t size, pp_arena *arena, pp_robot_mesh *mesh,
                        perp_error *error);
