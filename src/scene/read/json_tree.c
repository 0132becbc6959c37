// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON text into a tree. The same code reads the text twice: first to check it and to count the
// items of every array and object, then to fill arrays of those sizes. Strings only shrink when
// their escapes are resolved, so that the size of the text bounds all of them.
#include "scene/read/json_tree.h"

#include <string.h>

enum { DEPTH = 2048, FEW_KEYS = 16 };  // levels; keys that are compared one by one

typedef struct json_parser {
    const char *text, *at, *end;
    const char *broken;  // where it is not JSON; NULL: so far it is
    const char *why;
    int depth;
    uint32_t *items;  // of each array or object, in the order in which they open
    size_t containers, values;
    json_t *next;  // place of the next items; NULL while counting
    char *string;  // place of the next string; NULL while counting
    pp_arena *arena;
    bool memory;  // an allocation failed
} json_parser;

// Notes the first error, which is the one reported, and returns false.
static bool parse_fail(json_parser *p, const char *at, const char *why)
{
    if (!p->broken) {
        p->broken = at;
        p->why = why;
    }
    return false;
}

// The white space of JSON; isspace would also take a form feed, or more in some locales.
static void skip_space(json_parser *p)
{
    while (p->at < p->end &&
           (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')) {
        p->at++;
    }
}

static bool next_is(const json_parser *p, char c)
{
    return p->at < p->end && *p->at == c;
}

// ── Strings ──────────────────────────────────────────────────────────────────────────────────────

// Length of the UTF-8 character at `at` in bytes; 0: it is malformed. Overlong forms, surrogates
// and codes above 0x10ffff are malformed.
static size_t utf8_length(const char *at, const char *end)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)at;
    size_t length = c[0] < 0x80 ? 1 : 0;
    uint32_t code = c[0];
    for (size_t k = 2; k <= 4 && length == 0; k++) {  // 110xxxxx, 1110xxxx, 11110xxx
        unsigned head = (0xf00u >> k) & 0xffu, mask = (0xf80u >> k) & 0xffu;
        if ((c[0] & mask) == head) {
            length = k;
            code = c[0] & ~mask & 0xffu;
        }
    }
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    for (size_t k = 1; k < length; k++) {
        if ((c[k] & 0xc0u) != 0x80u) {
            return 0;
        }
        code = code << 6 | (c[k] & 0x3fu);
    }
    bool good = code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return good ? length : 0;
}

// The four hexadecimal digits of \uXXXX at `at`; -1: there are fewer.
static int32_t digits(const char *at, const char *end)
{
    int32_t value = 0;
    for (int k = 0; k < 4; k++) {
        char c = at + k < end ? at[k] : '\0';
        int digit = -1;
        if (c >= '0' && c <= '9') {
            digit = c - '0';
        } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
            digit = (c | 0x20) - 'a' + 10;
        }
        if (digit < 0) {
            return -1;
        }
        value = 16 * value + digit;
    }
    return value;
}

// Writes a code as UTF-8 and returns its length in bytes.
static size_t utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = 4;
    if (code < 0x10000) {
        length = code < 0x800 ? 2 : 3;
    }
    for (size_t k = length - 1; k > 0; k--) {
        out[k] = (char)(0x80u | (code & 0x3fu));
        code >>= 6;
    }
    out[0] = (char)((0xf00u >> length) | code);
    return length;
}

// \uXXXX, with a second one where the first is a high surrogate. Writes the character and returns
// its length in bytes; 0: it is none. A zero is refused: strings end with it.
static size_t read_unicode(json_parser *p, char out[4])
{
    int32_t code = digits(p->at + 1, p->end);
    p->at += 5;
    if (code >= 0xd800 && code <= 0xdbff) {
        int32_t low = p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u'
                          ? digits(p->at + 2, p->end)
                          : -1;
        p->at += 6;
        bool pair = low >= 0xdc00 && low <= 0xdfff;
        code = pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        code = -1;
    }
    return code > 0 ? utf8_encode((uint32_t)code, out) : 0;
}

// The character after a backslash.
static size_t read_escape(json_parser *p, char out[4])
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = p->at < p->end ? *p->at : '\0';
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        out[0] = to[known - from];
        p->at++;
        return 1;
    }
    return c == 'u' ? read_unicode(p, out) : 0;
}

