/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/cutter.h"

#include "engine/base/alloc.h"
#include "engine/trace/merge.h"

#include <stdlib.h>

/* The setting that says what the user wants to keep. */
#define KEEP "keep"

/* One cut, from the old events to the piece that takes their place. */
typedef struct cutting {
  td_cutter *cutter;
  const td_keeper_file *file;
  td_keyframe keyframe;
  td_event_pile stays; /* events after the cut, of chunks that have events before it */
  uint64_t cut;
  uint64_t n_lasting;
  uint32_t *n_of_thread; /* (owned) [n_threads] events in the piece */
  td_encoder encoder;
  td_keeper_piece piece;
  bool out_of_memory;
} cutting;

/* How many chunks there are up to the last one with an event before the cut. */
static size_t
count_old_chunks(const td_keeper_file *file, uint64_t cut) {
  size_t n = file->n_chunks;
  while (n > file->n_moved && file->chunks[n - 1].header.first_ticks > cut)
    n--;
  return n;
}

static void
note_thread(td_cutter *self, const td_chunk_header *header) {
  if (header->thread >= self->n_threads) {
    uint32_t n = header->thread + 1;
    self->numbers = td_realloc(self->numbers, n, sizeof *self->numbers);
    memset(self->numbers + self->n_threads, 0, (n - self->n_threads) * sizeof *self->numbers);
    self->n_threads = n;
  }
  self->numbers[header->thread] = header->first_number + header->n_events;
}

/* A directory of the first n chunks alone, for a merge. It borrows all but its threads. */
static td_directory
directory_of(td_cutter *self, const td_keeper_file *file, size_t n) {
  td_directory made = file->directory;
  for (size_t i = 0; i < n; i++)
    note_thread(self, &file->chunks[i].header);
  made.n_threads = self->n_threads;
  made.threads = TD_NEW_N(td_directory_thread, self->n_threads);
  made.damage = NULL;
  made.n_claims = 0;
  for (size_t i = 0; i < n; i++) {
    const td_keeper_chunk *chunk = &file->chunks[i];
    td_directory_thread *thread = &made.threads[chunk->header.thread];
    TD_GROW(thread->chunks, thread->n_chunks, thread->capacity);
    thread->chunks[thread->n_chunks++] = (td_directory_chunk){
        .offset = chunk->offset,
        .checksum = chunk->header.checksum,
        .content = td_tape_file_checksum(&made.file, chunk->offset, &chunk->header),
        .first_ns = chunk->header.first_ticks,
        .last_ns = chunk->header.last_ticks,
        .n_events = chunk->header.n_events,
    };
  }
  return made;
}

/* The merge may have moved the buffers of the open file. */
static void
give_back_directory(td_keeper_file *file, td_directory *made) {
  file->directory.file = made->file;
  for (uint32_t t = 0; t < made->n_threads; t++)
    free(made->threads[t].chunks);
  free(made->threads);
  free(made->damage);
}

/* Sorts the events of the first n chunks into those before the cut and those that stay. */
static td_status
sort_events(cutting *self, td_keeper_file *file, size_t n, td_error *error) {
  td_directory directory = directory_of(self->cutter, file, n);
  td_merge merge;
  td_merge_init(&merge, &directory);
  td_merge_start(&merge);
  for (const td_event *event; (event = td_merge_next(&merge));)
    if (event->time <= self->cut)
      td_keyframe_add(&self->keyframe, event, 0);
    else
      td_event_pile_add(&self->stays, event);
  td_merge_fini(&merge);
  td_status status =
      directory.damage ? td_error_set(error, TD_DAMAGED, "%s", directory.damage) : TD_OK;
  give_back_directory(file, &directory);
  td_keyframe_settle(&self->keyframe);
  return status;
}

static bool
is_text(const td_event *event, const char *text) {
  const td_event_string *string = (const void *)event;
  return event->kind == TD_EVENT_string && string->length == strlen(text) &&
         memcmp(string + 1, text, string->length) == 0;
}

/* The number of the text that says what the user wants to keep, 0 if the tape does not say. The
 * last word counts. */
static uint32_t
find_choice(const td_event_pile *events) {
  uint32_t name = 0, value = 0;
  TD_PILE_EACH(events, event) {
    const td_event_setting *setting = (const void *)event;
    if (is_text(event, KEEP)) name = ((const td_event_string *)event)->id;
    if (event->kind == TD_EVENT_setting && name && setting->name == name) value = setting->value;
  }
  return value;
}

/* The keyframe says last what is no longer there. It has one such event: the newest counts all. */
static void
tell_left_out(cutting *self) {
  const td_keyframe_counts *counts = &self->keyframe.counts;
  uint64_t n_passes = counts->n_passes + counts->n_unwanted_passes;
  uint32_t n_steps = counts->n_steps + counts->n_unwanted_steps;
  if (n_passes == 0 && n_steps == 0) return;
  td_event_left_out event = {
      .event = {.kind = TD_EVENT_left_out, .size = sizeof event, .thread = counts->thread},
      .first = counts->first_step,
      .steps = n_steps,
      .passes = (uint32_t)TD_MIN(n_passes, UINT32_MAX),
      .chosen = find_choice(&self->keyframe.events)};
  td_event_pile_add(&self->keyframe.events, &event.event);
}

