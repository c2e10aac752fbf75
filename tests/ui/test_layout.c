/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Layout: what every drawing must keep to, on graphs of the shapes that people have, and crossings
 * beside those of graphviz's dot. */
#include "app/bench/shapes.h"
#include "engine/base/alloc.h"
#include "ui/geometry/layered.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

enum { CARD_WIDTH = 130, CARD_HEIGHT = 46, PORT_WIDTH = 90, PORT_HEIGHT = 20 };

typedef struct fixture {
  td_made_graph *made;
  float *width, *height;
  td_layout_graph graph;
  td_layout *layout;
} fixture;

static void
fixture_init(fixture *self, td_made_graph *made) {
  self->made = made;
  self->width = TD_NEW_N(float, made->n_nodes);
  self->height = TD_NEW_N(float, made->n_nodes);
  for (uint32_t i = 0; i < made->n_nodes; i++) {
    self->width[i] = made->port[i] ? PORT_WIDTH : CARD_WIDTH;
    self->height[i] = made->port[i] ? PORT_HEIGHT : CARD_HEIGHT;
  }
  self->graph = (td_layout_graph){made->n_nodes, made->n_edges, made->from, made->to,
                                  self->width,   self->height,  made->port, NULL};
  self->layout = td_layout_new(&self->graph, &td_layout_defaults);
}

static void
fixture_fini(fixture *self) {
  td_layout_free(self->layout);
  td_made_graph_free(self->made);
  free(self->width);
  free(self->height);
}

typedef struct placed {
  float left, top, right, bottom;
} placed;

static int
compare_tops(const void *a, const void *b) {
  const placed *left = a, *right = b;
  return (left->top > right->top) - (left->top < right->top);
}

/* Sorted by top, so that only boxes at the same height are compared. */
static void
assert_no_overlap(const fixture *self) {
  uint32_t n = self->graph.n_nodes;
  placed *boxes = TD_NEW_N(placed, n);
  for (uint32_t i = 0; i < n; i++) {
    float x = self->layout->x[i], y = self->layout->y[i], w = self->width[i] / 2,
          h = self->height[i] / 2;
    boxes[i] = (placed){x - w, y - h, x + w, y + h};
    g_assert_true(isfinite(x) && isfinite(y));
    g_assert_cmpfloat(boxes[i].left, >=, -0.5);
    g_assert_cmpfloat(boxes[i].right, <=, self->layout->width + 0.5);
    g_assert_cmpfloat(boxes[i].top, >=, -0.5);
    g_assert_cmpfloat(boxes[i].bottom, <=, self->layout->height + 0.5);
  }
  qsort(boxes, n, sizeof *boxes, compare_tops);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n && boxes[j].top < boxes[i].bottom - 0.1; j++)
      g_assert_true(boxes[j].left >= boxes[i].right - 0.5 || boxes[i].left >= boxes[j].right - 0.5);
  free(boxes);
}

static void
assert_edges_go_down(const fixture *self) {
  const td_layout *layout = self->layout;
  for (uint32_t i = 0; i < self->graph.n_edges; i++) {
    uint32_t from = self->graph.from[i], to = self->graph.to[i];
    g_assert_cmpuint(layout->first_point[i + 1] - layout->first_point[i], >=, 2);
    if (layout->host[to] != TD_LAYOUT_NONE) continue;
    g_assert_cmpuint(layout->layer[to], >, layout->layer[from]);
    if (layout->route[i] != TD_ROUTE_LAYERED || layout->column[from] != layout->column[to])
      continue;
    for (uint32_t k = layout->first_point[i] + 1; k < layout->first_point[i + 1]; k++)
      g_assert_cmpfloat(layout->points[k].y, >=, layout->points[k - 1].y);
  }
}

static void
assert_ports_beside_users(const fixture *self) {
  const td_layout *layout = self->layout;
  for (uint32_t i = 0; i < self->graph.n_nodes; i++) {
    uint32_t host = layout->host[i];
    g_assert_true((host != TD_LAYOUT_NONE) == (self->made->port[i] == 1));
    if (host == TD_LAYOUT_NONE) continue;
    g_assert_cmpfloat(fabsf(layout->y[i] - layout->y[host]), <, 50);
    g_assert_cmpfloat(layout->x[i], >, layout->x[host]);
    g_assert_cmpfloat(layout->x[i] - layout->x[host], <, 300);
  }
}

