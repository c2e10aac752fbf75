/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/event_type.h"

#include "engine/base/alloc.h"

#define TD_FIELD_TYPE(name, ctype, space, form)                                                    \
  enum { space_of_##name = TD_ID_##space, form_of_##name = TD_FORM_##form };
#include "engine/events/fields.def"
#undef TD_FIELD_TYPE
#define TD_ENUM(name, values)                                                                      \
  enum { space_of_ENUM_##name = TD_ID_NONE, form_of_ENUM_##name = TD_FORM_word };
#include "engine/events/enums.def"
#undef TD_ENUM

/* The columns as members of a td_event_type; `current` is the struct of the event. */
#define SAYS(text) text
#define SAYS_BY(chooser, text) text
#define SPAN(edge, kind, item)                                                                     \
  .span = {TD_EDGE_##edge, TD_SPAN_##kind, 0, (uint16_t)offsetof(current, item)},
#define SPAN_OF(edge, kind, detail, item)                                                          \
  .span = {TD_EDGE_##edge, TD_SPAN_##kind, (uint16_t)offsetof(current, detail),                    \
           (uint16_t)offsetof(current, item)},
#define QUEUE(change) .queue = {change, (uint16_t)offsetof(current, queue)},
#define SAMPLE(queue_name, length)                                                                 \
  .sample = {(uint16_t)offsetof(current, queue_name), (uint16_t)offsetof(current, length)},
#define FLAG(flag_name, about) .flag = {TD_FLAG_##flag_name, (uint16_t)offsetof(current, about)},
#define LIST(list_name, about) .list = {TD_LIST_##list_name, (uint16_t)offsetof(current, about)},
#define VISIT(role)                                                                                \
  .visit = {TD_VISIT_##role, (uint16_t)offsetof(current, node),                                    \
            (uint16_t)offsetof(current, graph_task)},
#define LASTS(how, item) .lasts = {TD_LASTS_##how, (uint16_t)offsetof(current, item)},
#define OUTLINE .outline = true,
#define ENDS(how, item) .ends = {TD_LASTS_##how, (uint16_t)offsetof(current, item)},
#define TD_FIELD(type, field)                                                                      \
  {#field,                                                                                         \
   TD_FIELD_##type,                                                                                \
   (td_id_space)space_of_##type,                                                                   \
   (td_form)form_of_##type,                                                                        \
   (uint16_t)offsetof(current, field),                                                             \
   (uint16_t)sizeof(td_value_##type)},
#define TD_EVENT(number, event_name, event_family, event_lane, replay, text, says, uses, columns)  \
  _Static_assert(number < TD_EVENT_LIMIT, "the greatest number stands last in events.def");        \
  static td_event_type type_of_##event_name(void) {                                                \
    typedef td_event_##event_name current;                                                         \
    static const td_field table[] = {columns};                                                     \
    _Static_assert(TD_N_ELEMENTS(table) <= TD_FIELDS_MAX, "a tape cannot hold such an event");     \
    return (td_event_type){.name = #event_name,                                                    \
                           .summary = text,                                                        \
                           .sentence = says,                                                       \
                           .fields = table,                                                        \
                           .n_fields = TD_N_ELEMENTS(table),                                       \
                           .size = sizeof(current),                                                \
                           .family = TD_FAMILY_##event_family,                                     \
                           .lane = TD_LANE_##event_lane,                                           \
                           uses};                                                                  \
  }
#include "engine/events/events.def"
#undef TD_EVENT
#undef TD_FIELD

static td_event_type types[TD_EVENT_LIMIT];

__attribute__((constructor)) static void
fill_types(void) {
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
  types[number] = type_of_##name();
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
} enums[TD_N_FIELD_TYPES] = {
#define TD_ENUM(name, values) [TD_FIELD_ENUM_##name] = {words_of_##name, TD_##name##_LIMIT},
#include "engine/events/enums.def"
#undef TD_ENUM
};

static const char *const titles[TD_N_FAMILIES] = {
#define TD_FAMILY(name, title) title,
#include "engine/events/families.def"
#undef TD_FAMILY
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

const char *
td_event_family_title(td_event_family family) {
  return titles[family];
}

uint64_t
td_event_field_get(const td_event *event, const td_field *field) {
  const char *at = (const char *)event + field->offset;
  if (field->size == 8) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  uint32_t value = td_event_u32(event, field->offset);
  return field->form == TD_FORM_signed ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Every event with a LOCKED field has the lock's kind in front of it. */
static td_id_space
space_of_lock(const td_event *event) {
  switch (((const td_event_lock_wait *)event)->lock) {
  case TD_lock_kind_queue:
    return TD_ID_QUEUE;
  case TD_lock_kind_graph_task:
    return TD_ID_GRAPH_TASK;
  case TD_lock_kind_node:
    return TD_ID_NODE;
  case TD_lock_kind_gil:
    return TD_ID_PROCESS;
  default:
    return TD_ID_NONE;
  }
}

td_id_space
td_event_id_space(const td_event *event, const td_field *field) {
  return field->space == TD_ID_LOCKED ? space_of_lock(event) : field->space;
}

bool
td_event_names(const td_event *event, td_id_space space, uint32_t id) {
  const td_event_type *type = td_event_type_get(event->kind);
  for (uint16_t i = 0; type && i < type->n_fields; i++)
    if (td_event_id_space(event, &type->fields[i]) == space &&
        (uint32_t)td_event_field_get(event, &type->fields[i]) == id)
      return true;
  return false;
}

uint32_t
td_event_graph_task(const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  for (uint16_t i = 0; type && i < type->n_fields; i++)
    if (type->fields[i].type == TD_FIELD_GRAPH_TASK)
      return (uint32_t)td_event_field_get(event, &type->fields[i]);
  return TD_NONE;
}

const char *
td_enum_word(td_field_type type, uint64_t value) {
  return value < enums[type].n ? enums[type].words[value] : NULL;
}
