/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/maker.h"

#include "engine/base/alloc.h"
#include "engine/trace/writer.h"

/* A chunk is written when it has this much: many threads must fit into memory. */
#define CHUNK_BYTES (128u << 10)
#define TEXT_BYTES_MAX 60000 /* a record's size has 16 bits */

typedef struct made_thread {
  td_encoder *encoder; /* (owned) NULL until the thread has an event */
  uint64_t n_written;
} made_thread;

struct td_maker {
  td_writer *writer;    /* (owned) */
  made_thread *threads; /* (owned) [n_threads] */
  uint32_t n_threads;
  char **texts; /* (owned) [n_texts]; 0 is the empty one */
  uint32_t n_texts, texts_capacity;
  uint32_t *slots; /* (owned) numbers by hash, 0 for free; a power of two, at most half full */
  uint32_t n_slots;
};

td_status
td_maker_open(const char *path, bool overwrite, uint32_t policy, uint64_t started_ns,
              td_maker **maker, td_error *error) {
  td_writer *writer;
  td_status status = td_writer_open_made(path, overwrite, policy, started_ns, &writer, error);
  if (status != TD_OK) return status;
  *maker = TD_NEW(td_maker);
  (*maker)->writer = writer;
  (*maker)->n_slots = 256;
  (*maker)->slots = TD_NEW_N(uint32_t, (*maker)->n_slots);
  (*maker)->n_texts = (*maker)->texts_capacity = 1;
  (*maker)->texts = TD_NEW_N(char *, 1);
  return TD_OK;
}

static void
write_chunk(td_maker *maker, uint32_t thread) {
  made_thread *self = &maker->threads[thread];
  if (!self->encoder || self->encoder->n_events == 0) return;
  uint64_t last_ticks = self->encoder->last_ticks;
  td_writer_events(maker->writer, self->encoder, thread, self->n_written);
  self->n_written += self->encoder->n_events;
  td_encoder_begin(self->encoder);
  td_encoder_continue(self->encoder, last_ticks);
}

static td_encoder *
encoder_of(td_maker *maker, uint32_t thread) {
  if (thread >= maker->n_threads) {
    uint32_t n = TD_MAX(thread + 1, maker->n_threads * 2);
    maker->threads = td_realloc(maker->threads, n, sizeof *maker->threads);
    memset(maker->threads + maker->n_threads, 0, (n - maker->n_threads) * sizeof *maker->threads);
    maker->n_threads = n;
  }
  made_thread *self = &maker->threads[thread];
  if (!self->encoder) {
    self->encoder = TD_NEW(td_encoder);
    td_encoder_init(self->encoder);
  }
  return self->encoder;
}

static void
add_record(td_maker *maker, const td_event *event) {
  td_encoder *encoder = encoder_of(maker, event->thread);
  if (encoder->n_bytes >= CHUNK_BYTES) write_chunk(maker, event->thread);
  td_encoder_add(encoder, event);
}

void
td_maker_add(td_maker *maker, td_any_event event) {
  event.event.size = td_event_type_get(event.event.kind)->size;
  add_record(maker, &event.event);
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint32_t *
find_slot(const td_maker *maker, const char *text, size_t length) {
  uint64_t hash = td_format_checksum(text, length);
  uint32_t at = (uint32_t)(hash ^ hash >> 32) & (maker->n_slots - 1);
  for (; maker->slots[at]; at = (at + 1) & (maker->n_slots - 1)) {
    const char *there = maker->texts[maker->slots[at]];
    if (strncmp(there, text, length) == 0 && !there[length]) break;
  }
  return &maker->slots[at];
}

static void
grow_slots(td_maker *maker) {
  free(maker->slots);
  maker->n_slots *= 2;
  maker->slots = TD_NEW_N(uint32_t, maker->n_slots);
  for (uint32_t id = 1; id < maker->n_texts; id++)
    *find_slot(maker, maker->texts[id], strlen(maker->texts[id])) = id;
}

static void
add_string(td_maker *maker, uint32_t thread, uint64_t time, uint32_t id, size_t length) {
  size_t size = (sizeof(td_event_string) + length + 7) & ~(size_t)7;
  td_event_string *event = td_alloc(size, 1);
  *event = (td_event_string){.event = {time, TD_EVENT_string, (uint16_t)size, thread},
                             .id = id,
                             .length = (uint32_t)length};
  memcpy(event + 1, maker->texts[id], length);
  add_record(maker, &event->event);
  free(event);
}

uint32_t
td_maker_intern(td_maker *maker, uint32_t thread, uint64_t time, const char *text) {
  size_t length = strnlen(text, TEXT_BYTES_MAX);
  if (length == 0) return 0;
  if (2 * (maker->n_texts + 1) > maker->n_slots) grow_slots(maker);
  uint32_t *slot = find_slot(maker, text, length);
  if (*slot) return *slot;
  TD_GROW(maker->texts, maker->n_texts, maker->texts_capacity);
  char *copy = td_alloc(length + 1, 1);
  memcpy(copy, text, length);
  maker->texts[maker->n_texts] = copy;
  *slot = maker->n_texts++;
  add_string(maker, thread, time, *slot, length);
  return *slot;
}

void
td_maker_know(td_maker *maker, td_knowledge how, const td_event_kind *kinds) {
  for (; *kinds != TD_EVENT_none; kinds++) {
    uint32_t name = td_maker_intern(maker, 0, 0, td_event_type_get(*kinds)->name);
    TD_MAKE(maker, 0, 0, known, .kind = name, .how = how);
  }
}

static void
maker_free(td_maker *maker) {
  for (uint32_t t = 0; t < maker->n_threads; t++) {
    if (maker->threads[t].encoder) td_encoder_fini(maker->threads[t].encoder);
    free(maker->threads[t].encoder);
  }
  for (uint32_t id = 1; id < maker->n_texts; id++)
    free(maker->texts[id]);
  free(maker->threads);
  free(maker->texts);
  free(maker->slots);
  free(maker);
}

td_status
td_maker_close(td_maker *maker, td_error *error) {
  for (uint32_t t = 0; t < maker->n_threads; t++)
    write_chunk(maker, t);
  td_status status = td_writer_close(maker->writer, error);
  maker_free(maker);
  return status;
}

void
td_maker_abandon(td_maker *maker) {
  td_writer_abandon(maker->writer);
  maker_free(maker);
}
