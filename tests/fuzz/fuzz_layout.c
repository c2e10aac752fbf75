/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The layout of a graph: bytes 0 to 3 are the number of nodes, options, and which optional tables
 * there are. Then each node has a byte for its size and whether it may be a port, and each edge a
 * byte for either end. All places are finite. */
#include "tests/fuzz/target.h"
#include "ui/geometry/layered.h"

#include <math.h>
#include <stdlib.h>

enum { HEADER_BYTES = 4, NODES_MAX = 255 };

typedef struct graph {
  uint32_t from[1 << 12], to[1 << 12];
  float width[NODES_MAX], height[NODES_MAX], to_x[1 << 12];
  uint8_t port[NODES_MAX];
} graph;

static void
check(const td_layout *layout) {
  for (uint32_t i = 0; i < layout->n_nodes; i++)
    if (!isfinite(layout->x[i]) || !isfinite(layout->y[i])) abort();
  for (uint32_t i = 0; i < layout->n_edges; i++)
    if (layout->first_point[i] + 2 > layout->first_point[i + 1]) abort();
  for (uint32_t i = 0; i < layout->first_point[layout->n_edges]; i++)
    if (!isfinite(layout->points[i].x) || !isfinite(layout->points[i].y)) abort();
  if (!isfinite(layout->width) || !isfinite(layout->height)) abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  static graph graph;
  if (n < HEADER_BYTES || data[0] == 0 || n < (size_t)HEADER_BYTES + data[0]) return 0;
  uint32_t n_nodes = data[0];
  const uint8_t *ends = data + HEADER_BYTES + n_nodes;
  size_t n_edges = (n - HEADER_BYTES - n_nodes) / 2;
  if (n_edges > sizeof graph.from / sizeof *graph.from) return 0;
  for (uint32_t i = 0; i < n_nodes; i++) {
    graph.width[i] = (float)(data[HEADER_BYTES + i] & 0x3f) * 4;
    graph.height[i] = (float)(data[HEADER_BYTES + i] & 0x07) * 8;
    graph.port[i] = data[HEADER_BYTES + i] >> 7;
  }
  for (size_t i = 0; i < n_edges; i++) {
    graph.from[i] = ends[2 * i] % n_nodes;
    graph.to[i] = ends[2 * i + 1] % n_nodes;
    graph.to_x[i] = (float)(int8_t)ends[2 * i];
  }
  td_layout_options options = td_layout_defaults;
  options.effort = 1;
  options.aspect = (float)data[1] / 16;
  options.longest_span = data[2];
  td_layout *layout = td_layout_new(&(td_layout_graph){.n_nodes = n_nodes,
                                                       .n_edges = (uint32_t)n_edges,
                                                       .from = graph.from,
                                                       .to = graph.to,
                                                       .width = graph.width,
                                                       .height = graph.height,
                                                       .port = data[3] & 1 ? graph.port : NULL,
                                                       .to_x = data[3] & 2 ? graph.to_x : NULL},
                                    &options);
  check(layout);
  td_layout_free(layout);
  return 0;
}
