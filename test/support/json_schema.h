// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A validator for the part of JSON Schema (draft 2020-12) that scenes/scene.schema.json uses: $ref within
// the document, type, enum, const, properties, required, additionalProperties, items, minItems, maxItems,
// minimum, exclusiveMinimum, maximum, minLength, maxLength, pattern, anyOf, allOf, if and then. A keyword
// beyond these is an error, so that none is overlooked.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Whether value keeps the schema (root: the whole document); otherwise why says where and what.
bool schema_holds(const json_t *root, const json_t *schema, const json_t *value, char *why,
                  size_t size);
