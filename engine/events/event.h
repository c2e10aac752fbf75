/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The event vocabulary as C types and tables, all generated from events.def and enums.def. Events
 * are plain structs that begin with a td_event header and hold ids, never pointers. Constant data;
 * any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* "No node", "no graph task" ... in any id field; JSON null. */
#define TD_NONE UINT32_MAX
/* The host processor in a DEVICE field; accelerators count from 0. */
#define TD_DEVICE_CPU (-1)
#define TD_DEVICE_META (-3) /* tensors without elements; no event announces it */

typedef enum td_event_kind {
  TD_EVENT_none = 0, /* padding in a ring; never on a tape */
#define TD_EVENT(number, name, summary, fields) TD_EVENT_##name = number,
#include "engine/events/events.def"
#undef TD_EVENT
  TD_EVENT_LIMIT = 112 /* one more than the greatest number */
} td_event_kind;

#define TD_VALUE(enumeration, name) TD_##enumeration##_##name,
#define TD_ENUM(name, values) typedef enum td_##name{values TD_##name##_LIMIT} td_##name;
#include "engine/events/enums.def"
#undef TD_ENUM
#undef TD_VALUE

/* What a field means; each is 4 bytes on the ring but U64, F64 and DURATION. */
typedef enum td_field_type {
  TD_FIELD_U32,
  TD_FIELD_I32,
  TD_FIELD_U64,
  TD_FIELD_BOOL,
  TD_FIELD_NODE,
  TD_FIELD_THREAD,
  TD_FIELD_QUEUE,
  TD_FIELD_GRAPH_TASK,
  TD_FIELD_DEVICE,   /* int32_t: TD_DEVICE_CPU or an accelerator's index */
  TD_FIELD_STRING,   /* number of an interned string */
  TD_FIELD_F64,      /* a double; JSON null where it is not finite */
  TD_FIELD_DURATION, /* ticks while recording, nanoseconds when read */
  TD_FIELD_TEXT,     /* length of the bytes that follow the struct (event `string` alone) */
#define TD_ENUM(name, values) TD_FIELD_ENUM_##name,
#include "engine/events/enums.def"
#undef TD_ENUM
} td_field_type;

/* The head of every event. While recording, `time` is in ticks; when read, in nanoseconds since the
 * start. */
typedef struct td_event {
  uint64_t time;
  uint16_t kind;
  uint16_t size; /* bytes of the whole record, a multiple of 8 */
  uint32_t thread;
} td_event;

#define TD_FIELD(type, name, ctype) ctype name;
#define TD_EVENT(number, name, summary, fields)                                                    \
  typedef struct td_event_##name {                                                                 \
    td_event event;                                                                                \
    fields                                                                                         \
  } td_event_##name;
#include "engine/events/events.def"
#undef TD_EVENT
#undef TD_FIELD

/* Room for any event but the text of `string`. */
typedef union td_any_event {
  td_event event;
#define TD_EVENT(number, name, summary, fields) td_event_##name name;
#include "engine/events/events.def"
#undef TD_EVENT
} td_any_event;

typedef struct td_field {
  const char *name;
  td_field_type type;
  uint16_t offset; /* in the struct */
  uint16_t size;   /* 4 or 8 */
} td_field;

typedef struct td_event_type {
  const char *name; /* NULL: no such kind */
  const char *summary;
  uint16_t size; /* of the struct */
  uint16_t n_fields;
  const td_field *fields;
} td_event_type;

/* td_event_type_get returns the table entry for a kind, or NULL for one that this build does not
 * know. */
const td_event_type *td_event_type_get(uint32_t kind);

/* td_event_kind_find returns the kind of that name, or TD_EVENT_none. */
td_event_kind td_event_kind_find(const char *name);

/* td_event_field_get returns a field's value, signed types sign-extended. The event has that field.
 */
uint64_t td_event_field_get(const td_event *event, const td_field *field);

/* td_event_double reads the value of an F64 field. */
static inline double
td_event_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* td_enum_word returns the word for a value of an enum field type, or NULL where the value is
 * unknown or the type is no enum. td_field_type_is_enum tells whether it is. */
const char *td_enum_word(td_field_type type, uint64_t value);
bool td_field_type_is_enum(td_field_type type);
