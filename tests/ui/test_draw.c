/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pictures, drawn into images without a display: they show the state, change where it changes,
 * and what is hit is what was drawn. */
#include "engine/base/alloc.h"
#include "tests/ui/picture_fixture.h"
#include "ui/draw/graph_steps.h"

#include <glib.h>
#include <malloc.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 1000, HEIGHT = 700 };
enum { GRAPH, QUEUES, TIMELINE, OVERVIEW }; /* in `pictures` */

static cairo_surface_t *
paint_light(picture_fixture *self, size_t i) {
  return paint(self, &pictures[i], td_theme_default(false), WIDTH, HEIGHT);
}

static void
seek(picture_fixture *self, uint64_t position) {
  g_assert_cmpint(td_replay_seek(self->replay, position, NULL), ==, TD_OK);
}

static uint32_t
pixel(cairo_surface_t *surface, int x, int y) {
  const unsigned char *data = cairo_image_surface_get_data(surface);
  uint32_t value;
  memcpy(&value, data + (size_t)y * (size_t)cairo_image_surface_get_stride(surface) + 4 * (size_t)x,
         4);
  return value;
}

/* How many pixels of a square differ from those of another picture. */
static uint32_t
count_changed(cairo_surface_t *a, cairo_surface_t *b, double x, double y, int reach) {
  uint32_t n = 0;
  for (int j = (int)y - reach; j <= (int)y + reach; j++)
    for (int i = (int)x - reach; i <= (int)x + reach; i++)
      if (i >= 0 && j >= 0 && i < WIDTH && j < HEIGHT) n += pixel(a, i, j) != pixel(b, i, j);
  return n;
}

/* Where a node's state changed its card changed. */
static void
test_cards_follow_states(void) {
  picture_fixture self;
  picture_fixture_init(&self, 30);
  td_graph_view view = graph_view(&self, WIDTH, HEIGHT);
  uint64_t length = td_replay_end(self.replay);
  uint32_t n_changed = 0;
  uint8_t before[64];
  for (uint64_t position = length / 4; position + 40 < length; position += 40) {
    seek(&self, position);
    cairo_surface_t *a = paint_light(&self, GRAPH);
    for (uint32_t i = 0; i < self.catalog->n_nodes; i++)
      before[i] = td_state_node(self.state, i)->state;
    seek(&self, position + 40);
    cairo_surface_t *b = paint_light(&self, GRAPH);
    for (uint32_t i = 0; i < self.catalog->n_nodes; i++) {
      double x, y;
      if (!td_graph_scene_place(self.scene, i, &x, &y) ||
          before[i] == td_state_node(self.state, i)->state)
        continue;
      x = (x - view.centre_x) * view.scale + view.width / 2;
      y = (y - view.centre_y) * view.scale + view.height / 2;
      g_assert_cmpuint(count_changed(a, b, x, y, 32), >, 0);
      n_changed++;
    }
    cairo_surface_destroy(a);
    cairo_surface_destroy(b);
  }
  g_assert_cmpuint(n_changed, >, 20);
  picture_fixture_fini(&self);
}

/* No two states look the same, whether by colour or in shades of grey. */
static void
test_states_differ(void) {
  for (int dark = 0; dark < 2; dark++) {
    const td_theme *theme = td_theme_default(dark);
    for (int a = 0; a < TD_N_NODE_STATES; a++)
      for (int b = 0; b < a; b++) {
        td_colour left = theme->node_fill[a], right = theme->node_fill[b];
        double distance = fabs(left.r - right.r) + fabs(left.g - right.g) + fabs(left.b - right.b);
        g_assert_cmpfloat(distance, >, 0.02);
      }
  }
}

static void
test_hit_is_what_was_drawn(void) {
  picture_fixture self;
  picture_fixture_init(&self, 200);
  td_graph_view view = graph_view(&self, WIDTH, HEIGHT);
  g_assert_cmpuint(td_graph_scene_n_nodes(self.scene), >, 100);
  for (double scale = view.scale; scale < 1.5; scale *= 1.9) {
    view.scale = scale;
    for (uint32_t i = 0; i < self.catalog->n_nodes; i++) {
      double x, y;
      if (!td_graph_scene_place(self.scene, i, &x, &y)) continue;
      x = (x - view.centre_x) * view.scale + view.width / 2;
      y = (y - view.centre_y) * view.scale + view.height / 2;
      g_assert_cmpuint(td_graph_scene_hit(self.scene, &view, x, y), ==, i);
    }
    g_assert_cmpuint(td_graph_scene_hit(self.scene, &view, -1e6, 0), ==, TD_NONE);
  }
  g_assert_false(
      td_graph_scene_place(self.scene, self.catalog->n_nodes, &view.centre_x, &view.centre_y));
  picture_fixture_fini(&self);
}

