// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// SVG, HTML and other text in memory.
//
// Numbers are written by hand, since printf follows the locale. Names from scenes may hold any
// bytes: they are made valid UTF-8 and valid XML 1.0. Widths of text are those of the widest font
// that a viewer is likely to take.
#include "plot/draw/svg.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

#define INK    "#222222"
#define FAMILY "Helvetica, Arial, 'Liberation Sans', sans-serif"

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

void pp_svg_free(pp_svg *svg)
{
    pp_free(svg->env, svg->text, svg->size);
    *svg = (pp_svg){.env = svg->env};
}

// Doubles the room: writing n bytes takes time O(n) in all.
static bool grow_text(pp_svg *svg, size_t more)
{
    if (svg->failed) {
        return false;
    }
    if (svg->used + more < svg->size) {
        return true;
    }
    size_t size = 2 * (svg->used + more) + 4096;
    char *text = pp_block_move(svg->env, svg->text, svg->size, svg->used, size);
    if (!text) {
        svg->failed = true;
        return false;
    }
    svg->text = text;
    svg->size = size;
    return true;
}

// Text stays terminated.
static void put_bytes(pp_svg *svg, const char *text, size_t length)
{
    if (length > 0 && grow_text(svg, length)) {
        memcpy(svg->text + svg->used, text, length);
        svg->used += length;
        svg->text[svg->used] = '\0';
    }
}

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────

// As it is: the caller's text is valid where it is put.
void pp_svg_put(pp_svg *svg, const char *text)
{
    put_bytes(svg, text, strlen(text));
}

// What a character becomes in XML, NULL: itself.
static const char *xml_entity(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return c < 0x20 || c == 0x7f ? " " : NULL;  // XML 1.0 has no control characters
    }
}

// Length of the UTF-8 sequence at text; 0 when it is malformed or not a character of XML 1.0.
static size_t utf8_length(const char *text)
{
    unsigned char lead = (unsigned char)text[0];
    // A byte that continues a character; two-byte forms of ASCII; codes past U+10FFFF.
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4) {
        return 0;
    }
    size_t length = 1;
    if (lead >= 0xf0) {
        length = 4;
    } else if (lead >= 0xe0) {
        length = 3;
    } else if (lead >= 0x80) {
        length = 2;
    }
    // The bits of the lead byte that belong to the code.
    uint32_t code = length == 1 ? lead : lead & (0x7fU >> length);
    for (size_t k = 1; k < length; k++) {
        unsigned char next = (unsigned char)text[k];
        if ((next & 0xc0U) != 0x80) {
            return 0;
        }
        code = code << 6 | (next & 0x3fU);
    }
    // A form longer than needed; two-byte ones were refused above.
    bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    // Surrogates, non-characters, and codes past the end of Unicode.
    bool outside =
        (code >= 0xd800 && code < 0xe000) || (code & 0xfffeU) == 0xfffe || code > 0x10ffff;
    return overlong || outside ? 0 : length;
}

// At most `bytes` of text, cut between characters. What is no UTF-8 becomes U+FFFD.
static void escape_bytes(pp_svg *svg, const char *text, size_t bytes)
{
    for (size_t k = 0; k < bytes && text[k];) {
        size_t length = utf8_length(text + k);
        // An entity, the replacement character, or NULL: the bytes themselves.
        const char *instead = length ? xml_entity((unsigned char)text[k]) : "\xef\xbf\xbd";
        if (instead) {
            pp_svg_put(svg, instead);
        } else {
            put_bytes(svg, text + k, length);
        }
        k += length ? length : 1;
    }
}

void pp_svg_escape(pp_svg *svg, const char *text)
{
    escape_bytes(svg, text, strlen(text));
}

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

// Digits by hand: no locale, no grouping.
void pp_svg_integer(pp_svg *svg, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0U - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    put_bytes(svg, digits + at, sizeof digits - at);
}

// Rounded to the nearest; from the last digit to the first.
void pp_decimal_text(char text[PP_NUMBER], double value, int decimals, bool trim, const char *minus)
{
    // Rounded half up, as an integer of the last decimal.
    double scaled = isnan(value) ? 0.0 : fmin(fabs(value) * pp_pow(10.0, decimals) + 0.5, 9.0e15);
    uint64_t whole = (uint64_t)scaled;
    // What rounds to zero has no sign.
    const char *sign = value < 0.0 && whole > 0 ? minus : "";
    // 1.50 becomes 1.5.
    while (trim && decimals > 0 && whole % 10 == 0) {
        whole /= 10;
        decimals--;
    }
    // 16 digits of 2^53, the point, and up to 15 decimals.
    char digits[40];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    for (int k = 0; k <= decimals || whole > 0; k++) {
        if (k == decimals && k > 0) {
            digits[--at] = '.';
        }
        digits[--at] = (char)('0' + whole % 10);
        whole /= 10;
    }
    pp_print(text, PP_NUMBER, "%s%s", sign, digits + at);
}

