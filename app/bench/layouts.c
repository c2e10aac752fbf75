/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The layout of graphs of realistic shapes. The slowest of them counts. */
#include "app/bench/figure.h"
#include "app/bench/scale.h"
#include "app/bench/shapes.h"

#include "engine/base/alloc.h"
#include "ui/geometry/layered.h"

#define NODE_WIDTH 150
#define NODE_HEIGHT 44

static double
layout_ms(td_graph_shape shape, uint32_t n) {
  td_made_graph *made = td_made_graph_new(shape, n);
  float *width = TD_NEW_N(float, made->n_nodes), *height = TD_NEW_N(float, made->n_nodes);
  for (uint32_t i = 0; i < made->n_nodes; i++) {
    width[i] = NODE_WIDTH;
    height[i] = NODE_HEIGHT;
  }
  td_layout_graph graph = {.n_nodes = made->n_nodes,
                           .n_edges = made->n_edges,
                           .from = made->from,
                           .to = made->to,
                           .width = width,
                           .height = height,
                           .port = made->port};
  double best;
  TD_BEST_OF(3, best, td_layout_free(td_layout_new(&graph, &td_layout_defaults)));
  free(width);
  free(height);
  td_made_graph_free(made);
  return best * 1e3;
}

static double
worst_ms(uint32_t n) {
  double worst = 0;
  for (int shape = 0; shape < TD_N_SHAPES; shape++)
    worst = TD_MAX(worst, layout_ms((td_graph_shape)shape, n));
  return worst;
}

void
td_bench_layout_1000(td_measured *measured) {
  measured->value = worst_ms(td_bench_size(1000, 50));
}

void
td_bench_layout_10000(td_measured *measured) {
  measured->value = worst_ms(td_bench_size(10000, 500));
}

void
td_bench_layout_100000(td_measured *measured) {
  measured->value = worst_ms(td_bench_size(100000, 5000));
}

char *
td_bench_scale_layout(uint32_t n, double *value) {
  *value = worst_ms(n);
  return NULL;
}
