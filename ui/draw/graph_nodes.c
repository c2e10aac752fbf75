/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/node_label.h"
#include "ui/draw/scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { RADIUS = 8, STRIPE = 5 };

/* Which part of a node's gradients has arrived; writes both counts. All are 0 if the view hides
 * them. */
static double
arrived_share(const td_scene_draw *draw, uint32_t i, uint32_t *arrived, uint32_t *expected) {
  const td_task_now *task =
      draw->view->hides_counts
          ? NULL
          : td_state_task_find(draw->state, draw->scene->nodes[i].node, draw->scene->graph_task);
  *expected = task ? task->expected : 0;
  *arrived = task ? task->expected - TD_MIN(task->dependencies, task->expected) : 0;
  return *expected ? (double)*arrived / *expected : 0;
}

static void
draw_stripe(const td_scene_draw *draw, td_box box, const td_catalog_node *node,
            td_node_state state) {
  cairo_t *cr = draw->cr;
  td_colour colour = td_theme_device(draw->theme, node->device);
  cairo_save(cr);
  td_shape_rounded(cr, box, RADIUS);
  cairo_clip(cr);
  cairo_rectangle(cr, box.x, box.y, STRIPE, box.height);
  if (state == TD_NODE_running) colour = td_colour_mix(colour, (td_colour){1, 1, 1, 1}, 0.35);
  td_theme_source(cr, td_colour_fade(colour, state == TD_NODE_absent ? 0.35 : 1));
  cairo_fill(cr);
  cairo_restore(cr);
}

/* A cell on the top edge for each gradient that comes: full once it has come. */
static void
draw_slot(const td_scene_draw *draw, uint32_t edge) {
  const td_layout *layout = draw->scene->layout;
  const td_scene_edge *self = &draw->scene->edges[edge];
  td_layout_point end = layout->points[layout->first_point[edge + 1] - 1];
  td_node_state state = td_scene_state(draw, self->to);
  bool moved = td_scene_edge_moved(draw, edge);
  td_box cell = {end.x - 4.5, end.y - 3, 9, 6.5};
  td_shape_rounded(draw->cr, cell, 2);
  td_theme_source(draw->cr, moved ? draw->theme->node_fill[TD_NODE_done] : draw->theme->card);
  cairo_fill_preserve(draw->cr);
  td_colour border = moved                     ? draw->theme->node_fill[TD_NODE_done]
                     : state == TD_NODE_absent ? draw->theme->line
                                               : draw->theme->node_fill[TD_NODE_waiting];
  td_theme_source(draw->cr, border);
  cairo_set_line_width(draw->cr, 1.1);
  cairo_stroke(draw->cr);
}

static const char *
anomaly_word(uint32_t anomaly) {
  return anomaly == TD_NODE_INF ? "Inf" : "NaN";
}

static void
draw_badge(const td_scene_draw *draw, td_box box, const td_scene_doing *now) {
  bool sum = now->birthplace == TD_birthplace_sum;
  char *text = td_format(sum ? "Σ %s" : "%s", anomaly_word(now->anomaly));
  double x = sum ? box.x + box.width / 2 - 32 : box.x + box.width - 6;
  td_shape_badge(draw->cr, draw->labels, text, 11, x, box.y - (sum ? 9 : 2), draw->theme->error);
  free(text);
}

static void
draw_anomaly(const td_scene_draw *draw, td_box box, const td_scene_doing *now) {
  td_box around = {box.x - 3, box.y - 3, box.width + 6, box.height + 6};
  td_shape_rounded(draw->cr, around, RADIUS + 3);
  td_theme_source(draw->cr, draw->theme->error);
  cairo_set_line_width(draw->cr, 2);
  cairo_stroke(draw->cr);
  draw_badge(draw, box, now);
}

/* The name of the thread that runs a node, or NULL. A thread that waits for a lock in it says so:
 * "main waits for a lock". The caller frees. */