// Reads a string from its opening quote. While counting nothing is stored, and *string is NULL.
static bool read_string(json_parser *p, const char **string, uint32_t *length)
{
    const char *start = p->at++;
    char *to = p->string;
    *string = to;
    for (;;) {
        char piece[4];
        const char *from = p->at;
        if (p->at >= p->end || (unsigned char)*p->at < ' ') {
            return parse_fail(p, start, "unterminated string");
        }
        if (*p->at == '"') {
            break;
        }
        // An escape is resolved into `piece`; anything else is one UTF-8 character, copied from the
        // text.
        size_t count = *p->at == '\\' ? 0 : utf8_length(p->at, p->end);
        bool escaped = *p->at == '\\';
        p->at += escaped ? 1 : count;
        count = escaped ? read_escape(p, piece) : count;
        if (count == 0) {
            return parse_fail(p, from, escaped ? "invalid escape" : "invalid UTF-8");
        }
        if (to) {
            memcpy(to, escaped ? piece : from, count);
            to += count;
        }
    }
    p->at++;
    if (to) {
        *to = '\0';
        *length = (uint32_t)(to - p->string);
        p->string = to + 1;
    }
    return true;
}

// ── Numbers and words ────────────────────────────────────────────────────────────────────────────

static bool is_digit(const json_parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static void skip_digits(json_parser *p)
{
    while (is_digit(p)) {
        p->at++;
    }
}

// False: it does not fit into 64 bits.
static bool read_integer(const char *from, const char *to, json_int_t *value)
{
    bool minus = *from == '-';
    uint64_t most = (uint64_t)INT64_MAX + (minus ? 1 : 0), sum = 0;
    for (from += minus; from < to; from++) {
        uint64_t digit = (uint64_t)(*from - '0');
        if (sum > (most - digit) / 10) {
            return false;
        }
        sum = 10 * sum + digit;
    }
    *value = minus ? (json_int_t)(0 - sum) : (json_int_t)sum;
    return true;
}

// A number by the grammar of JSON: no leading zeros, digits on both sides of a point. Without point
// and exponent it is an integer.
static bool read_number(json_parser *p, json_t *out)
{
    const char *start = p->at;
    p->at += *p->at == '-';
    const char *first = p->at;
    bool whole = true, good = is_digit(p);
    skip_digits(p);
    // 01 is no number.
    good = good && !(*first == '0' && p->at > first + 1);
    if (good && next_is(p, '.')) {
        whole = false;
        p->at++;
        good = is_digit(p);
        skip_digits(p);
    }
    if (good && (next_is(p, 'e') || next_is(p, 'E'))) {
        whole = false;
        p->at++;
        p->at += next_is(p, '+') || next_is(p, '-');
        good = is_digit(p);
        skip_digits(p);
    }
    json_t value = {.type = whole ? JSON_INTEGER : JSON_REAL};
    if (!good) {
        return parse_fail(p, start, "a number expected");
    }
    if (whole && !read_integer(start, p->at, &value.as.integer)) {
        return parse_fail(p, start, "integer too large");
    }
    if (!whole &&
        pp_number_parse(start, (size_t)(p->at - start), &value.as.real) != PP_NUMBER_FINITE) {
        return parse_fail(p, start, "number too large");
    }
    if (out) {
        *out = value;
    }
    return true;
}

// true, false or null. All letters are taken, so that a message shows the whole word.
static bool read_word(json_parser *p, json_t *out)
{
    static const struct {
        const char *word;
        json_type type;
    } words[] = {{"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}};
    const char *start = p->at;
    while (p->at < p->end &&
           ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z'))) {
        p->at++;
    }
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        size_t length = strlen(words[k].word);
        if ((size_t)(p->at - start) == length && memcmp(start, words[k].word, length) == 0) {
            if (out) {
                *out = (json_t){.type = (uint8_t)words[k].type};
            }
            return true;
        }
    }
    return parse_fail(p, start, "a value expected");
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static bool read_value(json_parser *p, json_t *out);

// Index of the first key that an earlier item has as well; the number of items: all differ. Objects
// with many keys take a hash table with linear probing.
static size_t find_double(json_parser *p, const json_t *object)
{
    const json_t *item = object->as.item;
    size_t count = object->count, slots = 64;
    if (count <= FEW_KEYS) {
        for (size_t k = 1; k < count; k++) {
            for (size_t i = 0; i < k; i++) {
                if (strcmp(item[i].key, item[k].key) == 0) {
                    return k;
                }
            }
        }
        return count;
    }
    while (slots < 2 * count) {
        slots *= 2;
    }
    pp_mark mark = pp_arena_mark(p->arena);
    uint32_t *slot = PP_ZEROS(p->arena, uint32_t, slots);  // index + 1; 0: free
    if (!slot) {
        p->memory = true;
        return 0;
    }
    size_t k = 0;
    // Linear probing ends: at least half of the slots are free.
    for (; k < count; k++) {
        size_t at = (size_t)pp_hash(0, item[k].key, strlen(item[k].key)) & (slots - 1);
        while (slot[at] > 0 && strcmp(item[slot[at] - 1].key, item[k].key) != 0) {
            at = (at + 1) & (slots - 1);
        }
        if (slot[at] > 0) {
            break;
        }
        slot[at] = (uint32_t)k + 1;
    }
    pp_arena_release(p->arena, mark);
    return k;
}

// A key and its colon, before a value of an object.
static bool read_key(json_parser *p, const char **key)
{
    uint32_t length;
    skip_space(p);
    if (!next_is(p, '"')) {
        return parse_fail(p, p->at, "string or '}' expected");
    }
    if (!read_string(p, key, &length)) {
        return false;
    }
    skip_space(p);
    if (!next_is(p, ':')) {
        return parse_fail(p, p->at, "':' expected");
    }
    p->at++;
    return true;
}

// Place of key k in the text of the object at `start`, for a message: the object is read once more,
// in the counting mode. id: its number among arrays and objects.
static const char *key_place(const json_parser *p, const char *start, size_t id, size_t k)
{
    json_parser q = *p;
    const char *place = start, *key;
    q.at = start + 1;
    q.containers = id + 1;
    q.next = NULL;
    q.string = NULL;
    for (size_t i = 0; i <= k; i++) {
        skip_space(&q);
        q.at += i > 0;  // the comma
        skip_space(&q);
        place = q.at;
        if (!read_key(&q, &key) || !read_value(&q, NULL)) {
            break;
        }
    }
    return place;
}

// An array or object, from its opening bracket. Items of one container are neighbours: the counting
// pass has found how many there are, so that their place is reserved before those of inner
// containers.
static bool read_items(json_parser *p, json_t *out)
{
    const char *start = p->at;
    bool object = *p->at++ == '{';
    char close = object ? '}' : ']';
    size_t id = p->containers++, count = 0;
    json_t *item = p->next;
    if (item) {
        p->next += p->items[id];
    }
    skip_space(p);
    bool more = !next_is(p, close);
    while (more) {
        const char *key = NULL;
        if ((object && !read_key(p, &key)) || !read_value(p, item ? item + count : NULL)) {
            return false;
        }
        if (item) {
            item[count].key = key;
        }
        count++;
        skip_space(p);
        more = next_is(p, ',');
        p->at += more;
    }
    if (!next_is(p, close)) {
        return parse_fail(p, p->at, object ? "'}' expected" : "']' expected");
    }
    p->at++;
    // Keys are compared in the second pass, where all of them are stored.
    if (!item) {
        p->items[id] = (uint32_t)count;
        return true;
    }
    *out = (json_t){
        .as.item = item, .count = (uint32_t)count, .type = object ? JSON_OBJECT : JSON_ARRAY};
    size_t twice = object ? find_double(p, out) : count;
    return twice == count || parse_fail(p, key_place(p, start, id, twice), "duplicate object key");
}

// Any value. out is NULL while counting.
static bool read_value(json_parser *p, json_t *out)
{
    skip_space(p);
    if (p->at >= p->end) {
        return parse_fail(p, p->end, "a value expected");
    }
    p->values++;
    // The recursion is bounded, so that no text can exhaust the stack.
    if (++p->depth > DEPTH) {
        return parse_fail(p, p->at, "maximum parsing depth reached");
    }
    json_t string = {.type = JSON_STRING};
    bool good;
    switch (*p->at) {
    case '{':
    case '[':
        good = read_items(p, out);
        break;
    case '"':
        good = read_string(p, &string.as.string, &string.count);
        if (good && out) {
            *out = string;
        }
        break;
    default:
        good = is_digit(p) || *p->at == '-' ? read_number(p, out) : read_word(p, out);
    }
    p->depth--;
    return good;
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

// One pass over the text.
static bool read_text(json_parser *p, json_t *root)
{
    p->at = p->text;
    p->containers = 0;
    p->values = 0;
    p->depth = 0;
    skip_space(p);
    if (!next_is(p, '{') && !next_is(p, '[')) {
        return parse_fail(p, p->at, "'[' or '{' expected");
    }
    bool good = read_value(p, root);
    skip_space(p);
    return good && (p->at == p->end || parse_fail(p, p->at, "end of file expected"));
}

static perp_status no_memory(perp_error *error)
{
    return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the file");
}

perp_status pp_json_parse(const char *text, size_t size, pp_arena *arena, const json_t **root,
                          perp_error *error)
{
    json_parser p = {.text = text, .end = text + size, .arena = arena};
    size_t containers = 0;
    // Every bracket could open a container; those within strings make the estimate too large.
    for (size_t k = 0; k < size; k++) {
        containers += text[k] == '{' || text[k] == '[';
    }
    p.items = PP_ARRAY(arena, uint32_t, containers);
    if (!p.items || size > UINT32_MAX) {
        return no_memory(error);
    }
    // Counting, then filling.
    bool good = read_text(&p, NULL);
    json_t *values = good ? PP_ARRAY(arena, json_t, p.values) : NULL;
    p.string = good ? PP_ARRAY(arena, char, size + 1) : NULL;
    if (good && (!values || !p.string)) {
        return no_memory(error);
    }
    if (good) {
        values[0] = (json_t){0};
        p.next = values + 1;
        good = read_text(&p, values);
    }
    if (p.memory) {
        return no_memory(error);
    }
    *root = values;
    if (good) {
        return PERP_OK;
    }
    // The message quotes the word at the error, cut at 24 bytes.
    pp_scan scan = pp_scan_start(text, size, error);
    size_t left = (size_t)(p.end - p.broken), length = 0;
    while (length < left && length < 24 && !strchr(" \t\r\n,:]}", p.broken[length] & 0x7f)) {
        length++;
    }
    length = length == 0 && left > 0 ? 1 : length;
    return left == 0 ? pp_scan_fail(&scan, p.broken, "JSON: %s near end of file", p.why)
                     : pp_scan_fail(&scan, p.broken, "JSON: %s near '%.*s'", p.why, (int)length,
                                    p.broken);
}

// ── Printing ─────────────────────────────────────────────────────────────────────────────────────

// A text of fixed size; full: something did not fit.
// Each page_put adds a whole piece or nothing, so that no character is cut.
typedef struct page {
    char *text;
    size_t used, size;
    int depth;
    bool full;
} page;

static void page_put(page *out, const char *text)
{
    size_t length = strlen(text);
    if (out->used + length >= out->size) {
        out->full = true;
        return;
    }
    memcpy(out->text + out->used, text, length + 1);
    out->used += length;
}

static void put_string(page *out, const char *string)
{
    page_put(out, "\"");
    for (; *string; string++) {
        if (out->full) {
            break;
        }
        bool escaped = *string == '"' || *string == '\\';
        const char one[3] = {escaped ? '\\' : *string, escaped ? *string : '\0', '\0'};
        page_put(out, one);
    }
    page_put(out, "\"");
}

// Numbers have six digits: the text is for messages, not for reading back.
static void put_value(page *out, const json_t *value)
{
    char number[40] = "null";
    bool object = json_is_object(value);
    if (json_is_string(value)) {
        put_string(out, value->as.string);
        return;
    }
    // Scalars are short; the others are cut where the page is full.
    if (!object && !json_is_array(value)) {
        if (json_is_number(value)) {
            pp_print(number, sizeof number, "%.6g", json_number_value(value));
        } else if (json_is_boolean(value)) {
            pp_print(number, sizeof number, json_is_true(value) ? "true" : "false");
        }
        page_put(out, number);
        return;
    }
    page_put(out, object ? "{" : "[");
    for (uint32_t k = 0; k < value->count; k++) {
        if (out->full) {
            break;
        }
        page_put(out, k > 0 ? ", " : "");
        if (object) {
            put_string(out, value->as.item[k].key);
            page_put(out, ": ");
        }
        put_value(out, &value->as.item[k]);
    }
    page_put(out, object ? "}" : "]");
}

bool pp_json_print(const json_t *value, char *text, size_t size)
{
    page out = {.text = text, .size = size};
    text[0] = '\0';
    put_value(&out, value);
    return !out.full;
}