// Two decimals are 1/100 pt, finer than any printer; far values are cut.
static void put_coordinate(pp_svg *svg, double value)
{
    char text[PP_NUMBER];
    pp_decimal_text(text, fmax(-1e6, fmin(value, 1e6)), 2, true, "-");
    pp_svg_put(svg, text);
}

// 0.001 to 99999 as decimals, all else with a power of ten.
void pp_value_text(char text[PP_NUMBER], double value, const char *open, const char *close)
{
    if (!isfinite(value)) {
        pp_print(text, PP_NUMBER, isnan(value) ? "not a number" : "infinite");
        return;
    }
    // The power of ten after rounding to three digits.
    int power = value == 0.0 ? 0 : (int)floor(pp_log10(fabs(value)) + 2.2e-3);  // 0.9995 is 1.00
    if (power >= -3 && power < 5) {
        pp_decimal_text(text, value, power > 2 ? 0 : 2 - power, true, PP_MINUS);
        return;
    }
    char mantissa[PP_NUMBER];
    pp_decimal_text(mantissa, value / pp_pow(10.0, power), 2, true, PP_MINUS);
    pp_print(text, PP_NUMBER, "%s\xc2\xb7%d%s%s%d%s", mantissa, 10, open, power < 0 ? PP_MINUS : "",
             power < 0 ? -power : power, close);
}

// ── The file ─────────────────────────────────────────────────────────────────────────────────────

// Coordinates and sizes have two decimals.
void pp_svg_attribute(pp_svg *svg, const char *name, double value)
{
    pp_svg_put(svg, " ");
    pp_svg_put(svg, name);
    pp_svg_put(svg, "=\"");
    put_coordinate(svg, value);
    pp_svg_put(svg, "\"");
}

// The value is escaped.
static void text_attribute(pp_svg *svg, const char *name, const char *value)
{
    pp_svg_put(svg, " ");
    pp_svg_put(svg, name);
    pp_svg_put(svg, "=\"");
    pp_svg_escape(svg, value);
    pp_svg_put(svg, "\"");
}

// Sizes in points, with a white page: dark viewers would show dark lines on dark ground.
void pp_svg_open(pp_svg *svg, double width, double height, const char *title)
{
    pp_svg_put(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"");
    put_coordinate(svg, width);
    pp_svg_put(svg, "pt\" height=\"");
    put_coordinate(svg, height);
    pp_svg_put(svg, "pt\" viewBox=\"0 0 ");
    put_coordinate(svg, width);
    pp_svg_put(svg, " ");
    put_coordinate(svg, height);
    pp_svg_put(svg,
               "\" font-family=\"" FAMILY "\" fill=\"none\" stroke-linejoin=\"round\">\n<title>");
    pp_svg_escape(svg, title);
    pp_svg_put(svg, "</title>\n");
    pp_svg_rect(svg, 0.0, 0.0, width, height, (pp_pen){.fill = "#ffffff"});
}

void pp_svg_close(pp_svg *svg)
{
    pp_svg_put(svg, "</svg>\n");
}

// Attributes that are not set are inherited from the group.
void pp_svg_pen(pp_svg *svg, pp_pen pen)
{
    if (pen.fill) {
        text_attribute(svg, "fill", pen.fill);
    }
    if (pen.stroke) {
        text_attribute(svg, "stroke", pen.stroke);
    }
    if (pen.width > 0.0) {
        pp_svg_attribute(svg, "stroke-width", pen.width);
    }
    if (pen.veil > 0.0) {
        pp_svg_attribute(svg, "fill-opacity", pen.veil);
    }
    if (pen.dash) {
        text_attribute(svg, "stroke-dasharray", pen.dash);
    }
    // 0 and 1 are opaque, which is the default.
    if (pen.opacity > 0.0 && pen.opacity < 1.0) {
        pp_svg_attribute(svg, "opacity", pen.opacity);
    }
}

// What is in a group inherits its pen.
void pp_svg_group(pp_svg *svg, pp_pen pen)
{
    pp_svg_put(svg, "<g");
    pp_svg_pen(svg, pen);
    pp_svg_put(svg, ">\n");
}

void pp_svg_end_group(pp_svg *svg)
{
    pp_svg_put(svg, "</g>\n");
}

// A clip path and a group that uses it.
void pp_svg_clip(pp_svg *svg, int number, double x, double y, double width, double height)
{
    pp_svg_put(svg, "<clipPath id=\"clip");
    pp_svg_integer(svg, number);
    pp_svg_put(svg, "\">");
    pp_svg_rect(svg, x, y, width, height, (pp_pen){0});
    pp_svg_put(svg, "</clipPath>\n<g clip-path=\"url(#clip");
    pp_svg_integer(svg, number);
    pp_svg_put(svg, ")\">\n");
}

