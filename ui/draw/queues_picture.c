/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/queues_picture.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "ui/draw/node_label.h"
#include "ui/geometry/format.h"

#include <inttypes.h>

enum {
  TITLE = 28,
  CARD_WIDTH = 148,
  CARD_HEIGHT = 50,
  MODULE_HEIGHT = 15, /* the line with the module, on tapes with modules */
  BESIDE_CARD = 64,   /* of a strip: its title, and a word below the card */
  TITLE_SIZE = 13,    /* of a card */
  SHORT_HEIGHT = 24,  /* of a card in a short strip */
  SHORT_TITLE = 190,  /* the room of a short strip's title, left of its cards */
  GAP = 12,
  LEFT = 16,
  TOP = 10,
  ARROW = 56 /* between the last popped card and the next one */
};

/* One strip while it is drawn. */
typedef struct strip {
  cairo_t *cr;
  const td_catalog *catalog;
  const td_state *state;
  const td_queues_view *view;
  const td_theme *theme;
  td_label_cache *labels;
  uint32_t queue;
  double y;
} strip;

static double
card_height(const td_catalog *catalog, bool is_short) {
  if (is_short) return SHORT_HEIGHT;
  return CARD_HEIGHT + (catalog->has_modules ? MODULE_HEIGHT : 0);
}

static double
strip_height(const td_catalog *catalog, bool is_short) {
  return is_short ? SHORT_HEIGHT + 16 : card_height(catalog, false) + BESIDE_CARD;
}

double
td_queues_height(const td_catalog *catalog, bool is_short) {
  return 2 * TOP + TD_MAX(catalog->n_queues, 1u) * strip_height(catalog, is_short);
}

static td_box
card_box(const td_catalog *catalog, const td_queues_view *view, double x, double strip_y) {
  double y = strip_y + (view->is_short ? 4 : TITLE + 6);
  return (td_box){x, y, CARD_WIDTH, card_height(catalog, view->is_short)};
}

static double
last_x(const td_queues_view *view) {
  return LEFT + (view->is_short ? SHORT_TITLE : 0);
}

static double
first_x(const td_queues_view *view) {
  return last_x(view) + CARD_WIDTH + ARROW;
}

static double
card_x(const td_queues_view *view, uint32_t i) {
  return first_x(view) - view->scroll_x + i * (double)(CARD_WIDTH + GAP);
}

static td_box
last_box(const strip *self) {
  return card_box(self->catalog, self->view, last_x(self->view), self->y);
}

static char *
key_text(const strip *self, uint32_t node, uint32_t depth) {
  const td_catalog_node *facts = td_catalog_node_find(self->catalog, node);
  if (!facts) return td_format(td_translate("depth %u"), depth);
  uint64_t number = facts->sequence_nr;
  char *key = number == UINT64_MAX ? td_dup_string("seq max") : td_format("seq %" PRIu64, number);
  char *text = depth ? td_format(td_translate("depth %u, %s"), depth, key) : td_dup_string(key);
  free(key);
  return text;
}

static char *
card_title(const strip *self, uint32_t node, uint32_t kind, double room) {
  if (kind == 2) return td_dup_string(td_translate("shutdown"));
  if (!td_catalog_has_node(self->catalog, node)) return td_dup_string(td_translate("wake-up"));
  return td_node_title_fit(self->labels, self->catalog, node, TITLE_SIZE, true, room);
}

/* The key on the left, the node's number on the right if both have room. */
static void
draw_numbers(const strip *self, td_box box, const char *key, uint32_t node, td_colour colour) {
  char *id =
      td_catalog_has_node(self->catalog, node) ? td_format("#%" PRIu32, node) : td_dup_string("");
  double key_width, id_width, room = box.width - 14 - 9, y = box.y + box.height - 23;
  td_label_size(self->labels, key, 11.5, false, &key_width, NULL);
  td_label_size(self->labels, id, 11.5, false, &id_width, NULL);
  double size = TD_MIN(11.5, 11.5 * room / (key_width + id_width + 6));
  td_label_draw(self->labels, self->cr, key, size, box.x + 14, y, 0, colour, false);
  td_label_right(self->labels, self->cr, id, size, box.x + box.width - 9, y, colour, false);
  free(id);
}