/* Everything is inside the fitted view. */
static void
test_fit(void) {
  picture_fixture self;
  picture_fixture_init(&self, 500);
  td_graph_view view = graph_view(&self, WIDTH, HEIGHT);
  for (uint32_t i = 0; i < self.catalog->n_nodes; i++) {
    double x, y;
    if (!td_graph_scene_place(self.scene, i, &x, &y)) continue;
    g_assert_cmpfloat(fabs(x - view.centre_x) * view.scale, <, view.width / 2);
    g_assert_cmpfloat(fabs(y - view.centre_y) * view.scale, <, view.height / 2);
  }
  g_assert_cmpfloat(view.scale, <=, 1.5);
  picture_fixture_fini(&self);
}

static bool
has_edge(const td_catalog *catalog, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < catalog->n_edges; i++)
    if (catalog->edges[i].from == from && catalog->edges[i].to == to) return true;
  return false;
}

static bool
ends_edge(const td_catalog *catalog, uint32_t node, bool from) {
  for (uint32_t i = 0; i < catalog->n_edges; i++)
    if ((from ? catalog->edges[i].from : catalog->edges[i].to) == node) return true;
  return false;
}

/* Down and up follow edges, wherever there are some; left and right stay in the layer. */
static void
test_neighbours(void) {
  picture_fixture self;
  picture_fixture_init(&self, 60);
  td_graph_view view = graph_view(&self, WIDTH, HEIGHT);
  uint32_t n_right = 0;
  for (uint32_t i = 0; i < self.catalog->n_nodes; i++) {
    double here[4], there[4];
    if (!td_graph_scene_extent(self.scene, &view, i, here)) continue;
    for (int dy = -1; dy <= 1; dy += 2) {
      uint32_t found = td_graph_scene_neighbour(self.scene, i, 0, dy);
      bool down = dy > 0;
      g_assert_true((found != TD_NONE) == ends_edge(self.catalog, i, down));
      if (found != TD_NONE)
        g_assert_true(has_edge(self.catalog, down ? i : found, down ? found : i));
    }
    uint32_t right = td_graph_scene_neighbour(self.scene, i, 1, 0);
    if (right == TD_NONE) continue;
    g_assert_true(td_graph_scene_extent(self.scene, &view, right, there));
    g_assert_cmpfloat(there[0], >, here[0]);
    g_assert_cmpfloat(there[1], <, here[1] + here[3]);
    g_assert_cmpfloat(there[1] + there[3], >, here[1]);
    n_right++;
  }
  g_assert_cmpuint(n_right, >, 10);
  picture_fixture_fini(&self);
}

/* The order has each node of the scene once, and goes down. */
static void
test_order(void) {
  picture_fixture self;
  picture_fixture_init(&self, 300);
  uint32_t n = td_graph_scene_n_nodes(self.scene);
  uint32_t *order = td_graph_scene_order(self.scene);
  g_autofree bool *seen = g_new0(bool, self.catalog->n_nodes);
  double last = -1e9, x, y;
  for (uint32_t i = 0; i < n; i++) {
    g_assert_true(td_graph_scene_place(self.scene, order[i], &x, &y));
    g_assert_false(seen[order[i]]);
    g_assert_cmpfloat(y, >=, last);
    seen[order[i]] = true;
    last = y;
  }
  free(order);
  picture_fixture_fini(&self);
}