// ── Elements ─────────────────────────────────────────────────────────────────────────────────────

// Ends an element without content.
static void finish_element(pp_svg *svg, pp_pen pen)
{
    pp_svg_pen(svg, pen);
    pp_svg_put(svg, "/>\n");
}

void pp_svg_line(pp_svg *svg, double x1, double y1, double x2, double y2, pp_pen pen)
{
    pp_svg_put(svg, "<line");
    pp_svg_attribute(svg, "x1", x1);
    pp_svg_attribute(svg, "y1", y1);
    pp_svg_attribute(svg, "x2", x2);
    pp_svg_attribute(svg, "y2", y2);
    finish_element(svg, pen);
}

void pp_svg_rect(pp_svg *svg, double x, double y, double width, double height, pp_pen pen)
{
    pp_svg_put(svg, "<rect");
    pp_svg_attribute(svg, "x", x);
    pp_svg_attribute(svg, "y", y);
    pp_svg_attribute(svg, "width", fmax(width, 0.0));
    pp_svg_attribute(svg, "height", fmax(height, 0.0));
    finish_element(svg, pen);
}

void pp_svg_circle(pp_svg *svg, double x, double y, double radius, pp_pen pen)
{
    pp_svg_put(svg, "<circle");
    pp_svg_attribute(svg, "cx", x);
    pp_svg_attribute(svg, "cy", y);
    pp_svg_attribute(svg, "r", radius);
    finish_element(svg, pen);
}

// The pen is an attribute of the whole path.
void pp_svg_path(pp_svg *svg, pp_pen pen)
{
    pp_svg_put(svg, "<path");
    pp_svg_pen(svg, pen);
    pp_svg_put(svg, " d=\"");
}

// A command of a path with its coordinates.
static void put_point(pp_svg *svg, const char *command, double x, double y)
{
    pp_svg_put(svg, command);
    put_coordinate(svg, x);
    pp_svg_put(svg, " ");
    put_coordinate(svg, y);
}

void pp_svg_move(pp_svg *svg, double x, double y)
{
    put_point(svg, "M", x, y);
}

void pp_svg_to(pp_svg *svg, double x, double y)
{
    put_point(svg, "L", x, y);
}

// A line of length zero: round caps make it a dot.
void pp_svg_dot(pp_svg *svg, double x, double y)
{
    put_point(svg, "M", x, y);
    pp_svg_put(svg, "h0");
}

// sweep: clockwise on the page. The smaller of the two arcs.
void pp_svg_arc(pp_svg *svg, double radius, bool sweep, double x, double y)
{
    put_point(svg, "A", radius, radius);
    put_point(svg, sweep ? " 0 0 1 " : " 0 0 0 ", x, y);
}

// Closes the outline, with a proper corner.
void pp_svg_shut(pp_svg *svg)
{
    pp_svg_put(svg, "Z");
}

void pp_svg_end_path(pp_svg *svg)
{
    pp_svg_put(svg, "\"/>\n");
}

// ── Lines of type ────────────────────────────────────────────────────────────────────────────────

// turned: rotated by 90 degrees against the clock about (x, y).
static void open_text(pp_svg *svg, double x, double y, pp_anchor anchor, double size, bool turned)
{
    // In the order of pp_anchor.
    static const char *const anchors[] = {"start", "middle", "end"};
    pp_svg_put(svg, "<text");
    if (turned) {
        pp_svg_put(svg, " transform=\"translate(");
        put_coordinate(svg, x);
        pp_svg_put(svg, " ");
        put_coordinate(svg, y);
        pp_svg_put(svg, ") rotate(-90)\"");
    } else {
        pp_svg_attribute(svg, "x", x);
        pp_svg_attribute(svg, "y", y);
    }
    text_attribute(svg, "text-anchor", anchors[anchor]);
    pp_svg_attribute(svg, "font-size", size);
    pp_svg_put(svg, " fill=\"" INK "\">");
}

// Bytes of text that fit into the width `most` [pt], whole characters only.
static size_t fitting_bytes(const char *text, double size, double most)
{
    char head[8];
    double width = 0.0;
    size_t k = 0;
    while (text[k]) {
        size_t length = utf8_length(text + k);
        length = length ? length : 1;
        memcpy(head, text + k, length);
        head[length] = '\0';
        width += pp_text_width(head, size);
        if (width > most) {
            return k;
        }
        k += length;
    }
    return k;
}

