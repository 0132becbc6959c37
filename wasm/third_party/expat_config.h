// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What expat's configure would find for WASI.
#pragma once

#define XML_DTD 1
#define XML_NS 1
#define XML_GE 1
#define XML_CONTEXT_BYTES 1024
#define BYTEORDER 1234
#define HAVE_ARC4RANDOM_BUF 1

#include <stddef.h>
void arc4random_buf(void *buffer, size_t size);