static void
test_shapes(gconstpointer data) {
  td_graph_shape shape = GPOINTER_TO_UINT(data);
  static const uint32_t sizes[] = {12, 40, 300, 3000};
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
    fixture self;
    fixture_init(&self, td_made_graph_new(shape, sizes[i]));
    assert_no_overlap(&self);
    assert_edges_go_down(&self);
    assert_ports_beside_users(&self);
    fixture_fini(&self);
  }
}

static void
test_same_every_time(void) {
  for (int shape = 0; shape < TD_N_SHAPES; shape++) {
    fixture a, b;
    fixture_init(&a, td_made_graph_new(shape, 500));
    fixture_init(&b, td_made_graph_new(shape, 500));
    size_t size = a.graph.n_nodes * sizeof(float),
           n_points = a.layout->first_point[a.graph.n_edges];
    g_assert_cmpmem(a.layout->x, size, b.layout->x, size);
    g_assert_cmpmem(a.layout->y, size, b.layout->y, size);
    g_assert_cmpuint(n_points, ==, b.layout->first_point[b.graph.n_edges]);
    g_assert_cmpmem(a.layout->points, n_points * sizeof *a.layout->points, b.layout->points,
                    n_points * sizeof *b.layout->points);
    fixture_fini(&a);
    fixture_fini(&b);
  }
}

static td_layout *
lay_out(uint32_t n, uint32_t m, const uint32_t *from, const uint32_t *to) {
  float size[8] = {60, 60, 60, 60, 60, 60, 60, 60};
  td_layout_graph graph = {n, m, from, to, size, size, NULL, NULL};
  return td_layout_new(&graph, &td_layout_defaults);
}

static void
test_tiny(void) {
  td_layout *none = lay_out(0, 0, NULL, NULL), *one = lay_out(1, 0, NULL, NULL);
  g_assert_cmpuint(none->n_layers, ==, 0);
  g_assert_cmpfloat(none->width, ==, 0);
  g_assert_cmpuint(one->n_layers, ==, 1);
  g_assert_cmpfloat(one->x[0], ==, 30);
  g_assert_cmpfloat(one->y[0], ==, 30);
  td_layout_free(none);
  td_layout_free(one);
}

/* What cannot point downwards is led around, and everything else is as without it. */
static void
test_cycles(void) {
  const uint32_t from[] = {0, 1, 2, 1, 2}, to[] = {1, 2, 0, 1, 3};
  td_layout *layout = lay_out(4, 5, from, to);
  uint32_t n_around = 0;
  for (int i = 0; i < 5; i++) {
    n_around += layout->route[i] == TD_ROUTE_AROUND;
    if (layout->route[i] == TD_ROUTE_LAYERED)
      g_assert_cmpuint(layout->layer[to[i]], >, layout->layer[from[i]]);
  }
  g_assert_cmpuint(n_around, ==, 2);
  td_layout_free(layout);
}

/* A hub over N nodes over another hub: each hub's edges leave or enter it at one place, and lie on
 * one line. */
static void
test_bundles(void) {
  enum { N = 40 };
  uint32_t from[2 * N], to[2 * N];
  float size[N + 2];
  for (uint32_t i = 0; i < N + 2; i++)
    size[i] = 60;
  for (uint32_t i = 0; i < N; i++) {
    from[i] = 0;
    to[i] = from[N + i] = i + 1;
    to[N + i] = N + 1;
  }
  td_layout_graph graph = {N + 2, 2 * N, from, to, size, size, NULL, NULL};
  td_layout *layout = td_layout_new(&graph, &td_layout_defaults);
  float line[2] = {NAN, NAN};
  for (uint32_t i = 0; i < 2 * N; i++) {
    const td_layout_point *points = &layout->points[layout->first_point[i]];
    uint32_t n = layout->first_point[i + 1] - layout->first_point[i], hub = i / N;
    g_assert_cmpfloat(points[hub ? n - 1 : 0].x, ==, layout->x[hub ? N + 1 : 0]);
    if (n == 2) continue; /* straight */
    g_assert_cmpuint(n, ==, 4);
    if (isnan(line[hub])) line[hub] = points[1].y;
    g_assert_cmpfloat(points[1].y, ==, line[hub]);
    g_assert_cmpfloat(points[2].y, ==, line[hub]);
  }
  g_assert_cmpfloat(line[1], >, line[0]);
  td_layout_free(layout);
}

