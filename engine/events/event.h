/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Events as C structs, generated from events.def: what the emitters write and the readers read. An
 * event is a plain struct that begins with a td_event header. It holds ids, never pointers. What is
 * known about each kind stands in engine/events/event_type.h. Constant data; any thread. */
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
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
  TD_EVENT_##name = number,
#include "engine/events/events.def"
#undef TD_EVENT
  TD_EVENT_LIMIT /* one more than the greatest number, which stands last */
} td_event_kind;

#define TD_VALUE(enumeration, name) TD_##enumeration##_##name,
#define TD_ENUM(name, values) typedef enum td_##name{values TD_##name##_LIMIT} td_##name;
#include "engine/events/enums.def"
#undef TD_ENUM
#undef TD_VALUE

/* The C type of each type of field: td_value_NODE, td_value_ENUM_lock_kind ... */
#define TD_FIELD_TYPE(name, ctype, space, form) typedef ctype td_value_##name;
#include "engine/events/fields.def"
#undef TD_FIELD_TYPE
#define TD_ENUM(name, values) typedef uint32_t td_value_ENUM_##name;
#include "engine/events/enums.def"
#undef TD_ENUM

/* The head of every event. While recording, `time` is in ticks; when read, in nanoseconds since the
 * start. */
typedef struct td_event {
  uint64_t time;
  uint16_t kind;
  uint16_t size; /* bytes of the whole record, a multiple of 8 */
  uint32_t thread;
} td_event;

#define TD_FIELD(type, name) td_value_##type name;
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
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
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
  td_event_##name name;
#include "engine/events/events.def"
#undef TD_EVENT
} td_any_event;

/* td_event_double reads the value of an F64 field. */
static inline double
td_event_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