/* The module that made a node, or the shape of a leaf. */
static void
draw_module(const strip *self, td_box box, uint32_t node, td_colour colour) {
  double room = box.width - 14 - 7;
  if (!td_catalog_has_node(self->catalog, node) || !self->catalog->has_modules) return;
  char *text = td_node_module_fit(self->labels, self->catalog, node, 11, room);
  if (!text) text = td_node_shape(self->catalog, node);
  if (text)
    td_label_draw(self->labels, self->cr, text, 11, box.x + 14, box.y + 25, room, colour, false);
  free(text);
}

static void
draw_card(const strip *self, td_box box, uint32_t node, uint32_t depth, uint32_t kind,
          td_node_state state) {
  double room = box.width - 40;
  char *title = card_title(self, node, kind, room), *key = key_text(self, node, depth);
  td_colour text = td_shape_text_colour(state, self->theme);
  td_colour paler = td_colour_mix(text, td_shape_fill_colour(state, self->theme), 0.25);
  const td_catalog_node *facts = td_catalog_node_find(self->catalog, node);
  int32_t device = facts ? facts->device : TD_DEVICE_CPU;
  td_shape_card(self->cr, box, 8, state, 1, self->theme);
  cairo_save(self->cr);
  td_shape_rounded(self->cr, box, 8);
  cairo_clip(self->cr);
  cairo_rectangle(self->cr, box.x, box.y, 5, box.height);
  td_theme_source(self->cr, td_theme_device(self->theme, device));
  cairo_fill(self->cr);
  cairo_restore(self->cr);
  td_label_draw(self->labels, self->cr, title, TITLE_SIZE, box.x + 14,
                box.y + (self->view->is_short ? 3 : 7), room, text, true);
  if (!self->view->is_short) {
    draw_module(self, box, node, text);
    draw_numbers(self, box, key, node, paler);
  }
  td_shape_state_mark(self->cr, state, 1, box.x + box.width - 15,
                      box.y + (self->view->is_short ? 12 : 15), 11,
                      state == TD_NODE_running ? text : self->theme->node_fill[state]);
  free(title);
  free(key);
}

static char *
strip_title(const strip *self) {
  const td_catalog_queue *queue = &self->catalog->queues[self->queue];
  const char *device = td_catalog_device_label(self->catalog, queue->device);
  bool owned = queue->owner < self->catalog->n_threads;
  char *owner = owned ? td_catalog_thread_label(self->catalog, queue->owner) : td_dup_string("");
  char *title = td_format("%s%s%s", device, *owner ? " · " : "", owner);
  free(owner);
  return title;
}

/* On the right, if they have room beside what ends at x. A short strip has cards there. */
static void
draw_totals(const strip *self, double x) {
  const td_queue_now *now = td_state_queue(self->state, self->queue);
  double width;
  char *totals = td_format(td_translate("%u pushed, %u popped"), now->n_pushed, now->n_popped);
  td_label_size(self->labels, totals, 11, false, &width, NULL);
  if (x + 10 + width + LEFT <= self->view->width)
    td_label_right(self->labels, self->cr, totals, 11, self->view->width - LEFT, self->y + 7,
                   self->theme->dim, false);
  free(totals);
}

static void
draw_title(const strip *self) {
  uint32_t n = td_state_queue(self->state, self->queue)->n;
  char *title = strip_title(self);
  char *count = n ? td_format_many(n, "task", "tasks") : td_dup_string(td_translate("empty"));
  double y = self->y + (self->view->is_short ? 8 : 5), width, count_width;
  td_label_size(self->labels, title, 13, true, &width, NULL);
  td_label_size(self->labels, count, 13, false, &count_width, NULL);
  if (self->view->is_short) width = TD_MIN(width, SHORT_TITLE - 18 - 10 - count_width - GAP);
  double count_x = LEFT + 18 + width + 10;
  td_shape_rounded(self->cr, (td_box){LEFT, y + 3.5, 10, 10}, 3);
  td_theme_source(self->cr,
                  td_theme_device(self->theme, self->catalog->queues[self->queue].device));
  cairo_fill(self->cr);
  td_label_draw(self->labels, self->cr, title, 13, LEFT + 18, y, width + 1, self->theme->foreground,
                true);
  td_label_draw(self->labels, self->cr, count, 13, count_x, y, 0, self->theme->dim, false);
  if (!self->view->is_short) draw_totals(self, count_x + count_width);
  free(title);
  free(count);
}

