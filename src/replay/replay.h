// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of replay/: a recording as one page for a browser.
//
//   bytes.c    text and bytes that grow, base64
//   plan.c     which frames are kept, and how many bits a number gets: a page of the size asked for
//   gather.c   columns of numbers from the frames
//   about.c    what there is: bodies, shapes, joints, limits, and where each column lies, as JSON
//   replay.c   the page
//
// The page holds two blocks: <script type="application/json" id="perp-about"> and, as base64, the
// columns one after the other, little-endian (id="perp-data"). Three clocks run through them: s.* energy and
// certificate, p.* poses and joints, c.* contacts; each has its own times and may be thinned by itself. What a
// thinned clock leaves out is merged: the worst certificate, sums of work.
#pragma once

#include "base/base.h"

#include <perp/replay.h>
