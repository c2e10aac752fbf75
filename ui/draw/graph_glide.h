/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The way from one scene of a pass to another, when blocks open or close. Each node goes from its
 * place in the old scene to its place in the new one. A node that is in a block in one of the two
 * scenes begins or ends at the card of the block. The new picture fades in over the old one. Both
 * scenes must outlive the glide. Any thread may make one; the thread of the label cache draws. */
#pragma once

#include "ui/draw/graph_scene.h"

typedef struct td_graph_glide td_graph_glide;

/* td_graph_glide_new begins at the places of `from` and ends at those of `to`. The coordinates are
 * those of `to`. They are such that the node `still` does not move. Costs linear time. The caller
 * frees the glide with td_graph_glide_free. */
td_graph_glide *td_graph_glide_new(const td_graph_scene *from, const td_graph_scene *to,
                                   uint32_t still);
void td_graph_glide_free(td_graph_glide *glide);

/* td_graph_glide_count counts the nodes of both scenes that a view shows at the beginning or at the
 * end. */
uint32_t td_graph_glide_count(const td_graph_glide *glide, const td_graph_view *view);

/* td_graph_glide_is_light tells whether a view shows so few of them that a picture takes less than
 * about 30 ms. */
bool td_graph_glide_is_light(const td_graph_glide *glide, const td_graph_view *view);

/* td_graph_glide_move goes to a share of the way, 0 to 1. At 1, all of `to` is at its own places.
 */
void td_graph_glide_move(td_graph_glide *glide, double share);

/* td_graph_glide_scene returns the new scene with all at the places where they are now. It is
 * borrowed from the glide. td_graph_glide_old_scene returns the old one. */
td_graph_scene *td_graph_glide_scene(td_graph_glide *glide);
td_graph_scene *td_graph_glide_old_scene(td_graph_glide *glide);

/* td_graph_glide_draw paints both scenes as td_graph_scene_draw does. */
void td_graph_glide_draw(td_graph_glide *glide, cairo_t *cr, const td_state *state,
                         const td_graph_view *view, const td_theme *theme, td_label_cache *labels);