static void
draw_arrow(const strip *self) {
  td_box last = last_box(self);
  double x = last.x + last.width + 12, y = last.y + last.height / 2;
  td_theme_source(self->cr, self->theme->line);
  cairo_set_line_width(self->cr, 1.6);
  cairo_move_to(self->cr, x + 32, y);
  cairo_line_to(self->cr, x + 6, y);
  cairo_stroke(self->cr);
  cairo_move_to(self->cr, x, y);
  cairo_line_to(self->cr, x + 8, y - 4.5);
  cairo_line_to(self->cr, x + 8, y + 4.5);
  cairo_close_path(self->cr);
  cairo_fill(self->cr);
}

/* A popped node may since have been released, or wait again in the next pass: here it is what the
 * pop made of it. */
static td_node_state
settled(uint32_t state) {
  bool tells = state == TD_NODE_running || state == TD_NODE_failed || state == TD_NODE_captured ||
               state == TD_NODE_skipped;
  return tells ? (td_node_state)state : TD_NODE_done;
}

/* A short strip has no room below its cards. */
static void
draw_below(const strip *self, td_box box, const char *text) {
  if (self->view->is_short) return;
  td_label_middle(self->labels, self->cr, text, 10, box.x + box.width / 2, box.y + box.height + 3,
                  self->theme->dim, false);
}

static void
draw_last(const strip *self) {
  const td_queue_now *now = td_state_queue(self->state, self->queue);
  td_box box = last_box(self);
  if (td_catalog_has_node(self->catalog, now->last_node)) {
    uint32_t state = td_state_pair(self->state, now->last_node, TD_NONE).state;
    draw_card(self, box, now->last_node, now->last_depth, 0, settled(state));
    draw_below(self, box, td_translate("last popped"));
    return;
  }
  static const double dashes[] = {4, 4};
  td_shape_rounded(self->cr, box, 8);
  cairo_set_dash(self->cr, dashes, 2, 0);
  cairo_set_line_width(self->cr, 1);
  td_theme_source(self->cr, self->theme->line);
  cairo_stroke(self->cr);
  cairo_set_dash(self->cr, NULL, 0, 0);
  /* A dummy task runs no node: it wakes the thread. */
  const char *what =
      now->n_popped ? td_translate("a task without a node") : td_translate("nothing popped yet");
  td_label_middle(self->labels, self->cr, what, 11, box.x + box.width / 2,
                  box.y + box.height / 2 - 8, self->theme->dim, false);
}

/* How many cards end beyond the right side of the picture. */
static void
draw_more(const strip *self, uint32_t n_hidden) {
  char *text = td_format(td_translate("%u more"), n_hidden);
  td_box box = card_box(self->catalog, self->view, 0, self->y);
  double y = box.y + (self->view->is_short ? 4 : box.height + 2);
  td_label_right(self->labels, self->cr, text, 11, self->view->width - LEFT, y,
                 self->theme->foreground, true);
  free(text);
}

static void
clip_cards(const strip *self) {
  double x = first_x(self->view) - 8;
  cairo_rectangle(self->cr, x, self->y, TD_MAX(self->view->width - 8 - x, 0),
                  strip_height(self->catalog, self->view->is_short));
  cairo_clip(self->cr);
}

static void
draw_cards(const strip *self) {
  uint32_t n = td_state_queue(self->state, self->queue)->n, n_hidden = 0;
  td_queue_entry *order = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(self->state, self->catalog, self->queue, order);
  cairo_save(self->cr);
  clip_cards(self);
  for (uint32_t i = 0; i < n; i++) {
    td_box box = card_box(self->catalog, self->view, card_x(self->view, i), self->y);
    bool is_hidden = box.x + box.width > self->view->width - 8;
    n_hidden += is_hidden;
    if (box.x > self->view->width || box.x + box.width < first_x(self->view) - 8) continue;
    uint32_t depth = td_catalog_depth(self->catalog, order[i].graph_task);
    draw_card(self, box, order[i].node, depth, order[i].kind, TD_NODE_queued);
    if (i == 0 && !is_hidden) draw_below(self, box, td_translate("next"));
  }
  cairo_restore(self->cr);
  td_box first = card_box(self->catalog, self->view, first_x(self->view), self->y);
  if (!n)
    td_label_draw(self->labels, self->cr, td_translate("no task is ready"), 12, first.x,
                  first.y + first.height / 2 - 9, TD_MAX(self->view->width - first.x - LEFT, 1),
                  self->theme->dim, false);
  if (n_hidden) draw_more(self, n_hidden);
  free(order);
}

static void
draw_ground(const strip *self) {
  td_box box = td_queues_strip_box(self->catalog, self->view, self->queue);
  td_shape_rounded(self->cr, box, 10);
  td_theme_source(self->cr, td_colour_mix(self->theme->background, self->theme->foreground, 0.03));
  cairo_fill(self->cr);
}