/* Two users of a leaf stand in one layer. The edge from the one that the leaf is not beside stays
 * between its ends. */
static void
test_second_use(void) {
  const uint32_t from[] = {0, 0, 1, 2}, to[] = {1, 2, 3, 3};
  const uint8_t port[] = {0, 0, 0, 1};
  float size[] = {60, 60, 60, 20};
  td_layout_graph graph = {4, 4, from, to, size, size, port, NULL};
  td_layout *layout = td_layout_new(&graph, &td_layout_defaults);
  g_assert_true(layout->host[3] == 1 || layout->host[3] == 2);
  uint32_t edge = layout->host[3] == 1 ? 3 : 2, user = from[edge];
  float left = fminf(layout->x[user] - 30, layout->x[3] - 10);
  float right = fmaxf(layout->x[user] + 30, layout->x[3] + 10);
  g_assert_cmpuint(layout->route[edge], ==, TD_ROUTE_AROUND);
  for (uint32_t k = layout->first_point[edge]; k < layout->first_point[edge + 1]; k++) {
    g_assert_cmpfloat(layout->points[k].x, >=, left);
    g_assert_cmpfloat(layout->points[k].x, <=, right);
  }
  td_layout_free(layout);
}

/* A diamond has no crossing; two crossed pairs that cannot be untangled (K_{2,2}) have one. */
static void
test_known_crossings(void) {
  const uint32_t diamond_from[] = {0, 0, 1, 2}, diamond_to[] = {1, 2, 3, 3};
  const uint32_t pair_from[] = {0, 0, 1, 1}, pair_to[] = {2, 3, 2, 3};
  const uint32_t straight_from[] = {0, 1, 2}, straight_to[] = {5, 4, 3};
  td_layout *diamond = lay_out(4, 4, diamond_from, diamond_to);
  td_layout *pair = lay_out(4, 4, pair_from, pair_to);
  td_layout *straight = lay_out(6, 3, straight_from, straight_to);
  g_assert_cmpuint(diamond->crossings, ==, 0);
  g_assert_cmpuint(pair->crossings, ==, 1);
  g_assert_cmpuint(straight->crossings, ==, 0);
  for (int i = 0; i < 3; i++)
    g_assert_cmpfloat(straight->x[straight_from[i]], ==, straight->x[straight_to[i]]);
  td_layout_free(diamond);
  td_layout_free(pair);
  td_layout_free(straight);
}

/* A chain whose every node also feeds the last one: without bounds, n * n / 2 dummies. */
static void
test_hub_is_bounded(void) {
  enum { N = 4000 };
  uint32_t *from = TD_NEW_N(uint32_t, 2 * N), *to = TD_NEW_N(uint32_t, 2 * N), m = 0;
  float *size = TD_NEW_N(float, N);
  for (uint32_t i = 0; i < N; i++)
    size[i] = 40;
  for (uint32_t i = 0; i + 1 < N; i++) {
    from[m] = i;
    to[m++] = i + 1;
    from[m] = i;
    to[m++] = N - 1;
  }
  td_layout_graph graph = {N, m, from, to, size, size, NULL, NULL};
  td_layout *layout = td_layout_new(&graph, &td_layout_defaults);
  g_assert_cmpuint(layout->n_layers, ==, N);
  g_assert_cmpuint(layout->first_point[m], <, 20 * N);
  td_layout_free(layout);
  free(from);
  free(to);
  free(size);
}

static void
test_trunk_is_straight(void) {
  fixture self;
  fixture_init(&self, td_made_graph_new(TD_SHAPE_RESNET, 60));
  uint32_t n = 0, n_straight = 0;
  for (uint32_t i = 0; i < self.graph.n_edges; i++) {
    uint32_t from = self.graph.from[i], to = self.graph.to[i];
    bool next = self.layout->layer[to] == self.layout->layer[from] + 1;
    if (self.layout->route[i] != TD_ROUTE_LAYERED || !next ||
        self.layout->column[from] != self.layout->column[to])
      continue;
    n++;
    n_straight += fabsf(self.layout->x[from] - self.layout->x[to]) < 0.01f;
  }
  g_assert_cmpuint(n, >, 10);
  g_assert_cmpuint(10 * n_straight, >=, 9 * n);
  fixture_fini(&self);
}

