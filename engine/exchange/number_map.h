/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A map from 64-bit keys to 64-bit values: open addressing, linear probing. Zero-initialise; any
 * key but UINT64_MAX. Belongs to one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct td_number_slot {
  uint64_t key, value;
} td_number_slot;

typedef struct td_number_map {
  td_number_slot *slots; /* (owned) a power of two of them, at most three quarters full */
  size_t n, n_slots;
} td_number_map;

/* td_number_map_find returns where the key's value is, or NULL; td_number_map_put makes room for it
 * (value 0) where it is not there. Both are valid until the next put. */
uint64_t *td_number_map_find(const td_number_map *map, uint64_t key);
uint64_t *td_number_map_put(td_number_map *map, uint64_t key);

void td_number_map_fini(td_number_map *map);