static char *
dup_runner(const td_scene_draw *draw, const td_scene_doing *now) {
  const td_catalog *catalog = draw->scene->catalog;
  const char *name = now->thread < catalog->n_threads ? catalog->threads[now->thread].name : "";
  if (!*name) return NULL;
  const td_thread_now *thread = td_state_thread(draw->state, now->thread);
  bool waits = thread->lock != TD_NONE && thread->node == now->node;
  return td_format(waits ? td_translate("%s waits for a lock") : "%s", name);
}

/* The name of the thread that runs a node, on a tag that hangs on its card. */
static void
draw_thread(const td_scene_draw *draw, const td_scene_doing *now, td_box box) {
  char *name = dup_runner(draw, now);
  double width;
  if (!name) return;
  td_label_size(draw->labels, name, 10, true, &width, NULL);
  td_box tag = {box.x + box.width - width - 18, box.y + box.height - 8, width + 12, 15};
  td_shape_rounded(draw->cr, tag, 4);
  td_theme_source(draw->cr, draw->theme->card);
  cairo_fill_preserve(draw->cr);
  td_theme_source(draw->cr, draw->theme->node_fill[TD_NODE_running]);
  cairo_set_line_width(draw->cr, 1.5);
  cairo_stroke(draw->cr);
  td_label_draw(draw->labels, draw->cr, name, 10, tag.x + 6, tag.y + 0.5, 0,
                draw->theme->foreground, true);
  free(name);
}

static td_colour
ground_colour(const td_scene_draw *draw, uint32_t i) {
  const td_overlay_value *heat = td_scene_heat(draw, i);
  if (heat) return td_scene_heat_colour(draw->theme, heat->heat);
  return td_shape_fill_colour(td_scene_state(draw, i), draw->theme);
}

/* What stands on the right of the second line: the overlay's figure, else how many gradients came.
 * NULL: nothing. The caller frees. */
static char *
right_text(const td_scene_draw *draw, uint32_t i, td_node_state state) {
  const td_overlay_value *heat = td_scene_heat(draw, i);
  uint32_t arrived, expected;
  arrived_share(draw, i, &arrived, &expected);
  if (heat) return td_graph_scene_figure(draw->view->overlay, heat->value);
  bool waits = state == TD_NODE_waiting || state == TD_NODE_partial || state == TD_NODE_queued;
  return waits && expected ? td_format("%" PRIu32 "/%" PRIu32, arrived, expected) : NULL;
}

/* The second line: the node's number, if there is room for it, and what there is to say on the
 * right. */
static void
draw_facts(const td_scene_draw *draw, uint32_t i, td_box box, td_colour colour) {
  td_scene_doing now = td_scene_now(draw, i);
  const char *number = draw->scene->nodes[i].number;
  double y = box.y + 25, left = box.x + STRIPE + 9, right = box.x + box.width - 9;
  double number_width, width = 0;
  char *text = right_text(draw, i, td_scene_state(draw, i));
  if (text) td_label_size(draw->labels, text, 11, true, &width, NULL);
  td_label_size(draw->labels, number, 11, false, &number_width, NULL);
  if (left + number_width + 6 <= right - width)
    td_label_draw(draw->labels, draw->cr, number, 11, left, y, 0,
                  td_colour_mix(colour, ground_colour(draw, i), 0.3), false);
  if (now.runs) draw_thread(draw, &now, box);
  if (text) td_label_right(draw->labels, draw->cr, text, 11, right, y, colour, true);
  free(text);
}

static td_colour
mark_colour(const td_scene_draw *draw, td_node_state state) {
  if (draw->view->overlay) return draw->theme->foreground;
  if (state == TD_NODE_running) return (td_colour){1, 1, 1, 1};
  td_colour away = draw->theme->dark ? (td_colour){1, 1, 1, 1} : (td_colour){0, 0, 0, 1};
  return td_colour_mix(draw->theme->node_fill[state], away, 0.12);
}

/* A card under an overlay has the colour of its figure. */
static td_colour
text_colour(const td_scene_draw *draw, td_node_state state) {
  return draw->view->overlay ? draw->theme->foreground : td_shape_text_colour(state, draw->theme);
}

