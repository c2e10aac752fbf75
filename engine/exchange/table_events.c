/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/table_events.h"

#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "engine/profile/why/describe.h"

struct td_table_events {
  td_tape *tape;
  const td_row_sink *sink; /* (borrowed) */
  FILE *fields;            /* (owned) writes into `bytes` */
  char *bytes;             /* (owned) */
  size_t n_bytes;
};

td_table_events *
td_table_events_new(td_tape *tape, const td_row_sink *sink) {
  td_table_events *self = TD_NEW(td_table_events);
  self->tape = tape;
  self->sink = sink;
  self->fields = open_memstream(&self->bytes, &self->n_bytes);
  if (!self->fields) td_out_of_memory();
  return self;
}

void
td_table_events_free(td_table_events *self) {
  fclose(self->fields);
  free(self->bytes);
  free(self);
}

static void
print_text(const td_table_events *self, uint32_t string, td_json *json) {
  td_cell cell = td_cell_text(td_tape_string(self->tape, string));
  char *text = cell.type ? td_format("%.*s", (int)cell.length, cell.text) : NULL;
  td_json_take(json, text);
}

static const char *
fields_of(td_table_events *self, const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  td_json json;
  rewind(self->fields);
  td_json_init(&json, self->fields);
  td_json_begin_object(&json);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    const td_field *field = &type->fields[i];
    uint64_t value = td_event_field_get(event, field);
    if (field->type == TD_FIELD_STACK) continue;
    td_json_key(&json, field->name);
    if (field->form == TD_FORM_text)
      print_text(self, (uint32_t)value, &json);
    else
      td_tape_print_field(self->tape, field, value, &json);
  }
  td_json_end_object(&json);
  fputc('\0', self->fields);
  fflush(self->fields);
  return self->bytes;
}

/* The first field of that space. */
static td_cell
id_of(const td_event *event, td_id_space space) {
  const td_event_type *type = td_event_type_get(event->kind);
  for (uint16_t i = 0; i < type->n_fields; i++)
    if (type->fields[i].space == space)
      return td_cell_id((uint32_t)td_event_field_get(event, &type->fields[i]));
  return (td_cell){0};
}

static void
give_event(td_table_events *self, uint64_t seq, const td_event *event) {
  TD_ROW(self->sink, events, .seq = td_cell_u64(seq), .ns = td_cell_u64(event->time),
         .thread = td_cell_int(event->thread),
         .event = td_cell_text(td_event_type_get(event->kind)->name),
         .node = id_of(event, TD_ID_NODE), .graph_task = id_of(event, TD_ID_GRAPH_TASK),
         .fields = td_cell_whole(fields_of(self, event)));
}

static void
give_problem(td_table_events *self, const td_catalog *catalog, uint64_t seq,
             const td_any_event *any) {
  char *says = td_why_describe(catalog, self->tape, any);
  TD_ROW(self->sink, problems, .seq = td_cell_u64(seq), .ns = td_cell_u64(any->event.time),
         .thread = td_cell_int(any->event.thread),
         .event = td_cell_text(td_event_type_get(any->event.kind)->name),
         .node = td_cell_id(td_why_node_of(any)), .says = td_cell_text(says));
  free(says);
}

static void
give_gradient(td_table_events *self, uint64_t seq, const td_event_buffer_add *add) {
  TD_ROW(self->sink, gradients, .seq = td_cell_u64(seq), .ns = td_cell_u64(add->event.time),
         .thread = td_cell_int(add->event.thread), .graph_task = td_cell_id(add->graph_task),
         .from_node = td_cell_id(add->from), .to_node = td_cell_id(add->node),
         .input_nr = td_cell_int(add->input_nr),
         .mode = td_cell_text(td_enum_word(TD_FIELD_ENUM_accumulation, add->mode)),
         .bytes = td_cell_int(add->bytes));
}

static void
give_saved(td_table_events *self, uint64_t seq, const td_event_saved_tensor *saved) {
  TD_ROW(self->sink, saved_tensors, .seq = td_cell_u64(seq), .node = td_cell_id(saved->node),
         .number = td_cell_int(saved->number), .counter = td_cell_int(saved->counter),
         .version = td_cell_int(saved->version), .is_output = td_cell_bool(saved->is_output),
         .bytes = td_cell_int(saved->bytes));
}

static void
give_kernel(td_table_events *self, const td_catalog *catalog, uint64_t seq,
            const td_event_kernel *kernel) {
  TD_ROW(self->sink, kernels, .seq = td_cell_u64(seq), .launch_ns = td_cell_u64(kernel->event.time),
         .device = td_cell_text(td_catalog_device_name(catalog, kernel->device)),
         .stream = td_cell_int(kernel->stream), .node = td_cell_id(kernel->node),
         .name = td_cell_text(td_tape_string(self->tape, kernel->name)),
         .bytes = td_cell_u64(kernel->bytes), .queued_ns = td_cell_u64(kernel->queued),
         .took_ns = td_cell_u64(kernel->took));
}

static void
give_size(td_table_events *self, uint64_t seq, const td_event *event) {
  const td_event_type *type = td_event_type_get(event->kind);
  TD_ROW(self->sink, queue_sizes, .seq = td_cell_u64(seq), .ns = td_cell_u64(event->time),
         .queue = td_cell_id(td_event_u32(event, type->sample.queue)),
         .size = td_cell_int(td_event_u32(event, type->sample.size)));
}

static void
give_mark(td_table_events *self, uint64_t seq, const td_event_mark *mark) {
  TD_ROW(self->sink, marks, .seq = td_cell_u64(seq), .ns = td_cell_u64(mark->event.time),
         .thread = td_cell_int(mark->event.thread),
         .text = td_cell_text(td_tape_string(self->tape, mark->text)));
}

static void
give_step(td_table_events *self, uint64_t seq, const td_event_step *step) {
  TD_ROW(self->sink, steps, .seq = td_cell_u64(seq), .ns = td_cell_u64(step->event.time),
         .thread = td_cell_int(step->event.thread), .iteration = td_cell_int(step->iteration));
}

void
td_table_events_take(td_table_events *self, const td_catalog *catalog, uint64_t seq,
                     const td_any_event *any) {
  const td_event_type *type = td_event_type_get(any->event.kind);
  give_event(self, seq, &any->event);
  if (type->lane == TD_LANE_queue) give_size(self, seq, &any->event);
  if (type->list.list == TD_LIST_problems) give_problem(self, catalog, seq, any);
  switch (any->event.kind) {
  case TD_EVENT_buffer_add:
    return give_gradient(self, seq, &any->buffer_add);
  case TD_EVENT_saved_tensor:
    return give_saved(self, seq, &any->saved_tensor);
  case TD_EVENT_kernel:
    return give_kernel(self, catalog, seq, &any->kernel);
  case TD_EVENT_mark:
    return give_mark(self, seq, &any->mark);
  case TD_EVENT_step:
    return give_step(self, seq, &any->step);
  default:
    return;
  }
}
