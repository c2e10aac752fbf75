/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/catalog_slices.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* An array of structs and the 32-bit member that tells the node (or graph task) each belongs to. */
typedef struct keyed {
  const void *items;
  size_t size, key;
  uint32_t n;
  const td_id_rows *ids; /* (borrowed) the rows of the keys */
} keyed;

static uint32_t
key_of(const keyed *array, uint32_t i) {
  uint32_t key;
  memcpy(&key, (const char *)array->items + i * array->size + array->key, sizeof key);
  return key;
}

static uint32_t
row_of(const keyed *array, uint32_t i) {
  return td_id_rows_find(array->ids, key_of(array, i));
}

/* The items of row r lie in first[r] .. first[r + 1], once sorted. The caller frees. */
static bool
count_keys(const keyed *array, uint32_t **first) {
  uint32_t n_rows = array->ids->n;
  *first = td_try_alloc((size_t)n_rows + 2, sizeof **first);
  if (!*first) return false;
  for (uint32_t i = 0; i < array->n; i++)
    (*first)[row_of(array, i) + 1]++;
  for (uint32_t row = 0; row < n_rows; row++)
    (*first)[row + 1] += (*first)[row];
  return true;
}

/* Counting sort: order[] lists the items by key, equal keys as they stood; those of row r lie in
 * first[r] .. first[r + 1]. The caller frees both. */
static bool
order_by_key(const keyed *array, uint32_t **first, uint32_t **order) {
  uint32_t n_rows = array->ids->n;
  *first = td_try_alloc((size_t)n_rows + 2, sizeof **first);
  *order = td_try_alloc(array->n, sizeof **order);
  if (!*first || !*order) return false;
  uint32_t *next = *first + 1;
  for (uint32_t i = 0; i < array->n; i++)
    next[row_of(array, i) + 1]++;
  for (uint32_t row = 0; row < n_rows; row++)
    next[row + 1] += next[row];
  for (uint32_t i = 0; i < array->n; i++)
    (*order)[next[row_of(array, i)]++] = i;
  return true;
}

static bool
is_in_order(const keyed *array) {
  for (uint32_t i = 1; i < array->n; i++)
    if (key_of(array, i) < key_of(array, i - 1)) return false;
  return true;
}

static void *
gather(const keyed *array, const uint32_t *order) {
  char *sorted = td_try_alloc(array->n, array->size);
  for (uint32_t i = 0; sorted && i < array->n; i++)
    memcpy(sorted + i * array->size, (const char *)array->items + order[i] * array->size,
           array->size);
  return sorted;
}

/* The items by key: `items` itself where they stand so already, as those of a tape that tells
 * node by node do; else a copy, and items is freed. NULL without memory. */
static void *
sort_by_key(const keyed *array, void *items, uint32_t **first) {
  uint32_t *order = NULL;
  void *sorted = NULL;
  if (is_in_order(array)) return count_keys(array, first) ? items : NULL;
  if (order_by_key(array, first, &order)) sorted = gather(array, order);
  if (sorted) free(items);
  free(order);
  return sorted;
}

static int
compare_edges(const void *a, const void *b) {
  const td_catalog_edge *left = a, *right = b;
  return (left->output_nr > right->output_nr) - (left->output_nr < right->output_nr);
}

static int
compare_metadata(const void *a, const void *b) {
  const td_catalog_metadata *left = a, *right = b;
  return (left->input_nr > right->input_nr) - (left->input_nr < right->input_nr);
}

static void
sort_slice(void *items, uint32_t n, size_t size, int (*compare)(const void *, const void *)) {
  for (uint32_t i = 1; i < n; i++)
    if (compare((char *)items + (i - 1) * size, (char *)items + i * size) > 0) {
      qsort(items, n, size, compare);
      return;
    }
}

