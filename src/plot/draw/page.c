// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// index.html: a table of facts, then the figures with captions and links to their data.
#include "plot/draw/page.h"

#include "plot/figures/figures.h"

#include <math.h>

// The look of the page. It prints well, and has no scripts.
static const char style[] =
    "body{font:15px/1.5 Helvetica,Arial,'Liberation Sans',sans-serif;color:#222;background:#fff;"
    "max-width:1100px;margin:2.5rem auto;padding:0 1.25rem}\n"
    "h1{font-size:1.5rem;font-weight:600;margin:0 0 .75rem}\n"
    "table{border-collapse:collapse;font-size:.87rem;margin:0 0 1.5rem}\n"
    "th{text-align:left;font-weight:400;color:#666;padding:.12rem 1.5rem .12rem "
    "0;vertical-align:top}\n"
    "td{padding:.12rem 0}\n"
    "main{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(460px,100%),1fr));gap:"
    "2rem}\n"
    "figure{margin:0;border-top:1px solid #ddd;padding-top:.9rem}\n"
    "figure.wide{grid-column:1/-1}\n"
    // On a phone a wide figure keeps a size that can be read, and scrolls.
    "@media(max-width:760px){figure.wide div{overflow-x:auto}figure.wide img{min-width:760px}}\n"
    "img{width:100%;height:auto;display:block}\n"
    "figcaption{font-size:.87rem;color:#333;margin-top:.5rem}\n"
    "figcaption b{font-weight:600}\n"
    "a{color:#0072b2}\n"
    ".bad{color:#b34700;font-weight:600}\n"
    "@media print{figure{break-inside:avoid}}\n";

// A row of the table: its name, and the cell open.
static void begin_fact(pp_svg *html, const char *name)
{
    pp_svg_put(html, "<tr><th scope=\"row\">");
    pp_svg_put(html, name);
    pp_svg_put(html, "</th><td>");
}

// Text from the scene is escaped.
static void put_text_fact(pp_svg *html, const char *name, const char *text)
{
    begin_fact(html, name);
    pp_svg_escape(html, text);
    pp_svg_put(html, "</td></tr>\n");
}

// A number with its unit.
static void put_value_fact(pp_svg *html, const char *name, double value, const char *unit)
{
    begin_fact(html, name);
    pp_put_value(html, value, unit);
    pp_svg_put(html, "</td></tr>\n");
}

// A whole number.
static void put_count_fact(pp_svg *html, const char *name, int64_t count)
{
    begin_fact(html, name);
    pp_svg_integer(html, count);
    pp_svg_put(html, "</td></tr>\n");
}

// A recording of a later release may have words that this one does not know.
static const char *word_or_unknown(const char *text)
{
    return text ? text : "?";
}

// What was run, how it was solved, and the verdict.
static void put_facts(const pp_run_data *data, pp_svg *html)
{
    const perp_recording_info *info = data->source->info;
    pp_svg_put(html, "<table>\n");
    put_text_fact(html, "stepper", word_or_unknown(perp_stepper_word((int)info->stepper)));
    put_text_fact(html, "form", word_or_unknown(perp_form_word((int)info->form)));
    put_text_fact(html, "solver", info->solver ? info->solver : "auto");
    put_value_fact(html, "step", info->h, "s");
    put_value_fact(html, "simulated time", data->t.high, "s");
    put_count_fact(html, "frames", info->frames);
    put_count_fact(html, "bodies", info->bodies - 1);
    put_value_fact(html, "worst residual", fmax(data->residual.range.high, 0.0), "m/s");
    put_value_fact(html, "deepest penetration", fmax(data->penetration.range.high, 0.0), "m");
    begin_fact(html, "certificate");
    if (data->violations) {
        // In the colour of the class bad.
        pp_svg_put(html, "<span class=\"bad\">violated in ");
        pp_svg_integer(html, data->violations);
        pp_svg_put(html, " frames</span>");
    } else {
        pp_svg_put(html, info->frames < 2 ? "empty: there is no step to judge" : "passed");
    }
    pp_svg_put(html, "</td></tr>\n");
    if (!info->complete) {
        put_text_fact(html, "recording", "incomplete: the run did not finish");
    }
    pp_svg_put(html, "</table>\n");
}

// The image and the title of its caption, which stays open.
static void put_picture(pp_svg *html, const char *name, const char *title, bool wide)
{
    pp_svg_put(html, wide ? "<figure class=\"wide\"><div><img src=\"" : "<figure><div><img src=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".svg\" alt=\"");
    pp_svg_put(html, title);
    pp_svg_put(html, "\"></div>\n<figcaption><b>");
    pp_svg_put(html, title);
    pp_svg_put(html, ".</b> ");
}

// Ends the caption with links to the figure, its script and its data.
static void put_links(pp_svg *html, const char *name)
{
    pp_svg_put(html, " <a href=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".svg\">SVG</a>, <a href=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".gp\">gnuplot</a>, <a href=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".dat\">data</a></figcaption></figure>\n");
}