/* The first card of a strip is the task that is popped next. */
static void
try_queue_cards(const picture_fixture *self, td_queues_view view, uint32_t *n_cards,
                uint32_t *n_last) {
  for (uint32_t q = 0; q < self->catalog->n_queues; q++) {
    const td_queue_now *now = td_state_queue(self->state, q);
    td_box next = td_queues_card_box(self->catalog, &view, q, 0),
           last = td_queues_card_box(self->catalog, &view, q, -1);
    uint32_t hit =
        td_queues_hit(self->catalog, self->state, &view, next.x + 8, next.y + next.height / 2);
    g_assert_cmpuint(
        td_queues_hit(self->catalog, self->state, &view, last.x + 8, last.y + last.height / 2), ==,
        now->last_node);
    td_box strip = td_queues_strip_box(self->catalog, &view, q);
    g_assert_true(next.y >= strip.y && next.y + next.height <= strip.y + strip.height);
    g_assert_true(strip.y + strip.height <= td_queues_height(self->catalog, view.is_short));
    td_queue_entry *order = TD_NEW_N(td_queue_entry, now->n);
    td_state_queue_order(self->state, self->catalog, q, order);
    g_assert_cmpuint(hit, ==, now->n ? order[0].node : TD_NONE);
    *n_cards += now->n > 0;
    *n_last += now->last_node != TD_NONE;
    free(order);
  }
}

static void
test_queue_cards(void) {
  picture_fixture self;
  picture_fixture_init(&self, 300);
  uint64_t length = td_replay_end(self.replay);
  for (int is_short = 0; is_short < 2; is_short++) {
    td_queues_view view = {
        .width = WIDTH, .height = HEIGHT, .selected = TD_NONE, .is_short = is_short};
    uint32_t n_cards = 0, n_last = 0;
    for (uint64_t position = 0; position < length; position += 17) {
      seek(&self, position);
      try_queue_cards(&self, view, &n_cards, &n_last);
    }
    g_assert_cmpuint(n_cards, >, 10);
    g_assert_cmpuint(n_last, >, 10);
  }
  g_assert_cmpfloat(td_queues_height(self.catalog, true), <,
                    td_queues_height(self.catalog, false) / 2);
  picture_fixture_fini(&self);
}

static void
test_timeline(void) {
  picture_fixture self;
  picture_fixture_init(&self, 100);
  td_timeline_view view = timeline_view(&self, WIDTH, HEIGHT);
  uint32_t n_hit = 0;
  for (double x = 140; x < WIDTH - 20; x += 13) {
    g_assert_cmpfloat_with_epsilon(td_timeline_x(&view, td_timeline_time_at(&view, x)), x, 1e-3);
    for (double y = 50; y < td_timeline_height(self.timeline); y += 5) {
      uint32_t node = td_timeline_hit(self.timeline, &view, x, y);
      g_assert_true(node == TD_NONE || node < self.catalog->n_nodes);
      n_hit += node != TD_NONE;
    }
  }
  g_assert_cmpuint(n_hit, >, 5);
  g_assert_cmpuint(td_timeline_hit(self.timeline, &view, 5, 60), ==, TD_NONE);
  cairo_surface_t *a = paint_light(&self, TIMELINE);
  seek(&self, td_replay_end(self.replay) * 3 / 4);
  cairo_surface_t *b = paint_light(&self, TIMELINE);
  double playhead = td_timeline_x(&view, (double)self.state->header->time_ns);
  g_assert_cmpuint(count_changed(a, b, playhead, 300, 2), >, 0);
  cairo_surface_destroy(a);
  cairo_surface_destroy(b);
  picture_fixture_fini(&self);
}

/* A click on its title makes a lane thin, and another opens it. What is below moves up. */
static void
test_collapse(void) {
  picture_fixture self;
  picture_fixture_init(&self, 40);
  td_timeline_view view = timeline_view(&self, WIDTH, HEIGHT);
  double whole = td_timeline_height(self.timeline);
  size_t n = td_timeline_n_lanes(self.timeline), n_found = 0;
  for (double y = 60; y < whole; y += 9) {
    size_t lane = td_timeline_title_at(self.timeline, &view, 30, y);
    n_found += lane < n;
    if (lane == SIZE_MAX) continue;
    cairo_surface_t *open = paint_light(&self, TIMELINE);
    td_timeline_collapse(self.timeline, lane, true);
    g_assert_cmpfloat(td_timeline_height(self.timeline), <, whole);
    cairo_surface_t *thin = paint_light(&self, TIMELINE);
    g_assert_cmpuint(count_changed(open, thin, 60, y, 60), >, 0);
    td_timeline_collapse(self.timeline, lane, false);
    g_assert_cmpfloat(td_timeline_height(self.timeline), ==, whole);
    cairo_surface_destroy(open);
    cairo_surface_destroy(thin);
  }
  g_assert_cmpuint(n_found, >, 5);
  g_assert_cmpuint(td_timeline_title_at(self.timeline, &view, 300, 60), ==, SIZE_MAX);
  picture_fixture_fini(&self);
}

