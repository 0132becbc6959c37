// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of replay/: a recording as one page for a browser.
//
//   bytes.c         text and bytes that grow, base64
//   column.c        numbers as bytes: encodings and names of the columns
//   model.c         columns that do not depend on time: start, outlines, events
//   plan.c          which frames are kept, and how many bits a number gets: a page of the size asked for
//   contact_ids.c   contact points followed through the run
//   gather.c        columns of numbers from the frames
//   about.c         what there is: bodies, shapes, joints, limits, and where each column lies, as JSON
//   replay.c        the page
//
// The page holds two blocks: <script type="application/json" id="perp-about"> and, as base64, the
// columns one after the other, little-endian (id="perp-data"). There are three groups of columns,
// s.* energy and certificate, p.* poses and joints, c.* contacts; each has its own times, and may
// be decimated by itself. Of frames that are left out the worst certificate and the sums of work
// are kept.
#pragma once

#include "base/base.h"

#include <perp/replay.h>
