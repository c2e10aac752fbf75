/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/encoder.h"

#include "engine/base/alloc.h"

/* Kind, time and every field at their longest; a text comes on top. */
#define RECORD_MAX ((TD_FIELDS_MAX + 2) * TD_VARINT_MAX)

void
td_encoder_init(td_encoder *encoder) {
  encoder->bytes = TD_NEW_N(unsigned char, TD_CHUNK_RAW_MAX);
  td_encoder_begin(encoder);
}

void
td_encoder_fini(td_encoder *encoder) {
  free(encoder->bytes);
}

void
td_encoder_begin(td_encoder *encoder) {
  encoder->n_bytes = 0;
  encoder->n_events = 0;
  encoder->first_ticks = encoder->last_ticks = 0;
  memset(encoder->last, 0, sizeof encoder->last);
}

void
td_encoder_continue(td_encoder *encoder, uint64_t last_ticks) {
  encoder->last_ticks = last_ticks;
}

static unsigned char *
put_text(unsigned char *at, const char *text, size_t length) {
  at = td_varint_put(at, length);
  memcpy(at, text, length);
  return at + length;
}

bool
td_encoder_add(td_encoder *encoder, const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  if (encoder->n_bytes + RECORD_MAX + event->size > TD_CHUNK_RAW_MAX) return false;
  if (encoder->n_events == 0)
    encoder->first_ticks = encoder->last_ticks = TD_MAX(event->time, encoder->last_ticks);
  unsigned char *at = encoder->bytes + encoder->n_bytes;
  at = td_varint_put(at, event->kind);
  /* A thread's clock may be read out of order by a few ticks; its events are in the order of the
   * ring. */
  uint64_t ticks = TD_MAX(event->time, encoder->last_ticks);
  at = td_varint_put(at, ticks - encoder->last_ticks);
  uint64_t *last = encoder->last[event->kind];
  for (uint16_t i = 0; i < type->n_fields; i++) {
    uint64_t value = td_event_field_get(event, &type->fields[i]);
    if (type->fields[i].type == TD_FIELD_TEXT) {
      at = put_text(at, (const char *)event + type->size, value);
    } else {
      at = td_varint_put(at, td_zigzag(value - last[i]));
      last[i] = value;
    }
  }
  encoder->last_ticks = ticks;
  encoder->n_events++;
  encoder->n_bytes = (size_t)(at - encoder->bytes);
  return true;
}

void
td_encoder_schema(td_encoder *encoder) {
  td_encoder_begin(encoder);
  unsigned char *at = encoder->bytes;
  for (uint32_t kind = 1; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    if (!type) continue;
    at = td_varint_put(at, kind);
    at = put_text(at, type->name, strlen(type->name));
    at = td_varint_put(at, type->n_fields);
    for (uint16_t i = 0; i < type->n_fields; i++) {
      const td_field *field = &type->fields[i];
      at = td_varint_put(at, field->type == TD_FIELD_TEXT ? TD_WIRE_TEXT : TD_WIRE_DELTA);
      at = put_text(at, field->name, strlen(field->name));
    }
  }
  encoder->n_bytes = (size_t)(at - encoder->bytes);
}

bool
td_encoder_has_schema(const unsigned char *bytes, size_t n_bytes) {
  td_encoder own;
  td_encoder_init(&own);
  td_encoder_schema(&own);
  bool same = own.n_bytes == n_bytes && memcmp(own.bytes, bytes, n_bytes) == 0;
  td_encoder_fini(&own);
  return same;
}
