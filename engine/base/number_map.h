/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A map from 64-bit keys to 64-bit values. Zero-initialise. One thread at a time. */
#pragma once

#include "engine/base/hash_index.h"

#include <stdint.h>

typedef struct td_number_entry {
  uint64_t key, value;
} td_number_entry;

typedef struct td_number_map {
  td_number_entry *entries; /* (owned) in the order in which the keys came */
  uint32_t n, capacity;
  td_hash_index numbers; /* by key */
} td_number_map;

/* td_number_map_find returns where the key's value is, or NULL. td_number_map_put adds a missing
 * key with the value 0. Both pointers are valid until the next put. */
uint64_t *td_number_map_find(const td_number_map *map, uint64_t key);
uint64_t *td_number_map_put(td_number_map *map, uint64_t key);

/* td_number_map_forget_zeros drops the keys whose value is 0. */
void td_number_map_forget_zeros(td_number_map *map);

void td_number_map_fini(td_number_map *map);
