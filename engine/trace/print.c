/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/json.h"
#include "engine/trace/tape.h"

static void
print_word(td_json *json, td_field_type type, uint64_t value) {
  const char *word = td_enum_word(type, value);
  if (word)
    td_json_string(json, word);
  else
    td_json_u64(json, value);
}

void
td_tape_print_field(const td_tape *tape, const td_field *field, uint64_t value, td_json *json) {
  switch (field->form) {
  case TD_FORM_unsigned:
    td_json_u64(json, value);
    break;
  case TD_FORM_signed:
    td_json_i64(json, (int64_t)value);
    break;
  case TD_FORM_real:
    td_json_double(json, td_event_double(value));
    break;
  case TD_FORM_yes_no:
    td_json_bool(json, value != 0);
    break;
  case TD_FORM_id:
    td_json_id(json, (uint32_t)value);
    break;
  case TD_FORM_text:
    td_json_string(json, value ? td_tape_string(tape, (uint32_t)value) : NULL);
    break;
  case TD_FORM_word:
    print_word(json, field->type, value);
  }
}

void
td_tape_print_json(td_tape *tape, uint64_t seq, const td_any_event *event, td_json *json) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  td_json_begin_object(json);
  td_json_key(json, "seq");
  td_json_u64(json, seq);
  td_json_key(json, "t");
  td_json_u64(json, event->event.time);
  td_json_key(json, "thread");
  td_json_u64(json, event->event.thread);
  td_json_key(json, "event");
  td_json_string(json, type->name);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    const td_field *field = &type->fields[i];
    td_json_key(json, field->name);
    td_tape_print_field(tape, field, td_event_field_get(&event->event, field), json);
  }
  if (event->event.kind == TD_EVENT_string) {
    td_json_key(json, "text");
    td_json_string(json, td_tape_string(tape, event->string.id));
  }
  if (td_tape_info_get(tape)->known[event->event.kind] == TD_knowledge_reconstructed) {
    td_json_key(json, "known");
    td_json_string(json, "reconstructed");
  }
  td_json_end_object(json);
}