static void
forget_left_out(cutting *self) {
  td_keyframe *keyframe = &self->keyframe;
  keyframe->events.n_bytes = keyframe->n_settled;
}

static void
count_events(cutting *self) {
  self->n_of_thread = TD_NEW_N(uint32_t, self->cutter->n_threads);
  TD_PILE_EACH(&self->keyframe.events, event) {
    self->n_of_thread[event->thread]++;
    self->n_lasting++;
  }
  TD_PILE_EACH(&self->stays, event) self->n_of_thread[event->thread]++;
}

static void
flush(cutting *self, uint32_t thread, bool is_moved) {
  td_encoder *encoder = &self->encoder;
  td_keeper_piece *piece = &self->piece;
  if (encoder->n_events == 0) return;
  td_chunk_header header = {.kind = TD_CHUNK_EVENTS,
                            .thread = thread,
                            .n_events = encoder->n_events,
                            .first_ticks = encoder->first_ticks,
                            .last_ticks = encoder->last_ticks,
                            .first_number =
                                self->cutter->numbers[thread] - self->n_of_thread[thread],
                            .clock_ticks = self->file->last.clock_ticks,
                            .clock_monotonic_ns = self->file->last.clock_monotonic_ns};
  uint64_t offset = piece->bytes.n;
  self->n_of_thread[thread] -= encoder->n_events;
  if (!td_chunk_bytes_put_chunk(&piece->bytes, &header, encoder->bytes, encoder->n_bytes))
    self->out_of_memory = true;
  td_encoder_begin(encoder);
  if (!is_moved) return;
  TD_GROW(piece->moved, piece->n_moved, piece->capacity);
  piece->moved[piece->n_moved++] = (td_keeper_chunk){offset, header};
}

static void
encode(cutting *self, const td_event *event, bool is_moved) {
  if (td_encoder_add(&self->encoder, event)) return;
  flush(self, event->thread, is_moved);
  td_encoder_add(&self->encoder, event);
}

/* What lasts may be hours old. Its events come right before the cut, one tick apart: in their
 * order, and so that the tape does not begin with an empty hour. The pass of a thread is over. */
static void
encode_keyframe(cutting *self, uint32_t thread, td_any_event *record) {
  uint64_t time = self->cut - self->n_lasting;
  TD_PILE_EACH(&self->keyframe.events, event) {
    time++;
    if (event->thread != thread) continue;
    memcpy(record, event, event->size);
    record->event.time = time;
    if (event->kind == TD_EVENT_thread_state) record->thread_state.graph_task = TD_NONE;
    encode(self, &record->event, false);
  }
  flush(self, thread, false);
}

static void
encode_stays(cutting *self, uint32_t thread) {
  TD_PILE_EACH(&self->stays, event) if (event->thread == thread) encode(self, event, true);
  flush(self, thread, true);
}

/* The same moment by the other clock. */
static uint64_t
monotonic_ns_of(const td_keeper_file *file, uint64_t ticks) {
  const td_tape_header *start = &file->directory.header;
  uint64_t n_ticks = file->last.clock_ticks - start->start_ticks;
  uint64_t n_ns = file->last.clock_monotonic_ns - start->start_monotonic_ns;
  double rate = n_ticks ? (double)n_ns / (double)n_ticks : 1;
  return start->start_monotonic_ns + (uint64_t)((double)(ticks - start->start_ticks) * rate);
}

static void
make_piece(cutting *self) {
  td_any_event *record = td_alloc(UINT16_MAX, 1);
  tell_left_out(self);
  count_events(self);
  td_encoder_init(&self->encoder);
  for (uint32_t t = 0; t < self->cutter->n_threads; t++)
    encode_keyframe(self, t, record);
  for (uint32_t t = 0; t < self->cutter->n_threads; t++)
    encode_stays(self, t);
  self->piece.start_ticks = self->cut - self->n_lasting;
  self->piece.start_monotonic_ns = monotonic_ns_of(self->file, self->piece.start_ticks);
  forget_left_out(self);
  td_encoder_fini(&self->encoder);
  free(record);
}

static void
cutting_fini(cutting *self) {
  td_keyframe_fini(&self->keyframe);
  td_event_pile_fini(&self->stays);
  td_chunk_bytes_fini(&self->piece.bytes);
  free(self->piece.moved);
  free(self->n_of_thread);
}

td_status
td_cutter_cut(td_cutter *cutter, td_keeper_file *file, uint64_t cut, td_error *error) {
  cutting self = {.cutter = cutter, .file = file, .cut = cut};
  size_t n = count_old_chunks(file, cut);
  self.keyframe = td_keyframe_copy(&cutter->keyframe);
  td_status status = sort_events(&self, file, n, error);
  if (!status) make_piece(&self);
  if (!status && self.out_of_memory)
    status = td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a keyframe");
  if (!status) status = td_keeper_file_replace(file, n, &self.piece, error);
  if (!status) {
    td_keyframe before = cutter->keyframe;
    cutter->keyframe = self.keyframe;
    self.keyframe = before;
  }
  cutting_fini(&self);
  return status;
}

void
td_cutter_fini(td_cutter *self) {
  td_keyframe_fini(&self->keyframe);
  free(self->numbers);
  *self = (td_cutter){0};
}
