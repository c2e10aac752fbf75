/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Hashes of bytes and of numbers, for tables in memory. The checksum of a tape's headers is the
 * hash of their bytes, so td_hash_bytes may never change. Pure functions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* td_hash_bytes continues a hash with n bytes: FNV-1a, 64 bits (Fowler, Noll, Vo). A hash begins
 * with TD_HASH_SEED. */
#define TD_HASH_SEED 0xcbf29ce484222325u

static inline uint64_t
td_hash_bytes(uint64_t hash, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ at[i]) * 0x100000001b3u;
  return hash;
}

/* td_hash_number mixes all bits of a number into each other: the finalizer of MurmurHash3 (Austin
 * Appleby). Keys in a row then do not fill places in a row. */
static inline uint64_t
td_hash_number(uint64_t number) {
  number = (number ^ number >> 33) * 0xff51afd7ed558ccdu;
  number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53u;
  return number ^ number >> 33;
}
