/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Room for the tables of a catalog that grow event by event. */
#include "engine/base/alloc.h"
#include "engine/replay/catalog_builder.h"

#include <stdlib.h>

void *
td_catalog_grow(td_catalog_builder *builder, void *table, uint32_t n, uint32_t *room, size_t size) {
  if (n < *room) return table;
  uint32_t more = (uint32_t)TD_MIN(2 * (uint64_t)TD_MAX(n, 8), UINT32_MAX);
  void *larger = n < more ? realloc(table, (size_t)more * size) : NULL;
  if (larger) *room = more;
  builder->out_of_memory |= !larger;
  return larger;
}

/* How many events of a kind the catalog takes, at most. */
static uint64_t
count_wished(const td_catalog_builder *builder, uint32_t kind) {
  const bool *kinds = builder->kinds;
  return !kinds || kinds[kind] ? td_tape_info_get(builder->tape)->n_by_kind[kind] : 0;
}

/* Of a whole tape, it is known how many events of a kind come. */
static void *
first_room(td_catalog_builder *builder, uint64_t n, uint32_t *room, size_t size) {
  bool is_whole = builder->segment->number == TD_SEGMENT_WHOLE;
  *room = (uint32_t)TD_MIN(is_whole ? n : 0, UINT32_MAX);
  void *table = td_try_alloc(*room, size);
  builder->out_of_memory |= !table;
  return table;
}

static void
reserve_mentions(td_catalog_builder *builder) {
  uint64_t n[TD_N_LISTS] = {0}, n_wished;
  for (uint32_t kind = 1; kind < TD_EVENT_LIMIT; kind++)
    if ((n_wished = count_wished(builder, kind))) n[td_event_type_get(kind)->list.list] += n_wished;
  for (int list = TD_LIST_none + 1; list < TD_N_LISTS; list++) {
    td_catalog_mentions *mentions = &builder->catalog->mentions[list];
    mentions->items =
        first_room(builder, n[list], &builder->room.mentions[list], sizeof *mentions->items);
  }
}

void
td_catalog_reserve(td_catalog_builder *builder) {
  td_catalog *catalog = builder->catalog;
  td_catalog_room *room = &builder->room;
#define RESERVE(table, room_of, kind)                                                              \
  (table) =                                                                                        \
      first_room(builder, count_wished(builder, TD_EVENT_##kind), &room->room_of, sizeof *(table))
  RESERVE(catalog->edges, edges, edge_new);
  RESERVE(catalog->metadata, metadata, input_metadata);
  RESERVE(builder->runs, runs, node_begin);
  RESERVE(catalog->steps, steps, step);
  RESERVE(catalog->settings, settings, setting);
  RESERVE(catalog->streams, streams, stream_new);
  RESERVE(catalog->left_out, left_out, left_out);
#undef RESERVE
  reserve_mentions(builder);
}
