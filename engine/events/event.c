/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/event.h"

#include "engine/base/alloc.h"

#include <string.h>

#define TD_FIELD(type, field, ctype)                                                               \
  {#field, TD_FIELD_##type, (uint16_t)offsetof(current, field), (uint16_t)sizeof(ctype)},
#define TD_EVENT(number, name, summary, fields)                                                    \
  enum { number_fits_##name = 1 / (number < TD_EVENT_LIMIT) };
#include "engine/events/events.def"
#undef TD_EVENT

/* One array of fields per event; `current` names the struct whose offsets are taken. */
#define TD_EVENT(number, name, summary, fields)                                                    \
  static const td_field *fields_of_##name(uint16_t *n) {                                           \
    typedef td_event_##name current;                                                               \
    static const td_field table[] = {fields};                                                      \
    *n = TD_N_ELEMENTS(table);                                                                     \
    return table;                                                                                  \
  }
#include "engine/events/events.def"
#undef TD_EVENT
#undef TD_FIELD

static td_event_type types[TD_EVENT_LIMIT];

__attribute__((constructor)) static void
fill_types(void) {
#define TD_EVENT(number, event_name, text, fields_)                                                \
  types[number].name = #event_name;                                                                \
  types[number].summary = text;                                                                    \
  types[number].size = sizeof(td_event_##event_name);                                              \
  types[number].fields = fields_of_##event_name(&types[number].n_fields);
#include "engine/events/events.def"
#undef TD_EVENT
}

#define TD_VALUE(enumeration, name) #name,
#define TD_ENUM(name, values) static const char *const words_of_##name[] = {values};
#include "engine/events/enums.def"
#undef TD_ENUM
#undef TD_VALUE

static const struct {
  const char *const *words;
  size_t n;
} enums[] = {
#define TD_ENUM(name, values) [TD_FIELD_ENUM_##name] = {words_of_##name, TD_##name##_LIMIT},
#include "engine/events/enums.def"
#undef TD_ENUM
};

const td_event_type *
td_event_type_get(uint32_t kind) {
  return kind < TD_EVENT_LIMIT && types[kind].name ? &types[kind] : NULL;
}

td_event_kind
td_event_kind_find(const char *name) {
  for (uint32_t kind = 1; kind < TD_EVENT_LIMIT; kind++)
    if (types[kind].name && strcmp(types[kind].name, name) == 0) return (td_event_kind)kind;
  return TD_EVENT_none;
}

uint64_t
td_event_field_get(const td_event *event, const td_field *field) {
  const char *at = (const char *)event + field->offset;
  if (field->size == 8) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  if (field->type == TD_FIELD_I32 || field->type == TD_FIELD_DEVICE) {
    int32_t value;
    memcpy(&value, at, sizeof value);
    return (uint64_t)(int64_t)value;
  }
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

bool
td_field_type_is_enum(td_field_type type) {
  return (size_t)type < TD_N_ELEMENTS(enums) && enums[type].words;
}

const char *
td_enum_word(td_field_type type, uint64_t value) {
  return td_field_type_is_enum(type) && value < enums[type].n ? enums[type].words[value] : NULL;
}
