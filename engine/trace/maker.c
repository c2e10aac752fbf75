/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/maker.h"

#include "engine/base/alloc.h"
#include "engine/base/text_table.h"
#include "engine/trace/writer.h"

/* A chunk is written when it has this much: many threads must fit into memory. */
#define CHUNK_BYTES (128u << 10)
#define ENCODERS_MAX 128     /* at a time: beyond, all write what they have */
#define TEXT_BYTES_MAX 60000 /* a record's size has 16 bits */

typedef struct made_thread {
  td_encoder *encoder; /* (owned) or NULL if nothing is to be written */
  uint64_t n_written, last_ticks;
} made_thread;

struct td_maker {
  td_writer *writer;    /* (owned) */
  made_thread *threads; /* (owned) [n_threads] */
  uint32_t n_threads, n_encoders;
  td_text_table texts;
};

td_status
td_maker_open(const char *path, bool overwrite, uint32_t policy, uint64_t started_ns,
              td_maker **maker, td_error *error) {
  td_writer *writer;
  td_status status = td_writer_open_made(path, overwrite, policy, started_ns, &writer, error);
  if (status != TD_OK) return status;
  *maker = td_maker_new(writer);
  return TD_OK;
}

td_maker *
td_maker_new(td_writer *writer) {
  td_maker *maker = TD_NEW(td_maker);
  maker->writer = writer;
  return maker;
}

static void
write_chunk(td_maker *maker, uint32_t thread) {
  made_thread *self = &maker->threads[thread];
  if (!self->encoder || self->encoder->n_events == 0) return;
  self->last_ticks = self->encoder->last_ticks;
  td_writer_events(maker->writer, self->encoder, thread, self->n_written);
  self->n_written += self->encoder->n_events;
  td_encoder_begin(self->encoder);
  td_encoder_continue(self->encoder, self->last_ticks);
}

static void
free_encoders(td_maker *maker) {
  for (uint32_t t = 0; t < maker->n_threads; t++) {
    if (maker->threads[t].encoder) td_encoder_fini(maker->threads[t].encoder);
    free(maker->threads[t].encoder);
    maker->threads[t].encoder = NULL;
  }
  maker->n_encoders = 0;
}

static void
write_chunks(td_maker *maker) {
  for (uint32_t t = 0; t < maker->n_threads; t++)
    write_chunk(maker, t);
}

static void
add_encoder(td_maker *maker, made_thread *thread) {
  if (maker->n_encoders == ENCODERS_MAX) {
    write_chunks(maker);
    free_encoders(maker);
  }
  thread->encoder = TD_NEW(td_encoder);
  td_encoder_init(thread->encoder);
  td_encoder_continue(thread->encoder, thread->last_ticks);
  maker->n_encoders++;
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
  if (!self->encoder) add_encoder(maker, self);
  return self->encoder;
}

void
td_maker_copy(td_maker *maker, const td_event *event) {
  td_encoder *encoder = encoder_of(maker, event->thread);
  if (encoder->n_bytes >= CHUNK_BYTES) write_chunk(maker, event->thread);
  td_encoder_add(encoder, event);
}

void
td_maker_add(td_maker *maker, td_any_event event) {
  event.event.size = td_event_type_get(event.event.kind)->size;
  td_maker_copy(maker, &event.event);
}

static void
add_string(td_maker *maker, uint32_t thread, uint64_t time, uint32_t id) {
  const char *text = td_text_table_get(&maker->texts, id);
  size_t length = strlen(text);
  size_t size = (sizeof(td_event_string) + length + 7) & ~(size_t)7;
  td_event_string *event = td_alloc(size, 1);
  *event = (td_event_string){.event = {time, TD_EVENT_string, (uint16_t)size, thread},
                             .id = id,
                             .length = (uint32_t)length};
  memcpy(event + 1, text, length);
  td_maker_copy(maker, &event->event);
  free(event);
}

uint32_t
td_maker_intern(td_maker *maker, uint32_t thread, uint64_t time, const char *text) {
  uint32_t n_known = maker->texts.n;
  uint32_t id = td_text_table_put(&maker->texts, text, TEXT_BYTES_MAX);
  if (id > n_known) add_string(maker, thread, time, id);
  return id;
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
  free_encoders(maker);
  free(maker->threads);
  td_text_table_fini(&maker->texts);
  free(maker);
}

td_status
td_maker_cut(td_maker *maker, td_error *error) {
  write_chunks(maker);
  td_status status = td_writer_cut(maker->writer, error);
  maker_free(maker);
  return status;
}

td_status
td_maker_close(td_maker *maker, td_error *error) {
  write_chunks(maker);
  td_status status = td_writer_close(maker->writer, error);
  maker_free(maker);
  return status;
}

void
td_maker_abandon(td_maker *maker) {
  td_writer_abandon(maker->writer);
  maker_free(maker);
}
