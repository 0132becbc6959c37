// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "plot/draw/page.h"

#include "plot/figures/figures.h"

#include <math.h>

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
    "img{width:100%;height:auto;display:block}\n"
    "figcaption{font-size:.87rem;color:#333;margin-top:.5rem}\n"
    "figcaption b{font-weight:600}\n"
    "a{color:#0072b2}\n"
    ".bad{color:#b34700;font-weight:600}\n"
    "@media print{figure{break-inside:avoid}}\n";

static void fact(pp_svg *html, const char *name)
{
    pp_svg_put(html, "<tr><th scope=\"row\">");
    pp_svg_put(html, name);
    pp_svg_put(html, "</th><td>");
}

static void text_fact(pp_svg *html, const char *name, const char *text)
{
    fact(html, name);
    pp_svg_escape(html, text);
    pp_svg_put(html, "</td></tr>\n");
}

static void value_fact(pp_svg *html, const char *name, double value, const char *unit)
{
    fact(html, name);
    pp_put_value(html, value, unit);
    pp_svg_put(html, "</td></tr>\n");
}

static void count_fact(pp_svg *html, const char *name, int64_t count)
{
    fact(html, name);
    pp_svg_integer(html, count);
    pp_svg_put(html, "</td></tr>\n");
}

static const char *figure_word(const char *text)
{
    return text ? text : "?";
}

static void facts(const pp_run_data *data, pp_svg *html)
{
    const perp_recording_info *info = data->film->info;
    pp_svg_put(html, "<table>\n");
    text_fact(html, "stepper", figure_word(perp_stepper_word((int)info->stepper)));
    text_fact(html, "form", figure_word(perp_form_word((int)info->form)));
    text_fact(html, "solver", info->solver ? info->solver : "auto");
    value_fact(html, "step", info->h, "s");
    value_fact(html, "simulated time", data->t.high, "s");
    count_fact(html, "frames", info->frames);
    count_fact(html, "bodies", info->bodies - 1);
    value_fact(html, "worst residual", fmax(data->residual.range.high, 0.0), "m/s");
    value_fact(html, "deepest penetration", fmax(data->penetration.range.high, 0.0), "m");
    fact(html, "certificate");
    pp_svg_put(html, data->violations ? "<span class=\"bad\">violated in " : "passed");
    if (data->violations) {
        pp_svg_integer(html, data->violations);
        pp_svg_put(html, " frames</span>");
    }
    pp_svg_put(html, "</td></tr>\n");
    if (!info->complete) {
        text_fact(html, "recording", "incomplete: the run did not finish");
    }
    pp_svg_put(html, "</table>\n");
}

static void picture(pp_svg *html, const char *name, const char *title, bool wide)
{
    pp_svg_put(html, wide ? "<figure class=\"wide\"><img src=\"" : "<figure><img src=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".svg\" alt=\"");
    pp_svg_put(html, title);
    pp_svg_put(html, "\">\n<figcaption><b>");
    pp_svg_put(html, title);
    pp_svg_put(html, ".</b> ");
}

static void links(pp_svg *html, const char *name)
{
    pp_svg_put(html, " <a href=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".svg\">SVG</a>, <a href=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".gp\">gnuplot</a>, <a href=\"");
    pp_svg_put(html, name);
    pp_svg_put(html, ".dat\">data</a></figcaption></figure>\n");
}

static void figure(const pp_run_data *data, const pp_figure *figure, pp_svg *html)
{
    picture(html, figure->name, figure->title, figure->wide && figure->wide(data));
    figure->caption(data, html);
    links(html, figure->name);
}

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

static const char *name_of(const pp_run_data *data)
{
    const char *name = data->film->info->name;
    return name && name[0] ? name : "recording";
}

void pp_page_write(const pp_run_data *data, const bool *shown, pp_svg *html)
{
    write_head(html, name_of(data));
    facts(data, html);
    pp_svg_put(html, "<main>\n");
    for (int k = 0; pp_figure_at(k); k++) {
        if (shown[k]) {
            figure(data, pp_figure_at(k), html);
        }
    }
    pp_svg_put(html, "</main>\n</body></html>\n");
}

// ── Two runs ─────────────────────────────────────────────────────────────────────────────────────

static void run_fact(pp_svg *html, const char *letter, const pp_run_data *data)
{
    const perp_recording_info *info = data->film->info;
    fact(html, letter);
    pp_svg_escape(html, name_of(data));
    pp_svg_put(html, ": ");
    pp_svg_escape(html, figure_word(perp_stepper_word((int)info->stepper)));
    pp_svg_put(html, ", form ");
    pp_svg_escape(html, figure_word(perp_form_word((int)info->form)));
    pp_svg_put(html, ", solver ");
    pp_svg_escape(html, info->solver ? info->solver : "auto");
    pp_svg_put(html, ", step ");
    pp_put_value(html, info->h, "s");
    pp_svg_put(html, ", until ");
    pp_put_value(html, data->t.high, "s");
    pp_svg_put(html, "</td></tr>\n");
}

void pp_page_pair(const pp_run_pair *pair, pp_svg *html)
{
    write_head(html, "Two runs compared");
    pp_svg_put(html, "<table>\n");
    run_fact(html, "run A", pair->a);
    run_fact(html, "run B", pair->b);
    pp_svg_put(html, "</table>\n<main>\n");
    for (int k = 0; pp_pair_figure_at(k); k++) {
        const pp_pair_figure *f = pp_pair_figure_at(k);
        if (f->has(pair)) {
            picture(html, f->name, f->title, k == 0);
            pp_svg_put(html, f->caption);
            links(html, f->name);
        }
    }
    pp_svg_put(html, "</main>\n</body></html>\n");
}
