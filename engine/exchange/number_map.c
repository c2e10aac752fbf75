/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/number_map.h"

#include "engine/base/alloc.h"

#define FREE UINT64_MAX

/* The finalizer of MurmurHash3 (Austin Appleby): keys are often consecutive numbers. */
static size_t
home_of(const td_number_map *map, uint64_t key) {
  key = (key ^ key >> 33) * 0xff51afd7ed558ccdu;
  key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53u;
  return (size_t)(key ^ key >> 33) & (map->n_slots - 1);
}

static td_number_slot *
find_slot(const td_number_map *map, uint64_t key) {
  size_t at = home_of(map, key);
  while (map->slots[at].key != key && map->slots[at].key != FREE)
    at = (at + 1) & (map->n_slots - 1);
  return &map->slots[at];
}

static void
grow(td_number_map *map) {
  td_number_map larger = {.n = map->n, .n_slots = map->n_slots ? map->n_slots * 2 : 64};
  larger.slots = td_realloc(NULL, larger.n_slots, sizeof *larger.slots);
  for (size_t i = 0; i < larger.n_slots; i++)
    larger.slots[i] = (td_number_slot){FREE, 0};
  for (size_t i = 0; i < map->n_slots; i++)
    if (map->slots[i].key != FREE) *find_slot(&larger, map->slots[i].key) = map->slots[i];
  free(map->slots);
  *map = larger;
}

uint64_t *
td_number_map_find(const td_number_map *map, uint64_t key) {
  if (map->n == 0) return NULL;
  td_number_slot *slot = find_slot(map, key);
  return slot->key == key ? &slot->value : NULL;
}

uint64_t *
td_number_map_put(td_number_map *map, uint64_t key) {
  if (4 * (map->n + 1) > 3 * map->n_slots) grow(map);
  td_number_slot *slot = find_slot(map, key);
  if (slot->key == FREE) {
    *slot = (td_number_slot){key, 0};
    map->n++;
  }
  return &slot->value;
}

void
td_number_map_fini(td_number_map *map) {
  free(map->slots);
  *map = (td_number_map){0};
}