// wide: over both columns of the page.
static void put_figure(const pp_run_data *data, const pp_figure *figure, pp_svg *html)
{
    put_picture(html, figure->name, figure->title, figure->wide && figure->wide(data));
    figure->caption(data, html);
    put_links(html, figure->name);
}

// title: the name of the run, escaped.
static void write_head(pp_svg *html, const char *title)
{
    pp_svg_put(html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    pp_svg_escape(html, title);
    pp_svg_put(html, "</title>\n<style>\n");
    pp_svg_put(html, style);
    pp_svg_put(html, "</style></head><body>\n<h1>");
    pp_svg_escape(html, title);
    pp_svg_put(html, "</h1>\n");
}

// A run without a name is a "recording".
static const char *name_of(const pp_run_data *data)
{
    const char *name = data->source->info->name;
    return name && name[0] ? name : "recording";
}

// shown: the figures that were written, in the order of the table in plot.c.
void pp_page_write(const pp_run_data *data, const bool *shown, pp_svg *html)
{
    write_head(html, name_of(data));
    put_facts(data, html);
    pp_svg_put(html, "<main>\n");
    for (int k = 0; pp_figure_at(k); k++) {
        if (shown[k]) {
            put_figure(data, pp_figure_at(k), html);
        }
    }
    pp_svg_put(html, "</main>\n</body></html>\n");
}

// ── Two runs ─────────────────────────────────────────────────────────────────────────────────────

// One line for each run: enough to distinguish them.
static void put_run_fact(pp_svg *html, const char *letter, const pp_run_data *data)
{
    const perp_recording_info *info = data->source->info;
    begin_fact(html, letter);
    pp_svg_escape(html, name_of(data));
    pp_svg_put(html, ": ");
    pp_svg_escape(html, word_or_unknown(perp_stepper_word((int)info->stepper)));
    pp_svg_put(html, ", form ");
    pp_svg_escape(html, word_or_unknown(perp_form_word((int)info->form)));
    pp_svg_put(html, ", solver ");
    pp_svg_escape(html, info->solver ? info->solver : "auto");
    pp_svg_put(html, ", step ");
    pp_put_value(html, info->h, "s");
    pp_svg_put(html, ", until ");
    pp_put_value(html, data->t.high, "s");
    pp_svg_put(html, "</td></tr>\n");
}

// The first figure, the overlay, goes over both columns.
void pp_page_pair(const pp_run_pair *pair, pp_svg *html)
{
    write_head(html, "Two runs compared");
    pp_svg_put(html, "<table>\n");
    put_run_fact(html, "run A", pair->a);
    put_run_fact(html, "run B", pair->b);
    pp_svg_put(html, "</table>\n<main>\n");
    for (int k = 0; pp_pair_figure_at(k); k++) {
        const pp_pair_figure *f = pp_pair_figure_at(k);
        if (f->has(pair)) {
            put_picture(html, f->name, f->title, k == 0);
            pp_svg_put(html, f->caption);
            put_links(html, f->name);
        }
    }
    pp_svg_put(html, "</main>\n</body></html>\n");
}

// ── Sweeps ───────────────────────────────────────────────────────────────────────────────────────

// Names of files are made by us; texts come from the sweep file.
void pp_page_list(const pp_page *page, pp_svg *html)
{
    write_head(html, page->title);
    if (page->description[0]) {
        pp_svg_put(html, "<p>");
        pp_svg_escape(html, page->description);
        pp_svg_put(html, "</p>\n");
    }
    pp_svg_put(html, "<table>\n");
    for (int k = 0; k < page->facts; k++) {
        pp_svg_put(html, "<tr><th scope=\"row\">");
        pp_svg_escape(html, page->fact[k].name);
        pp_svg_put(html, "</th><td>");
        pp_svg_escape(html, page->fact[k].text);
        pp_svg_put(html, "</td></tr>\n");
    }
    pp_svg_put(html, "</table>\n");
    // Results and recordings.
    pp_svg_put(html, "<p>");
    for (int k = 0; k < page->links; k++) {
        pp_svg_put(html, k > 0 ? ", <a href=\"" : "<a href=\"");
        pp_svg_escape(html, page->link[k].name);
        pp_svg_put(html, "\">");
        pp_svg_escape(html, page->link[k].text);
        pp_svg_put(html, "</a>");
    }
    pp_svg_put(html, "</p>\n<main>\n");
    for (int k = 0; k < page->figures; k++) {
        pp_svg_put(html, "<figure><img src=\"");
        pp_svg_escape(html, page->figure[k].name);
        pp_svg_put(html, ".svg\" alt=\"\">\n<figcaption><b>");
        pp_svg_escape(html, page->figure[k].text);
        pp_svg_put(html, ".</b>");
        put_links(html, page->figure[k].name);
    }
    pp_svg_put(html, "</main>\n</body></html>\n");
}
