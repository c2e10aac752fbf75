/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/number_map.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"

static inline uint64_t
key_of(const void *map, uint32_t number) {
  return ((const td_number_map *)map)->entries[number - 1].key;
}

TD_HASH_INDEX_DEFINE(numbers, uint64_t, td_hash_number, key_of, TD_HASH_INDEX_EQUAL)

uint64_t *
td_number_map_find(const td_number_map *map, uint64_t key) {
  uint32_t number = numbers_find(&map->numbers, key, map);
  return number ? &map->entries[number - 1].value : NULL;
}

uint64_t *
td_number_map_put(td_number_map *map, uint64_t key) {
  uint32_t number = numbers_put(&map->numbers, map->n, key, map);
  if (number > map->n) {
    TD_GROW(map->entries, map->n, map->capacity);
    map->entries[map->n++] = (td_number_entry){key, 0};
  }
  return &map->entries[number - 1].value;
}

void
td_number_map_forget_zeros(td_number_map *map) {
  td_number_map kept = {0};
  for (uint32_t i = 0; i < map->n; i++)
    if (map->entries[i].value)
      *td_number_map_put(&kept, map->entries[i].key) = map->entries[i].value;
  td_number_map_fini(map);
  *map = kept;
}

void
td_number_map_fini(td_number_map *map) {
  free(map->entries);
  td_hash_index_fini(&map->numbers);
  *map = (td_number_map){0};
}
