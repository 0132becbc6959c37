// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene at several times, and the paths of its bodies.
#include "plot/figures.h"
#include "plot/scene.h"

static void body_keys(pp_chart *chart, const pp_story *story)
{
    for (int b = 0; b < story->film->info->bodies && pp_moving(story) <= PP_FEW - 1; b++) {
        if (story->path[b]) {
            const char *colour = pp_body_colour(story, b);
            pp_chart_key(chart, story->film->body[b].name, false, PP_KEY_BOX,
                         (pp_pen){.stroke = colour, .fill = colour, .width = 0.8, .veil = 0.3});
        }
    }
}

// "t = 0, 0.4, 0.8 s", each time in the strength of its snapshot; returns the height.
static double times(pp_svg *svg, const pp_story *story, double x, double y)
{
    char number[PP_NUMBER], text[PP_NUMBER + 16];
    pp_svg_label(svg, x, y, PP_START, PP_SMALL, false, "*t* =");
    x += 15.0;
    for (int k = 0; k < story->shots; k++) {
        pp_value_text(number, story->shot[k].t, "^{", "}");
        pp_print(text, sizeof text, "%s%s", number, k + 1 < story->shots ? "," : " s");
        pp_svg_rect(svg, x, y - 5.4, 6.0, 6.0,
                    (pp_pen){.stroke = PP_INK,
                             .fill = PP_INK,
                             .width = 0.6,
                             .opacity = pp_shot_opacity(story, k),
                             .veil = 0.05 + 0.3 * k / PP_SHOTS});
        pp_svg_label(svg, x + 8.0, y, PP_START, PP_SMALL, false, text);
        x += 14.0 + pp_label_width(text, PP_SMALL);
    }
    return 10.0;
}

void pp_draw_paths(const pp_story *story, pp_svg *svg)
{
    pp_view view = pp_view_of(story);
    pp_chart chart = {.svg = svg, .title = "Paths", .width = view.width + 8.0, .from = 4.0};
    body_keys(&chart, story);
    double top = pp_chart_legend(&chart, false);
    view.top = top + 10.0;
    pp_svg_open(svg, chart.width, view.top + view.height + 14.0, chart.title);
    pp_chart_legend(&chart, true);
    times(svg, story, 4.0, chart.keys ? top + 4.0 : top);
    pp_svg_clip(svg, 0, view.left, view.top, view.width, view.height);
    pp_scene_ground(svg, &view, story);
    bool many = pp_moving(story) > PP_FEW - 1;
    if (many) {
        pp_scene_paths(svg, &view, story);
    }
    for (int k = 0; k < story->shots; k++) {
        pp_scene_bodies(svg, &view, story, k);
    }
    if (!many) {
        pp_scene_paths(svg, &view, story);
    }
    pp_scene_joints(svg, &view, story);
    pp_svg_end_group(svg);
    pp_scene_bar(svg, &view, view.top + view.height + 7.0);
    pp_svg_close(svg);
}

void pp_caption_paths(const pp_story *story, pp_svg *html)
{
    pp_svg_put(html, story->shots > 1
                         ? "The scene at equal times until its motion has come to an end, later "
                           "is darker; lines: paths of the centres of mass."
                         : "The scene; nothing moves.");
}

bool pp_paths_wide(const pp_story *story)
{
    return pp_view_of(story).width > PP_COLUMN;
}
