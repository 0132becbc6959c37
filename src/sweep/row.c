// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A row as bytes: a head, the outputs, the reason, and a checksum over all of it.
//
// Parameters are not stored: they follow from the index. Numbers have the byte order of the machine: shards are read by
// the machines that wrote them, results for others are in sweep.h5 and sweep.csv.
#include "sweep/own.h"

#include <math.h>
#include <string.h>

// The first bytes of a row; the identity of the sweep is part of the checksum.
typedef struct head {
    uint32_t mark, size;  // size: of the whole row, with its checksum
    int64_t index;
    uint32_t status, reason;  // reason: bytes of its text
} head;

enum { MARK = 0x31775270 };  // "pRw1" on a little-endian machine

size_t perp_sweep_row_room(const perp_sweep *sweep)
{
    if (!sweep) {
        return 0;
    }
    return sizeof(head) + (size_t)sweep->outputs * sizeof(double) +
           sizeof((perp_sweep_row *)0)->reason + sizeof(uint64_t);
}

static uint64_t checksum(const perp_sweep *sweep, const void *bytes, size_t size)
{
    return pp_hash(sweep->identity, bytes, size);
}

size_t perp_sweep_row_pack(const perp_sweep *sweep, const perp_sweep_row *row, void *bytes,
                           size_t size)
{
    if (!sweep || !row || !bytes) {
        return 0;
    }
    size_t values = (size_t)sweep->outputs * sizeof(double), reason = strlen(row->reason);
    size_t whole = sizeof(head) + values + reason + sizeof(uint64_t);
    if (size < whole) {
        return 0;
    }
    head h = {.mark = MARK,
              .size = (uint32_t)whole,
              .index = row->index,
              .status = (uint32_t)row->status,
              .reason = (uint32_t)reason};
    char *at = bytes;
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, row->value + sweep->factors, values);
    memcpy(at + sizeof h + values, row->reason, reason);
    uint64_t sum = checksum(sweep, bytes, whole - sizeof sum);
    memcpy(at + whole - sizeof sum, &sum, sizeof sum);
    return whole;
}

size_t perp_sweep_row_size(const perp_sweep *sweep, const void *bytes, size_t size)
{
    head h;
    if (!sweep || !bytes || size < sizeof h) {
        return 0;
    }
    memcpy(&h, bytes, sizeof h);
    size_t values = (size_t)sweep->outputs * sizeof(double);
    bool good = h.mark == MARK && h.reason < sizeof((perp_sweep_row *)0)->reason &&
                h.size == sizeof h + values + h.reason + sizeof(uint64_t) && h.index >= 0 &&
                h.index < sweep->runs && h.status < PERP_RUN_MISSING;
    if (!good) {
        return SIZE_MAX;
    }
    return size < h.size ? 0 : h.size;
}

bool perp_sweep_row_unpack(const perp_sweep *sweep, const void *bytes, size_t size,
                           perp_sweep_row *row)
{
    size_t whole = perp_sweep_row_size(sweep, bytes, size);
    if (whole == 0 || whole == SIZE_MAX) {
        return false;
    }
    head h;
    uint64_t sum;
    const char *at = bytes;
    memcpy(&h, at, sizeof h);
    memcpy(&sum, at + whole - sizeof sum, sizeof sum);
    if (sum != checksum(sweep, bytes, whole - sizeof sum)) {
        return false;
    }
    size_t values = (size_t)sweep->outputs * sizeof(double);
    perp_sweep_row_failed(sweep, h.index, (perp_run_status)h.status, "", row);
    memcpy(row->value + sweep->factors, at + sizeof h, values);
    memcpy(row->reason, at + sizeof h + values, h.reason);
    row->reason[h.reason] = '\0';
    return true;
}