static void
draw_strip(const strip *self) {
  draw_ground(self);
  draw_title(self);
  draw_last(self);
  draw_arrow(self);
  draw_cards(self);
}

static void
draw_ring(const strip *self, td_box box) {
  td_shape_rounded(self->cr, (td_box){box.x - 4, box.y - 4, box.width + 8, box.height + 8}, 12);
  td_theme_source(self->cr, self->theme->accent);
  cairo_set_line_width(self->cr, 2);
  cairo_stroke(self->cr);
}

static void
draw_rings(const strip *self) {
  const td_queue_now *now = td_state_queue(self->state, self->queue);
  td_queue_entry *order = TD_NEW_N(td_queue_entry, now->n);
  if (now->last_node == self->view->selected) draw_ring(self, last_box(self));
  td_state_queue_order(self->state, self->catalog, self->queue, order);
  cairo_save(self->cr);
  clip_cards(self);
  for (uint32_t i = 0; i < now->n; i++)
    if (order[i].node == self->view->selected)
      draw_ring(self, card_box(self->catalog, self->view, card_x(self->view, i), self->y));
  cairo_restore(self->cr);
  free(order);
}

/* Draws part of every strip that cairo's clip lets through. */
static void
draw_strips(strip *self, void (*part)(const strip *self)) {
  double left, top, right, bottom, height = strip_height(self->catalog, self->view->is_short);
  cairo_save(self->cr);
  cairo_rectangle(self->cr, 0, 0, self->view->width, self->view->height);
  cairo_clip(self->cr);
  cairo_clip_extents(self->cr, &left, &top, &right, &bottom);
  for (self->queue = 0; self->queue < self->catalog->n_queues; self->queue++) {
    self->y = TOP + self->queue * height;
    if (self->y < bottom && self->y + height > top) part(self);
  }
  cairo_restore(self->cr);
}

void
td_queues_draw(cairo_t *cr, const td_catalog *catalog, const td_state *state,
               const td_queues_view *view, const td_theme *theme, td_label_cache *labels) {
  strip self = {cr, catalog, state, view, theme, labels, 0, 0};
  td_theme_source(cr, theme->background);
  cairo_rectangle(cr, 0, 0, view->width, view->height);
  cairo_fill(cr);
  draw_strips(&self, draw_strip);
  if (!catalog->n_queues)
    td_label_middle(labels, cr, td_translate("No ready queue on this tape"), 13, view->width / 2,
                    TOP + 30, theme->dim, false);
}

void
td_queues_draw_over(cairo_t *cr, const td_catalog *catalog, const td_state *state,
                    const td_queues_view *view, const td_theme *theme) {
  strip self = {cr, catalog, state, view, theme, NULL, 0, 0};
  if (td_catalog_has_node(catalog, view->selected)) draw_strips(&self, draw_rings);
}

td_box
td_queues_strip_box(const td_catalog *catalog, const td_queues_view *view, uint32_t queue) {
  double height = strip_height(catalog, view->is_short);
  return (td_box){8, TOP + queue * height, view->width - 16, height - 8};
}

td_box
td_queues_card_box(const td_catalog *catalog, const td_queues_view *view, uint32_t queue, int i) {
  double y = td_queues_strip_box(catalog, view, queue).y;
  return card_box(catalog, view, i < 0 ? last_x(view) : card_x(view, (uint32_t)i), y);
}

static bool
contains(td_box box, double x, double y) {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}

uint32_t
td_queues_hit(const td_catalog *catalog, const td_state *state, const td_queues_view *view,
              double x, double y) {
  double height = strip_height(catalog, view->is_short);
  if (y < TOP || y >= TOP + catalog->n_queues * height) return TD_NONE;
  uint32_t queue = (uint32_t)((y - TOP) / height), n = td_state_queue(state, queue)->n,
           found = TD_NONE;
  double strip_y = TOP + queue * height;
  if (contains(card_box(catalog, view, last_x(view), strip_y), x, y))
    return td_state_queue(state, queue)->last_node;
  if (x < first_x(view) - 8 || x > view->width - 8) return TD_NONE;
  td_queue_entry *order = TD_NEW_N(td_queue_entry, n);
  td_state_queue_order(state, catalog, queue, order);
  for (uint32_t i = 0; i < n && found == TD_NONE; i++)
    if (contains(card_box(catalog, view, card_x(view, i), strip_y), x, y)) found = order[i].node;
  free(order);
  return found;
}