static void
draw_card(const td_scene_draw *draw, uint32_t i) {
  const td_scene_node *self = &draw->scene->nodes[i];
  td_node_state state = td_scene_state(draw, i);
  td_box box = td_scene_box(draw->scene, i);
  uint32_t arrived, expected;
  double share = arrived_share(draw, i, &arrived, &expected);
  td_colour text = text_colour(draw, state);
  td_shape_card(draw->cr, box, RADIUS, state, share, draw->theme);
  td_scene_tint(draw, i, box, RADIUS);
  draw_stripe(draw, box, td_catalog_node_get(draw->scene->catalog, self->node), state);
  td_label_draw(draw->labels, draw->cr, self->name, 13, box.x + STRIPE + 9, box.y + 7,
                box.width - STRIPE - 33, text, true);
  td_shape_state_mark(draw->cr, state, share, box.x + box.width - 15, box.y + 15, 11,
                      mark_colour(draw, state));
  draw_facts(draw, i, box, text);
}

static void
draw_port(const td_scene_draw *draw, uint32_t i) {
  const td_scene_node *self = &draw->scene->nodes[i];
  td_node_state state = td_scene_state(draw, i);
  td_box box = td_scene_box(draw->scene, i);
  uint32_t arrived, expected;
  double share = arrived_share(draw, i, &arrived, &expected);
  td_shape_card(draw->cr, box, box.height / 2, state, share, draw->theme);
  td_scene_tint(draw, i, box, box.height / 2);
  td_shape_state_mark(draw->cr,
                      state == TD_NODE_created || state == TD_NODE_absent ? TD_NODE_waiting : state,
                      share, box.x + 12, box.y + box.height / 2, 8.5, mark_colour(draw, state));
  td_label_draw(draw->labels, draw->cr, self->name, 11, box.x + 22, box.y + 2.5, box.width - 29,
                text_colour(draw, state), false);
}

/* The module that made a node, below its name, if letters of that size can be read. */
static bool
draw_small_lines(const td_scene_draw *draw, const td_scene_node *self, td_box box,
                 td_colour colour) {
  enum { SIZE = 15 };
  double left = box.x + STRIPE + 7, room = box.width - STRIPE - 11;
  if (self->port || draw->view->scale < td_scale_modules) return false;
  char *module = td_node_module_fit(draw->labels, draw->scene->catalog, self->node, SIZE, room);
  if (!module) return false;
  td_label_draw(draw->labels, draw->cr, self->name, SIZE, left, box.y + 3, room, colour, true);
  td_label_draw(draw->labels, draw->cr, module, SIZE, left, box.y + 23, room, colour, false);
  free(module);
  return true;
}

/* A port's path gets shorter, a card's name gets smaller. At one scale all have a name or none. */
static char *
small_name(const td_scene_draw *draw, const td_scene_node *self, double room, double *size) {
  double least = 5 / draw->view->scale, width;
  *size = self->port ? 13 : 17;
  if (*size < least) return NULL;
  if (self->port)
    return td_node_title_fit(draw->labels, draw->scene->catalog, self->node, *size, false, room);
  td_label_size(draw->labels, self->name, *size, true, &width, NULL);
  if (width > room) *size = TD_MAX(TD_MAX(*size * room / width, 13), least);
  *size = ceil(*size * 2) / 2;
  return td_dup_string(self->name);
}

