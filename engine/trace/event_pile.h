/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Events in ring form, end to end in memory. Zero-initialise. One thread. */
#pragma once

#include "engine/base/alloc.h"
#include "engine/events/event.h"

typedef struct td_event_pile {
  unsigned char *bytes; /* (owned) */
  size_t n_bytes, capacity;
} td_event_pile;

static inline void
td_event_pile_add(td_event_pile *pile, const td_event *event) {
  if (pile->capacity - pile->n_bytes < event->size) {
    pile->capacity = 2 * pile->capacity + UINT16_MAX;
    pile->bytes = td_realloc(pile->bytes, pile->capacity, 1);
  }
  memcpy(pile->bytes + pile->n_bytes, event, event->size);
  pile->n_bytes += event->size;
}

/* td_event_pile_get returns the event that begins at a byte. The next begins `size` bytes later. */
static inline const td_event *
td_event_pile_get(const td_event_pile *pile, size_t at) {
  return (const void *)(pile->bytes + at);
}

/* TD_PILE_EACH goes through the events of a pile: `event` is each, in order. */
#define TD_PILE_EACH(pile, event)                                                                  \
  for (const td_event *event = td_event_pile_get(pile, 0),                                         \
                      *event##_end = td_event_pile_get(pile, (pile)->n_bytes);                     \
       event < event##_end; event = (const void *)((const char *)event + event->size))

static inline void
td_event_pile_fini(td_event_pile *pile) {
  free(pile->bytes);
  *pile = (td_event_pile){0};
}