static void
take(td_timeline_collector *collector, td_event_kind kind, uint32_t thread, double ns,
     td_any_event event) {
  event.event = (td_event){.kind = (uint16_t)kind,
                           .size = td_event_type_get(kind)->size,
                           .thread = thread,
                           .time = (uint64_t)ns};
  td_timeline_collector_take(collector, &event, 0);
}

static td_timeline *
make_paused(picture_fixture *self) {
  td_timeline_collector *collector = td_timeline_collector_new(td_replay_tape(self->replay));
  td_any_event node = {.node_begin = {.node = 3}}, end = {.node_end = {.node = 3}};
  take(collector, TD_EVENT_node_begin, 0, 1000, node);
  take(collector, TD_EVENT_node_end, 0, 2000, end);
  take(collector, TD_EVENT_node_begin, 1, 4000, node);
  take(collector, TD_EVENT_paused, 0, 9e9,
       (td_any_event){.paused = {.waited = (uint64_t)9e9 - 2000}});
  take(collector, TD_EVENT_paused, 1, 9e9 + 900,
       (td_any_event){.paused = {.waited = (uint64_t)9e9 - 3100}});
  take(collector, TD_EVENT_node_end, 1, 9e9 + 2000, end);
  return td_timeline_collector_end(collector, self->catalog);
}

/* A person kept the program waiting for nine seconds, and thread 1 came by a little later. */
static void
test_pause(void) {
  picture_fixture self;
  picture_fixture_init(&self, 20);
  td_timeline *timeline = make_paused(&self);
  const td_time_cuts *cuts = td_timeline_cuts(timeline);
  g_assert_cmpuint(cuts->n, ==, 1);
  g_assert_cmpfloat(cuts->cuts[0].begin_ns, ==, 4000);
  g_assert_cmpfloat(cuts->cuts[0].end_ns, ==, 9e9);
  td_timeline_view view = timeline_view(&self, WIDTH, HEIGHT);
  view.cuts = cuts;
  td_timeline_extent(timeline, &view.from_ns, &view.to_ns);
  g_assert_cmpfloat_with_epsilon(td_timeline_visible_ns(&view), 5000, 300);
  double before = td_timeline_x(&view, 4000), unit = before - td_timeline_x(&view, 3000);
  g_assert_cmpfloat_with_epsilon(td_timeline_x(&view, 5e9), before, 1e-3);
  g_assert_cmpfloat_with_epsilon(td_timeline_x(&view, 9e9 + 1000), before + unit, 1e-3);
  g_assert_cmpfloat_with_epsilon(td_timeline_time_at(&view, before + unit), 9e9 + 1000, 1);
  td_timeline_free(self.timeline);
  self.timeline = timeline;
  cairo_surface_destroy(paint_light(&self, TIMELINE));
  picture_fixture_fini(&self);
}

static size_t
bytes_in_use(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

static void
test_no_growth(void) {
  picture_fixture self;
  picture_fixture_init(&self, 200);
  size_t before = 0;
  for (int round = 0; round < 60; round++) {
    for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
      cairo_surface_destroy(paint_light(&self, i));
    if (round == 20) before = bytes_in_use();
  }
  g_assert_cmpuint(bytes_in_use(), <=, before + 16384);
  picture_fixture_fini(&self);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/draw/cards-follow-states", test_cards_follow_states);
  g_test_add_func("/ui/draw/states-differ", test_states_differ);
  g_test_add_func("/ui/draw/hit-is-what-was-drawn", test_hit_is_what_was_drawn);
  g_test_add_func("/ui/draw/fit", test_fit);
  g_test_add_func("/ui/draw/neighbours", test_neighbours);
  g_test_add_func("/ui/draw/order", test_order);
  g_test_add_func("/ui/draw/queue-cards", test_queue_cards);
  g_test_add_func("/ui/draw/timeline", test_timeline);
  g_test_add_func("/ui/draw/collapse", test_collapse);
  g_test_add_func("/ui/draw/pause", test_pause);
  g_test_add_func("/ui/draw/no-growth", test_no_growth);
  return g_test_run();
}
