/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is known about each kind of event: the columns of events.def as constant tables. Readers ask
 * these tables and have no lists of kinds of their own. Any thread. */
#pragma once

#include "engine/events/event.h"

#include <stdbool.h>

/* Whose number an id is. Two ids of one space name the same thing if they are equal. */
typedef enum td_id_space {
  TD_ID_NONE, /* a plain number */
  TD_ID_NODE,
  TD_ID_THREAD,
  TD_ID_QUEUE,
  TD_ID_GRAPH_TASK,
  TD_ID_DEVICE, /* accelerators; the processor has no number */
  TD_ID_STRING, /* 0 is the empty string on every tape */
  TD_ID_PROCESS,
  TD_ID_COUNTER,
  TD_ID_STREAM_EVENT,
  TD_N_ID_SPACES,
  TD_ID_LOCKED = TD_N_ID_SPACES /* depends on the event's lock: see td_event_id_space */
} td_id_space;

/* How JSON shows a value. */
typedef enum td_form {
  TD_FORM_unsigned,
  TD_FORM_signed,
  TD_FORM_real,
  TD_FORM_yes_no,
  TD_FORM_id,   /* null for TD_NONE */
  TD_FORM_text, /* the string of that number */
  TD_FORM_word  /* of enums.def */
} td_form;

typedef enum td_field_type {
#define TD_FIELD_TYPE(name, ctype, space, form) TD_FIELD_##name,
#include "engine/events/fields.def"
#undef TD_FIELD_TYPE
#define TD_ENUM(name, values) TD_FIELD_ENUM_##name,
#include "engine/events/enums.def"
#undef TD_ENUM
  TD_N_FIELD_TYPES
} td_field_type;

typedef struct td_field {
  const char *name;
  td_field_type type;
  td_id_space space;
  td_form form;
  uint16_t offset; /* in the struct */
  uint16_t size;   /* 4 or 8 */
} td_field;

typedef enum td_event_family {
#define TD_FAMILY(name, title) TD_FAMILY_##name,
#include "engine/events/families.def"
#undef TD_FAMILY
  TD_N_FAMILIES
} td_event_family;

/* Where the timeline shows an event. */
typedef enum td_event_lane {
  TD_LANE_none,
  TD_LANE_thread, /* the event's own thread */
  TD_LANE_stream, /* a device's stream; kernel_begin and kernel_end: its default stream */
  TD_LANE_queue,
  TD_LANE_flags /* over all lanes */
} td_event_lane;

typedef enum td_span_edge {
  TD_EDGE_none,
  TD_EDGE_begin,
  TD_EDGE_end,
  TD_EDGE_change /* ends one activity and begins another */
} td_span_edge;

/* What goes on during a span. Of hooks, TD_SPAN_HOOK + td_hook_kind. */
typedef enum td_span_kind {
  TD_SPAN_NODE,
  TD_SPAN_LOCK,
  TD_SPAN_KERNEL,
  TD_SPAN_ACTIVITY,
  TD_SPAN_CALLBACK,
  TD_SPAN_SYNCHRONIZE,
  TD_SPAN_COLLECTIVE,
  TD_SPAN_HOOK
} td_span_kind;

typedef enum td_event_flag {
  TD_FLAG_none,
  TD_FLAG_mark,
  TD_FLAG_step,
  TD_FLAG_problem
} td_event_flag;

/* Events that people ask for without a pass over the tape. */
typedef enum td_event_list {
  TD_LIST_none,
  TD_LIST_problems, /* anomalies, errors, warnings, conflicts, breakpoints that were hit */
  TD_LIST_stats,
  TD_LIST_saved,
  TD_LIST_hooks,
  TD_LIST_numbers, /* what was in saved tensors of nodes that made a value that is not finite */
  TD_LIST_carried, /* about the node that got such a value */
  TD_LIST_absorbed,
  TD_LIST_writes, /* about a version counter; the other lists are about nodes */
  TD_N_LISTS
} td_event_list;

/* What an event tells about a thread's visit to a node: from the pop of its task to its end. */
typedef enum td_visit_role {
  TD_VISIT_none,
  TD_VISIT_popped,
  TD_VISIT_seen, /* the thread is at the node: a tape without pops begins the visit here */
  TD_VISIT_begins,
  TD_VISIT_ends,
  TD_VISIT_value /* a number of a gradient in that visit */
} td_visit_role;

/* How long a keyframe has an event (engine/trace/keyframe.h). */
typedef enum td_event_lasts {
  TD_LASTS_no,
  TD_LASTS_always,
  TD_LASTS_node,   /* as long as that node lives */
  TD_LASTS_thread, /* as long as that thread lives */
  TD_LASTS_latest  /* until the next of its kind on its thread */
} td_event_lasts;

/* A tape cannot hold events with more fields. */
#define TD_FIELDS_MAX 16

/* Offsets lie in the event's struct; 0 stands for none. */
typedef struct td_event_type {
  const char *name; /* NULL: no such kind */
  const char *summary;
  const char *sentence; /* with fields in braces */
  const td_field *fields;
  uint16_t n_fields;
  uint16_t size; /* of the struct */
  td_event_family family;
  td_event_lane lane;
  struct {
    td_span_edge edge;
    td_span_kind kind;
    uint16_t detail, item; /* offsets: a kind within `kind`, and what the span is about */
  } span;
  struct {
    int change;     /* of the queue's length, 0 for none */
    uint16_t queue; /* offset */
  } queue;
  struct {
    uint16_t queue, size; /* offsets: the queue's length from this event on */
  } sample;
  struct {
    td_event_flag flag;
    uint16_t about; /* offset */
  } flag;
  struct {
    td_event_list list;
    uint16_t about; /* offset */
  } list;
  struct {
    td_visit_role role;
    uint16_t node, graph_task; /* offsets */
  } visit;
  struct {
    td_event_lasts how;
    uint16_t item; /* offset */
  } lasts, ends;
  bool outline; /* one of the few events that give an outline of a long tape */
} td_event_type;

/* td_event_type_get returns the table entry for a kind, or NULL for one that this build does not
 * know. */
const td_event_type *td_event_type_get(uint32_t kind);

/* td_event_kind_find returns the kind of that name, or TD_EVENT_none. */
td_event_kind td_event_kind_find(const char *name);

/* td_event_family_title returns what people call a family, in English. */
const char *td_event_family_title(td_event_family family);

/* td_event_field_get returns a field's value, signed types sign-extended. The event has that field.
 */
uint64_t td_event_field_get(const td_event *event, const td_field *field);

/* td_event_id_space returns the id space of a field's value in this event. */
td_id_space td_event_id_space(const td_event *event, const td_field *field);

/* td_event_names tells whether any field of an event is this id of a space. */
bool td_event_names(const td_event *event, td_id_space space, uint32_t id);

/* td_event_graph_task returns the first graph task that an event names, or TD_NONE. */
uint32_t td_event_graph_task(const td_event *event);

/* td_event_u32 reads the 4 bytes at an offset of the table. */
static inline uint32_t
td_event_u32(const td_event *event, uint16_t offset) {
  uint32_t value;
  memcpy(&value, (const char *)event + offset, sizeof value);
  return value;
}

/* td_enum_word returns the word for a value of an enum field type, or NULL if the value is unknown
 * or the type is no enum. */
const char *td_enum_word(td_field_type type, uint64_t value);
