/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/keyframe_chunk.h"

#include <stdlib.h>

/* Far from what a chunk may have: a reader decodes each into memory that the one before used. Fresh
 * memory takes longer. The places before the events have room too. */
#define EVENT_BYTES_MAX (TD_CHUNK_RAW_MAX / 16)
#define PLACE_BYTES_MAX (TD_CHUNK_RAW_MAX / 32)

static void
fill(td_chunk_bytes *places, td_encoder *encoder, const td_keyframe *keyframe, size_t *at,
     size_t *at_byte) {
  uint64_t seq = 0;
  while (*at < keyframe->n && encoder->n_bytes < EVENT_BYTES_MAX && places->n < PLACE_BYTES_MAX) {
    const td_event *event = td_event_pile_get(&keyframe->events, *at_byte);
    if (!td_encoder_add(encoder, event)) break;
    td_chunk_bytes_put_varint(places, keyframe->seqs[*at] - seq);
    td_chunk_bytes_put_varint(places, event->thread);
    seq = keyframe->seqs[*at];
    *at += 1;
    *at_byte += event->size;
  }
}

bool
td_keyframe_chunk_put(td_chunk_bytes *out, const td_chunk_header *like, const td_keyframe *keyframe,
                      size_t *at, size_t *at_byte) {
  td_chunk_bytes raw = {0};
  td_encoder encoder;
  td_chunk_header header = *like;
  td_encoder_init(&encoder);
  fill(&raw, &encoder, keyframe, at, at_byte);
  td_chunk_bytes_put(&raw, encoder.bytes, encoder.n_bytes);
  header.n_events = encoder.n_events;
  header.first_ticks = encoder.first_ticks;
  header.last_ticks = encoder.last_ticks;
  bool fits = td_chunk_bytes_put_chunk(out, &header, raw.bytes, raw.n);
  td_encoder_fini(&encoder);
  td_chunk_bytes_fini(&raw);
  return fits;
}

/* Returns where the events begin, or NULL. */
static const unsigned char *
read_places(td_keyframe_events *events, const td_chunk_header *header, const unsigned char *raw) {
  const unsigned char *at = raw, *end = raw + header->raw_bytes;
  uint64_t seq = 0, step, thread;
  if (header->n_events > header->raw_bytes) return NULL;
  if (events->capacity < header->n_events) {
    events->places = td_realloc(events->places, header->n_events, sizeof *events->places);
    events->capacity = header->n_events;
  }
  for (uint32_t i = 0; i < header->n_events && at; i++) {
    at = td_varint_get(at, end, &step);
    if (at) at = td_varint_get(at, end, &thread);
    if (!at || thread >= TD_NONE || __builtin_add_overflow(seq, step, &seq)) return NULL;
    events->places[i] = (td_keyframe_place){seq, (uint32_t)thread};
  }
  return at;
}

static td_status
damaged(const td_directory_keyframe *keyframe, td_error *error) {
  return td_error_set(error, TD_DAMAGED, "a chunk of the keyframe of segment %u is damaged",
                      keyframe->segment);
}

td_status
td_keyframe_chunk_load(td_directory *directory, uint32_t i, td_keyframe_events *events,
                       td_error *error) {
  td_directory_keyframe *keyframe = &directory->keyframes[i];
  td_chunk_header header;
  td_status status = td_directory_read(directory, &keyframe->chunk, &header, error);
  if (status) return status;
  const unsigned char *at = read_places(events, &header, directory->file.raw);
  if (!at) return damaged(keyframe, error);
  td_decoder in_ns = directory->decoder;
  in_ns.start_ticks = 0;
  in_ns.ns_per_tick = UINT64_C(1) << 32;
  header.raw_bytes -= (uint32_t)(at - directory->file.raw);
  status = td_decoder_run(&in_ns, &header, at, &events->decoded, error);
  if (status) return status;
  if (events->decoded.n_unknown) return damaged(keyframe, error);
  for (uint32_t e = 0; e < events->decoded.n_events; e++) {
    uint32_t offset = events->decoded.offsets[e];
    ((td_event *)(void *)(events->decoded.bytes + offset))->thread = events->places[e].thread;
  }
  return TD_OK;
}

void
td_keyframe_events_fini(td_keyframe_events *events) {
  td_decoded_fini(&events->decoded);
  free(events->places);
  *events = (td_keyframe_events){0};
}

static td_status
visit_memory(const td_keyframe *keyframe, td_keyframe_visitor visit, void *data) {
  const uint64_t *seq = keyframe->seqs;
  td_status status = TD_OK;
  TD_PILE_EACH(&keyframe->events, event) {
    if (!status) status = visit((const void *)event, *seq++, data);
  }
  return status;
}

static td_status
visit_chunk(const td_keyframe_events *events, td_keyframe_visitor visit, void *data) {
  td_status status = TD_OK;
  for (uint32_t i = 0; i < events->decoded.n_events && !status; i++)
    status = visit((const void *)td_decoded_get(&events->decoded, i), events->places[i].seq, data);
  return status;
}

/* The chunks of one segment follow one another. Each begins to count anew. */
static bool
is_in_order(const td_keyframe_events *events, uint64_t *last, uint64_t end) {
  uint32_t n = events->decoded.n_events;
  for (uint32_t i = 0; i < n; i++) {
    if (events->places[i].seq < *last) return false;
    *last = events->places[i].seq;
  }
  return n == 0 || *last < end;
}

/* The totals of a keyframe belong to the event before its segment. */
static bool
is_of_segment(const td_keyframe_events *events, const td_segment *segment) {
  for (uint32_t i = 0; i < events->decoded.n_events; i++)
    if (td_decoded_get(&events->decoded, i)->kind == TD_EVENT_totals_now &&
        events->places[i].seq + 1 != segment->first)
      return false;
  return true;
}

td_status
td_keyframe_visit(td_directory *directory, const td_segment *segment, uint64_t end,
                  td_keyframe_visitor visit, void *data, td_error *error) {
  td_keyframe_events events = {0};
  td_status status = TD_OK;
  uint64_t last = 0;
  if (segment->keyframe) return visit_memory(segment->keyframe, visit, data);
  for (uint32_t i = 0; i < directory->n_keyframes && !status; i++) {
    if (directory->keyframes[i].segment != segment->number) continue;
    status = td_keyframe_chunk_load(directory, i, &events, error);
    if (!status && !(is_in_order(&events, &last, end) && is_of_segment(&events, segment)))
      status = damaged(&directory->keyframes[i], error);
    if (!status) status = visit_chunk(&events, visit, data);
  }
  td_keyframe_events_fini(&events);
  return status;
}
