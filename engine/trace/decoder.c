/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/decoder.h"

#include "engine/base/alloc.h"

#define KINDS_MAX 4096
_Static_assert(TD_EVENT_LIMIT <= KINDS_MAX, "a tape cannot hold such a kind");

/* The greatest size of a record that keeps the next one aligned: longer texts are cut. */
#define RECORD_BYTES_MAX ((size_t)UINT16_MAX & ~(size_t)7)

static const unsigned char *
skip_text(const unsigned char *at, const unsigned char *end) {
  uint64_t length;
  at = td_varint_get(at, end, &length);
  return at && length <= (size_t)(end - at) ? at + length : NULL;
}

/* The fields that the writer had and this build has too must agree on how they are written. */
static bool
fits_own_type(const td_decoder_kind *kind) {
  for (uint16_t i = 0; kind->type && i < TD_MIN(kind->n_fields, kind->type->n_fields); i++)
    if ((kind->wires[i] == TD_WIRE_TEXT) != (kind->type->fields[i].type == TD_FIELD_TEXT))
      return false;
  return true;
}

static const unsigned char *
read_kind(td_decoder *decoder, const unsigned char *at, const unsigned char *end) {
  uint64_t number, n_fields, wire;
  at = td_varint_get(at, end, &number);
  if (!at || number == 0 || number >= KINDS_MAX) return NULL;
  at = skip_text(at, end);
  if (!at || !(at = td_varint_get(at, end, &n_fields)) || n_fields > TD_FIELDS_MAX) return NULL;
  td_decoder_kind *kind = &decoder->kinds[number];
  *kind = (td_decoder_kind){.on_tape = true, .n_fields = (uint16_t)n_fields};
  kind->type = td_event_type_get((uint32_t)number);
  for (uint64_t i = 0; i < n_fields; i++) {
    at = td_varint_get(at, end, &wire);
    if (!at || wire > TD_WIRE_TEXT || !(at = skip_text(at, end))) return NULL;
    kind->wires[i] = (td_wire)wire;
  }
  return fits_own_type(kind) ? at : NULL;
}

td_status
td_decoder_init(td_decoder *decoder, const unsigned char *schema, size_t n_bytes, td_error *error) {
  decoder->kinds = TD_NEW_N(td_decoder_kind, KINDS_MAX);
  decoder->n_kinds = KINDS_MAX;
  const unsigned char *end = schema + n_bytes;
  while (schema && schema < end)
    schema = read_kind(decoder, schema, end);
  if (schema) return TD_OK;
  td_decoder_fini(decoder);
  return td_error_set(error, TD_DAMAGED, "its table of event kinds is damaged");
}

void
td_decoder_fini(td_decoder *decoder) {
  free(decoder->kinds);
  decoder->kinds = NULL;
}

/* Makes room for a record of that size at the end and returns where it begins. */
static unsigned char *
reserve_record(td_decoded *decoded, size_t size) {
  while (decoded->n_bytes + size > decoded->bytes_capacity) {
    decoded->bytes_capacity = TD_MAX(decoded->bytes_capacity * 2, (size_t)512);
    decoded->bytes = td_realloc(decoded->bytes, decoded->bytes_capacity, 1);
  }
  return decoded->bytes + decoded->n_bytes;
}

static void
store_field(const td_decoder *decoder, unsigned char *record, const td_field *field,
            uint64_t value) {
  if (field->type == TD_FIELD_DURATION) value = td_decoder_ns(decoder, value);
  if (field->size == 8)
    memcpy(record + field->offset, &value, 8);
  else
    memcpy(record + field->offset, &(uint32_t){(uint32_t)value}, 4);
}

/* A field that was added to its kind after the tape was written is 0, or names nothing. */
static void
begin_record(const td_decoder_kind *kind, unsigned char *record) {
  const td_event_type *type = kind->type;
  memset(record, 0, type->size);
  for (uint16_t i = kind->n_fields; i < type->n_fields; i++)
    if (type->fields[i].form == TD_FORM_id)
      memcpy(record + type->fields[i].offset, &(uint32_t){TD_NONE}, 4);
}

