/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/derive/derivation.h"

#include "engine/base/alloc.h"

#include <string.h>

/* Not before any event that was written, and at the same time only on a later thread. */
static uint64_t
next_time(td_derivation *self, uint64_t time, uint32_t thread) {
  if (time <= self->time) time = self->time + (thread < self->thread);
  self->time = time;
  self->thread = thread;
  return time;
}

void
td_derived_copy(td_derivation *self, const td_event *event) {
  uint64_t time = next_time(self, event->time, event->thread);
  if (time == event->time) return td_maker_copy(self->maker, event);
  td_event *copy = td_alloc(event->size, 1);
  memcpy(copy, event, event->size);
  copy->time = time;
  td_maker_copy(self->maker, copy);
  free(copy);
}

void
td_derived_put(td_derivation *self, uint32_t thread, td_any_event event) {
  event.event.thread = thread;
  event.event.time = next_time(self, self->now, thread);
  td_maker_add(self->maker, event);
  if (self->n_left) self->n_left--;
}

uint32_t
td_derived_text(td_derivation *self, uint32_t thread, const char *text) {
  size_t length = strlen(text);
  size_t size = (sizeof(td_event_string) + length + 7) & ~(size_t)7;
  td_event_string *event = td_alloc(size, 1);
  *event = (td_event_string){
      .event = {next_time(self, self->now, thread), TD_EVENT_string, (uint16_t)size, thread},
      .id = self->next_string++,
      .length = (uint32_t)length};
  memcpy(event + 1, text, length);
  td_maker_copy(self->maker, &event->event);
  uint32_t id = event->id;
  free(event);
  return id;
}
