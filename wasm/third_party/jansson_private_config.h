// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What jansson's configure would find for WASI.
#pragma once

#define HAVE_STDINT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE_FCNTL_H 1
#define HAVE_CLOSE 1
#define HAVE_OPEN 1
#define HAVE_READ 1
#define HAVE_STRTOLL 1
#define USE_URANDOM 0
#define INITIAL_HASHTABLE_ORDER 3