/* Too small for all that a card says: a card with its name as large as there is room. */
static void
draw_small_card(const td_scene_draw *draw, uint32_t i) {
  const td_scene_node *self = &draw->scene->nodes[i];
  td_node_state state = td_scene_state(draw, i);
  td_box box = td_scene_box(draw->scene, i);
  uint32_t arrived, expected;
  double share = arrived_share(draw, i, &arrived, &expected), width, height, size,
         left = self->port ? 0 : STRIPE, room = box.width - (self->port ? 14 : STRIPE + 13);
  td_colour colour = text_colour(draw, state);
  double radius = self->port ? box.height / 2 : RADIUS;
  td_shape_card(draw->cr, box, radius, state, share, draw->theme);
  td_scene_tint(draw, i, box, radius);
  if (!self->port)
    draw_stripe(draw, box, td_catalog_node_get(draw->scene->catalog, self->node), state);
  if (draw_small_lines(draw, self, box, colour)) return;
  char *name = small_name(draw, self, room, &size);
  if (!name) return;
  td_label_size(draw->labels, name, size, !self->port, &width, &height);
  double x = box.x + left + TD_MAX(7, (box.width - width - left) / 2);
  td_label_draw(draw->labels, draw->cr, name, size, x, box.y + (box.height - height) / 2, room,
                colour, !self->port);
  free(name);
}

static void
draw_node(const td_scene_draw *draw, uint32_t i) {
  const td_scene_node *self = &draw->scene->nodes[i];
  td_scene_doing now = td_scene_now(draw, i);
  td_box box = td_scene_box(draw->scene, i);
  if (self->block)
    td_scene_draw_block(draw, i);
  else if (draw->view->scale < td_scale_full)
    draw_small_card(draw, i);
  else if (self->port)
    draw_port(draw, i);
  else
    draw_card(draw, i);
  if (now.anomaly) draw_anomaly(draw, box, &now);
}

static void
draw_slots(const td_scene_draw *draw) {
  const td_graph_scene *scene = draw->scene;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    td_box box = td_scene_box(scene, scene->edges[i].to);
    if (scene->nodes[scene->edges[i].to].port || scene->nodes[scene->edges[i].to].block) continue;
    if (td_scene_sees(draw, box.x, box.y - 8, box.x + box.width, box.y + box.height))
      draw_slot(draw, i);
  }
}

/* What runs, and what is wrong, lies over its neighbours. */
void
td_scene_draw_nodes(td_scene_draw *draw) {
  const td_graph_scene *scene = draw->scene;
  uint32_t *above = NULL, n_above = 0, capacity = 0;
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    td_box box = td_scene_box(scene, i);
    if (!td_scene_sees(draw, box.x - 14, box.y - 20, box.x + box.width + 14,
                       box.y + box.height + 14))
      continue;
    td_scene_doing now = td_scene_now(draw, i);
    draw->n_shown++;
    if (now.runs || now.anomaly) {
      TD_GROW(above, n_above, capacity);
      above[n_above++] = i;
    } else {
      draw_node(draw, i);
    }
  }
  for (uint32_t i = 0; i < n_above; i++)
    draw_node(draw, above[i]);
  free(above);
  if (draw->view->scale >= td_scale_full) draw_slots(draw);
}

/* The slots at the ends of a node's edges lie over what marks the node. */
static void
draw_slots_of(const td_scene_draw *draw, uint32_t i) {
  const td_graph_scene *scene = draw->scene;
  for (uint32_t k = 0; k < scene->n_edges; k++) {
    const td_scene_edge *edge = &scene->edges[k];
    const td_scene_node *to = &scene->nodes[edge->to];
    if ((edge->from == i || edge->to == i) && !to->port && !to->block) draw_slot(draw, k);
  }
}

void
td_scene_draw_ring(const td_scene_draw *draw, uint32_t i, double strength) {
  td_box box = td_scene_box(draw->scene, i);
  td_box around = {box.x - 4, box.y - 4, box.width + 8, box.height + 8};
  td_shape_rounded(draw->cr, around, 4 + (draw->scene->nodes[i].port ? box.height / 2 : RADIUS));
  td_theme_source(draw->cr, td_colour_fade(draw->theme->accent, strength));
  cairo_set_line_width(draw->cr, 2 / TD_MIN(draw->view->scale, 1));
  cairo_stroke(draw->cr);
  if (draw->view->scale >= td_scale_full) draw_slots_of(draw, i);
  td_scene_doing now = td_scene_now(draw, i);
  if (now.anomaly && !td_scene_is_far(draw->scene, draw->view->scale)) draw_badge(draw, box, &now);
}
