/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/starts.h"

#include "engine/base/alloc.h"

#include <string.h>

/* A depth-first walk puts what belongs together side by side. */
static void
start_depth_first(td_levels *levels, uint32_t *fill, uint8_t *seen) {
  uint32_t *stack = NULL, n = 0, capacity = 0;
  for (uint32_t i = 0; i < levels->n_vertices; i++) {
    if (td_degree(&levels->up, i)) continue;
    TD_GROW(stack, n, capacity);
    stack[n++] = i;
    while (n) {
      uint32_t vertex = stack[--n];
      if (seen[vertex]) continue;
      seen[vertex] = 1;
      levels->order[fill[levels->level[vertex]]++] = vertex;
      for (uint32_t k = levels->down.first[vertex + 1]; k > levels->down.first[vertex]; k--) {
        TD_GROW(stack, n, capacity);
        stack[n++] = levels->down.targets[k - 1];
      }
    }
  }
  free(stack);
}

static void
start_breadth_first(td_levels *levels, const td_adjacency *ahead, const td_adjacency *behind,
                    uint32_t *fill, uint8_t *seen) {
  uint32_t *queue = TD_NEW_N(uint32_t, levels->n_vertices), n = 0;
  for (uint32_t i = 0; i < levels->n_vertices; i++) {
    if (seen[i] || td_degree(behind, i)) continue;
    seen[i] = 1;
    queue[n++] = i;
  }
  for (uint32_t at = 0; at < n; at++) {
    levels->order[fill[levels->level[queue[at]]]++] = queue[at];
    for (uint32_t k = ahead->first[queue[at]]; k < ahead->first[queue[at] + 1]; k++) {
      uint32_t next = ahead->targets[k];
      if (seen[next]) continue;
      seen[next] = 1;
      queue[n++] = next;
    }
  }
  free(queue);
}

static void
start_mirrored(td_levels *levels, const uint32_t *best) {
  for (uint32_t l = 0; l < levels->n_levels; l++) {
    uint32_t first = levels->level_first[l], last = levels->level_first[l + 1] - 1;
    for (uint32_t i = first; i <= last && first + last >= i; i++)
      levels->order[i] = best[first + last - i];
  }
}

void
td_levels_start(td_levels *levels, td_start start, const uint32_t *best) {
  uint32_t *fill = TD_NEW_N(uint32_t, levels->n_levels);
  uint8_t *seen = TD_NEW_N(uint8_t, levels->n_vertices);
  memcpy(fill, levels->level_first, levels->n_levels * sizeof *fill);
  for (uint32_t i = 0; i < levels->graph->n_nodes; i++)
    seen[i] = levels->host[i] != TD_LAYOUT_NONE;
  switch (start) {
  case TD_START_DEPTH_FIRST:
    start_depth_first(levels, fill, seen);
    break;
  case TD_START_DOWN:
    start_breadth_first(levels, &levels->down, &levels->up, fill, seen);
    break;
  case TD_START_UP:
    start_breadth_first(levels, &levels->up, &levels->down, fill, seen);
    break;
  case TD_START_MIRRORED:
    start_mirrored(levels, best);
    break;
  }
  free(fill);
  free(seen);
}