/* Reads the fields of one event into record (which may be NULL: skip), and a text behind it. */
static const unsigned char *
read_fields(const td_decoder *decoder, const td_decoder_kind *kind, uint64_t *last,
            const unsigned char *at, const unsigned char *end, td_decoded *decoded) {
  const td_event_type *type = kind->type;
  for (uint16_t i = 0; i < kind->n_fields; i++) {
    uint64_t value;
    at = td_varint_get(at, end, &value);
    if (!at) return NULL;
    if (kind->wires[i] == TD_WIRE_TEXT) {
      if (value > (size_t)(end - at)) return NULL;
      if (type && i < type->n_fields) {
        size_t length = TD_MIN(value, RECORD_BYTES_MAX - type->size);
        size_t size = (type->size + length + 7) & ~(size_t)7;
        unsigned char *record = reserve_record(decoded, size);
        store_field(decoder, record, &type->fields[i], length);
        memcpy(record + type->size, at, length);
        memset(record + type->size + length, 0, size - type->size - length);
        ((td_event *)(void *)record)->size = (uint16_t)size;
      }
      at += value;
      continue;
    }
    last[i] += td_unzigzag(value);
    if (type && i < type->n_fields)
      store_field(decoder, decoded->bytes + decoded->n_bytes, &type->fields[i], last[i]);
  }
  return at;
}

static td_status
damaged(const td_chunk_header *header, td_error *error) {
  return td_error_set(error, TD_DAMAGED, "a chunk of thread %u is damaged", header->thread);
}

td_status
td_decoder_run(const td_decoder *decoder, const td_chunk_header *header, const unsigned char *raw,
               td_decoded *decoded, td_error *error) {
  const unsigned char *at = raw, *end = raw + header->raw_bytes;
  uint64_t last[TD_EVENT_LIMIT + 1][TD_FIELDS_MAX] = {0};
  decoded->n_events = decoded->n_unknown = 0;
  decoded->n_bytes = 0;
  decoded->longest = 0;
  uint64_t ticks = header->first_ticks;
  for (uint32_t i = 0; i < header->n_events; i++) {
    uint64_t number, delta;
    if (!(at = td_varint_get(at, end, &number)) || !(at = td_varint_get(at, end, &delta)) ||
        number >= decoder->n_kinds || !decoder->kinds[number].on_tape ||
        __builtin_add_overflow(ticks, delta, &ticks))
      return damaged(header, error);
    const td_decoder_kind *kind = &decoder->kinds[number];
    if (kind->type) begin_record(kind, reserve_record(decoded, kind->type->size));
    at = read_fields(decoder, kind, last[kind->type ? number : TD_EVENT_LIMIT], at, end, decoded);
    if (!at) return damaged(header, error);
    if (!kind->type) {
      decoded->n_unknown++;
      continue;
    }
    td_event *event = (void *)(decoded->bytes + decoded->n_bytes);
    if (event->size == 0) event->size = kind->type->size;
    uint64_t since = ticks > decoder->start_ticks ? ticks - decoder->start_ticks : 0;
    event->time = td_decoder_ns(decoder, since);
    event->kind = (uint16_t)number;
    event->thread = header->thread;
    TD_GROW(decoded->offsets, decoded->n_events, decoded->offsets_capacity);
    decoded->offsets[decoded->n_events++] = (uint32_t)decoded->n_bytes;
    decoded->n_bytes += event->size;
    decoded->longest = TD_MAX(decoded->longest, event->size);
  }
  return at == end && ticks == header->last_ticks ? TD_OK : damaged(header, error);
}

void
td_decoded_fini(td_decoded *decoded) {
  free(decoded->bytes);
  free(decoded->offsets);
  *decoded = (td_decoded){0};
}
