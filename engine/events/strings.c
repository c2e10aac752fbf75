/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/strings.h"

#include "engine/base/alloc.h"

#include <pthread.h>
#include <string.h>

/* Open addressing over the texts; number 0 is the empty string. */
static struct {
  pthread_mutex_t mutex; /* guards all below */
  char **texts;          /* [n] (owned) */
  uint32_t n, capacity;
  uint32_t *slots; /* numbers, 0 for free; a power of two of them, at most half full */
  uint32_t n_slots;
} strings = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t
hash_text(const char *text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}

static uint32_t *
find_slot_locked(const char *text) {
  uint32_t at = (uint32_t)hash_text(text) & (strings.n_slots - 1);
  while (strings.slots[at] && strcmp(strings.texts[strings.slots[at]], text) != 0)
    at = (at + 1) & (strings.n_slots - 1);
  return &strings.slots[at];
}

static void
grow_slots_locked(void) {
  free(strings.slots);
  strings.n_slots = strings.n_slots ? strings.n_slots * 2 : 256;
  strings.slots = TD_NEW_N(uint32_t, strings.n_slots);
  for (uint32_t id = 1; id < strings.n; id++)
    *find_slot_locked(strings.texts[id]) = id;
}

static uint32_t
add_locked(const char *text) {
  TD_GROW(strings.texts, strings.n, strings.capacity);
  strings.texts[strings.n] = td_dup_string(text);
  return strings.n++;
}

uint32_t
td_strings_add_locked(const char *text, bool *is_new) {
  if (strings.n == 0) add_locked("");
  if (2 * (strings.n + 1) > strings.n_slots) grow_slots_locked();
  uint32_t *slot = find_slot_locked(text);
  *is_new = *text && !*slot;
  if (*is_new) *slot = add_locked(text);
  return *slot;
}

uint32_t
td_strings_n_locked(void) {
  return strings.n;
}

const char *
td_strings_text_locked(uint32_t id) {
  return strings.texts[id];
}

void
td_strings_lock(void) {
  pthread_mutex_lock(&strings.mutex);
}

void
td_strings_unlock(void) {
  pthread_mutex_unlock(&strings.mutex);
}
