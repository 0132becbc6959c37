// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The module perp_mpi: messages between ranks of MPI for `perp sweep`, which loads it when mpirun has started it. It is
// the only part of perp that links MPI.
#include "../sweep.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1 };

// A message on its way: its bytes must stay until it has left.
typedef struct letter {
    struct letter *next;
    MPI_Request request;
    char bytes[];
} letter;

static letter *posted;

// Frees what has left.
static void collect(void)
{
    for (letter **at = &posted; *at;) {
        letter *l = *at;
        int gone = 0;
        if (MPI_Test(&l->request, &gone, MPI_STATUS_IGNORE) == MPI_SUCCESS && gone) {
            *at = l->next;
            free(l);
        } else {
            at = &l->next;
        }
    }
}

static bool link_open(int *rank, int *size)
{
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) {
        return false;
    }
    // A rank that is gone must not end the others.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    return true;
}

static bool link_send(int to, const void *bytes, size_t size)
{
    collect();
    letter *l = malloc(sizeof *l + size);
    if (!l) {
        return false;
    }
    memcpy(l->bytes, bytes, size);
    // collect() completes the request, by MPI_Test
    // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)
    if (MPI_Isend(l->bytes, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &l->request) !=
        MPI_SUCCESS) {
        free(l);
        return false;
    }
    // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
    l->next = posted;
    posted = l;
    return true;
}

static size_t link_receive(int *from, void *bytes, size_t room)
{
    int there = 0, size = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there ||
        MPI_Get_count(&status, MPI_BYTE, &size) != MPI_SUCCESS || (size_t)size > room ||
        MPI_Recv(bytes, size, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        collect();
        return 0;
    }
    *from = status.MPI_SOURCE;
    return (size_t)size;
}

// MPI_Finalize waits for all ranks: where some are dead it is left out.
static void link_close(bool all)
{
    if (all) {
        while (posted) {
            collect();
        }
        MPI_Finalize();
    }
}

const sweep_link perp_mpi_link = {link_open, link_send, link_receive, link_close};