static void
test_folding(void) {
  fixture self;
  fixture_init(&self, td_made_graph_new(TD_SHAPE_RESNET, 400));
  float ratio = self.layout->width / self.layout->height;
  g_assert_cmpuint(self.layout->n_columns, >, 1);
  g_assert_cmpfloat(ratio, >, 0.5);
  g_assert_cmpfloat(ratio, <, 3);
  td_layout_options tall = td_layout_defaults;
  tall.aspect = 0;
  td_layout *unfolded = td_layout_new(&self.graph, &tall);
  g_assert_cmpuint(unfolded->n_columns, ==, 1);
  g_assert_cmpfloat(unfolded->height, >, 2 * self.layout->height);
  td_layout_free(unfolded);
  fixture_fini(&self);
}

/* dot tells its count on standard error: "mincross G: 59 crossings, 0.01 secs." */
static bool
crossings_of_dot(const td_made_graph *graph, uint64_t *crossings) {
  GString *text =
      g_string_new("digraph G { node [shape=box, fixedsize=true, width=1.8, height=0.6];\n");
  for (uint32_t i = 0; i < graph->n_edges; i++)
    g_string_append_printf(text, "n%u -> n%u;\n", graph->from[i], graph->to[i]);
  g_string_append(text, "}\n");
  char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-test-layout-XXXXXX", NULL),
       *messages = NULL;
  int file = g_mkstemp(path);
  g_assert_cmpint(file, >=, 0);
  g_close(file, NULL);
  g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
  char *command[] = {"dot", "-v", "-Tplain", "-o", "/dev/null", path, NULL};
  bool ran = g_spawn_sync(NULL, command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &messages,
                          NULL, NULL);
  const char *found = ran ? g_strrstr(messages, "mincross G: ") : NULL;
  if (found) *crossings = g_ascii_strtoull(found + strlen("mincross G: "), NULL, 10);
  g_remove(path);
  g_free(path);
  g_free(messages);
  g_string_free(text, TRUE);
  return found != NULL;
}

static void
test_crossings_beside_dot(void) {
  uint64_t own = 0, theirs = 0;
  for (uint32_t n = 30; n <= 300; n += 30) {
    uint64_t one;
    fixture self;
    fixture_init(&self, td_made_graph_new(TD_SHAPE_WIDE, n));
    bool told = crossings_of_dot(self.made, &one);
    own += self.layout->crossings;
    theirs += told ? one : 0;
    fixture_fini(&self);
    if (told) continue;
    g_test_skip("graphviz's dot is not installed");
    return;
  }
  g_test_message("crossings on ten wide graphs: %" G_GUINT64_FORMAT ", dot %" G_GUINT64_FORMAT, own,
                 theirs);
  g_assert_cmpfloat((double)own, <=, 1.2 * (double)theirs);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (guint shape = 0; shape < TD_N_SHAPES; shape++) {
    char *path = g_strdup_printf("/ui/layout/%s", td_graph_shape_name(shape));
    g_test_add_data_func(path, GUINT_TO_POINTER(shape), test_shapes);
    g_free(path);
  }
  g_test_add_func("/ui/layout/tiny", test_tiny);
  g_test_add_func("/ui/layout/cycles", test_cycles);
  g_test_add_func("/ui/layout/second_use", test_second_use);
  g_test_add_func("/ui/layout/bundles", test_bundles);
  g_test_add_func("/ui/layout/same-every-time", test_same_every_time);
  g_test_add_func("/ui/layout/known-crossings", test_known_crossings);
  g_test_add_func("/ui/layout/hub-is-bounded", test_hub_is_bounded);
  g_test_add_func("/ui/layout/trunk-is-straight", test_trunk_is_straight);
  g_test_add_func("/ui/layout/folding", test_folding);
  g_test_add_func("/ui/layout/crossings-beside-dot", test_crossings_beside_dot);
  return g_test_run();
}