// size is the height of type [pt]; the ellipsis takes about one em.
void pp_svg_name(pp_svg *svg, double x, double y, pp_anchor anchor, double size, double most,
                 const char *text)
{
    open_text(svg, x, y, anchor, size, false);
    // Room for the ellipsis is kept free.
    if (most > 0.0 && pp_text_width(text, size) > most) {
        escape_bytes(svg, text, fitting_bytes(text, size, most - size));
        pp_svg_put(svg, "\xe2\x80\xa6");
    } else {
        pp_svg_escape(svg, text);
    }
    pp_svg_put(svg, "</text>\n");
}

// A label as it is being written, part by part. Programs do not agree on spaces where parts meet:
// they are kept out of the text and become a shift of the next part.
typedef struct typing {
    double size;
    double height;  // of the baseline, downwards
    double space;   // before the next part
    bool italic;
} typing;

// height: of the baseline below that of the label, negative for exponents [pt].
static void put_text_part(pp_svg *svg, typing *at, const char *text, size_t bytes, double height,
                          double size)
{
    // Spaces at both ends of a part become a shift of the next.
    const double space = 0.278 * at->size;  // Helvetica's
    for (; bytes > 0 && text[0] == ' '; bytes--, text++) {
        at->space += space;
    }
    if (bytes == 0) {
        return;
    }
    // Variables are italic, their indices and exponents upright.
    pp_svg_put(svg, "<tspan");
    if (at->italic && height == 0.0) {
        pp_svg_put(svg, " font-style=\"italic\"");
    }
    if (at->space > 0.0) {
        pp_svg_attribute(svg, "dx", at->space);
    }
    if (height != at->height) {
        pp_svg_attribute(svg, "dy", height - at->height);
    }
    if (size != at->size) {
        pp_svg_attribute(svg, "font-size", size);
    }
    pp_svg_put(svg, ">");
    at->space = 0.0;
    at->height = height;
    for (; text[bytes - 1] == ' '; bytes--) {
        at->space += space;
    }
    escape_bytes(svg, text, bytes);
    pp_svg_put(svg, "</tspan>");
}

// A part ends where the markup changes; `*` switches italic on and off.
void pp_svg_label(pp_svg *svg, double x, double y, pp_anchor anchor, double size, bool turned,
                  const char *markup)
{
    typing at = {.size = size};
    open_text(svg, x, y, anchor, size, turned);
    for (const char *c = markup; *c;) {
        if (*c == '*') {
            at.italic = !at.italic;
            c++;
        } else if ((*c == '_' || *c == '^') && c[1] == '{') {
            size_t length = strcspn(c, "}");
            // Below or above the baseline by a part of the size.
            put_text_part(svg, &at, c + 2, length - 2, *c == '_' ? 0.22 * size : -0.36 * size,
                          0.72 * size);
            c += length + (c[length] == '}');
        } else {
            // A mark that opens nothing is text.
            size_t length = 1 + strcspn(c + 1, "*_^");
            put_text_part(svg, &at, c, length, 0.0, size);
            c += length;
        }
    }
    pp_svg_put(svg, "</text>\n");
}

// Advance widths of ' ' to '~' in 1/1000 em: of Helvetica (Adobe's font metrics) or of DejaVu Sans, whichever is wider.
// A viewer takes one of them, or a font between them, so what is laid out with these widths does not collide.
static const short advances[95] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556, 1015, 684, 686, 722, 770, 667,
    611, 778, 752, 295, 500, 667, 557, 863, 748, 787, 667, 787, 722, 667,  611, 732, 684, 989, 685,
    667, 685, 390, 337, 390, 838, 556, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};

// Letters outside ASCII count as 0.7 em, East Asian ones as a whole one.
double pp_text_width(const char *text, double size)
{
    double width = 0.0;
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte >= ' ' && byte <= '~') {
            // ASCII by the table.
            width += advances[byte - ' '];
        } else if ((byte & 0xc0U) != 0x80) {  // the first byte of something else
            width += byte >= 0xe3 ? 1000.0 : 700.0;
        }
    }
    return width * size / 1000.0;
}

// The markup takes no room; indices are set in 72 % of the size.
double pp_label_width(const char *markup, double size)
{
    double width = 0.0;
    char letter[2] = "";
    bool small = false;
    for (const char *c = markup; *c; c++) {
        // Inside of braces everything is small; braces do not nest.
        if ((*c == '_' || *c == '^') && c[1] == '{') {
            small = true;
            c++;
        } else if (small && *c == '}') {
            small = false;
        } else if (*c != '*' && ((unsigned char)*c & 0xc0U) != 0x80) {
            letter[0] = (unsigned char)*c < 0x80 ? *c : '+';
            width += pp_text_width(letter, small ? 0.72 * size : size);
        }
    }
    return width;
}