static bool
slice_edges(td_catalog *catalog) {
  keyed edges = {catalog->edges, sizeof(td_catalog_edge), offsetof(td_catalog_edge, from),
                 catalog->n_edges, &catalog->node_ids};
  uint32_t *first = NULL;
  if (edges.n == 0) return true;
  td_catalog_edge *sorted = sort_by_key(&edges, catalog->edges, &first);
  for (uint32_t i = 0; sorted && i < catalog->n_nodes; i++) {
    td_catalog_node *node = &catalog->node_rows[i];
    node->first_out = first[i];
    node->n_out = first[i + 1] - first[i];
    sort_slice(sorted + first[i], node->n_out, sizeof *sorted, compare_edges);
  }
  if (sorted) catalog->edges = sorted;
  free(first);
  return sorted != NULL;
}

static bool
slice_in_edges(td_catalog *catalog) {
  keyed edges = {catalog->edges, sizeof(td_catalog_edge), offsetof(td_catalog_edge, to),
                 catalog->n_edges, &catalog->node_ids};
  uint32_t *first = NULL;
  if (edges.n == 0) return (catalog->in_edges = td_try_alloc(0, sizeof *catalog->in_edges)) != NULL;
  bool made = order_by_key(&edges, &first, &catalog->in_edges);
  for (uint32_t i = 0; made && i < catalog->n_nodes; i++) {
    catalog->node_rows[i].first_in = first[i];
    catalog->node_rows[i].n_in = first[i + 1] - first[i];
  }
  free(first);
  return made;
}

static bool
slice_metadata(td_catalog *catalog) {
  keyed metadata = {catalog->metadata, sizeof(td_catalog_metadata),
                    offsetof(td_catalog_metadata, node), catalog->n_metadata, &catalog->node_ids};
  uint32_t *first = NULL;
  if (metadata.n == 0) return true;
  td_catalog_metadata *sorted = sort_by_key(&metadata, catalog->metadata, &first);
  for (uint32_t i = 0; sorted && i < catalog->n_nodes; i++) {
    td_catalog_node *node = &catalog->node_rows[i];
    node->first_metadata = first[i];
    node->n_metadata = first[i + 1] - first[i];
    sort_slice(sorted + first[i], node->n_metadata, sizeof *sorted, compare_metadata);
  }
  if (sorted) catalog->metadata = sorted;
  free(first);
  return sorted != NULL;
}

static bool
slice_runs(td_catalog *catalog, const td_catalog_run *runs) {
  keyed keys = {runs, sizeof *runs, offsetof(td_catalog_run, graph_task), catalog->n_ran,
                &catalog->graph_task_ids};
  uint32_t *first = NULL;
  bool made = order_by_key(&keys, &first, &catalog->ran);
  for (uint32_t i = 0; made && i < catalog->n_ran; i++)
    catalog->ran[i] = runs[catalog->ran[i]].node;
  for (uint32_t i = 0; made && i < catalog->n_graph_tasks; i++) {
    catalog->graph_task_rows[i].first_ran = first[i];
    catalog->graph_task_rows[i].n_ran = first[i + 1] - first[i];
  }
  free(first);
  return made;
}

static int
compare_mentions(const void *a, const void *b) {
  const td_catalog_mention *left = a, *right = b;
  if (left->node != right->node) return left->node < right->node ? -1 : 1;
  return (left->seq > right->seq) - (left->seq < right->seq);
}

static void
sort_mentions(td_catalog *catalog) {
  for (int list = TD_LIST_problems + 1; list < TD_N_LISTS; list++)
    qsort(catalog->mentions[list].items, catalog->mentions[list].n,
          sizeof *catalog->mentions[list].items, compare_mentions);
}

bool
td_catalog_slice(td_catalog *catalog, const td_catalog_run *runs) {
  sort_mentions(catalog);
  return slice_edges(catalog) && slice_in_edges(catalog) && slice_metadata(catalog) &&
         slice_runs(catalog, runs);
}
