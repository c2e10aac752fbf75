/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/schema_words.h"

#include "app/print/json_members.h"
#include "app/session/attach/waits.h"
#include "engine/base/alloc.h"
#include "engine/events/event_type.h"
#include "engine/profile/answers/answers.h"
#include "engine/profile/chain/chain_steps.h"
#include "engine/profile/diff/divergence.h"
#include "engine/profile/findings/findings.h"
#include "engine/profile/model/virtual_run.h"
#include "engine/profile/order/order.h"
#include "engine/profile/quiz/question.h"
#include "engine/profile/report/idle.h"
#include "engine/profile/report/report.h"
#include "engine/replay/state.h"

#include <assert.h>
#include <string.h>

/* ---- words ---- */

/* X(name, how many): tables with a function td_<name>_name. No document has a node that is absent.
 */
#define TABLES(X)                                                                                  \
  X(life_part, TD_N_LIFE_PARTS)                                                                    \
  X(idle_part, TD_N_IDLE_PARTS)                                                                    \
  X(node_state, TD_NODE_absent)                                                                    \
  X(schedule, TD_N_SCHEDULES)                                                                      \
  X(answer_topic, TD_N_ANSWER_TOPICS)                                                              \
  X(finding_kind, TD_N_FINDING_KINDS)                                                              \
  X(question_kind, TD_N_QUESTION_KINDS)                                                            \
  X(order_cause, TD_N_ORDER_CAUSES)                                                                \
  X(align_cause, TD_N_ALIGN_CAUSES)                                                                \
  X(chain_link, TD_N_CHAIN_LINKS)                                                                  \
  X(chain_end, TD_N_CHAIN_ENDS)                                                                    \
  X(report_by, TD_N_REPORT_BYS)                                                                    \
  X(attach_wait, TD_N_ATTACH_WAITS)

#define X(name, n)                                                                                 \
  static const char *name##_word(uint32_t i) {                                                     \
    return i < n ? td_##name##_name((td_##name)i) : NULL;                                          \
  }
TABLES(X)
#undef X
#define TD_ENUM(name, values)                                                                      \
  static const char *name##_word(uint32_t i) {                                                     \
    return td_enum_word(TD_FIELD_ENUM_##name, i);                                                  \
  }
#include "engine/events/enums.def"
#undef TD_ENUM

typedef struct table {
  const char *name;
  const char *(*word)(uint32_t i); /* NULL after the last */
} table;

static const table tables[] = {
#define X(name, n) {#name, name##_word},
    TABLES(X)
#undef X
#define TD_ENUM(name, values) {#name, name##_word},
#include "engine/events/enums.def"
#undef TD_ENUM
};

static const table *
find_table(const char *name, size_t length) {
  for (size_t i = 0; i < TD_N_ELEMENTS(tables); i++)
    if (strlen(tables[i].name) == length && memcmp(tables[i].name, name, length) == 0)
      return &tables[i];
  assert(!"a schema names a table that is not there");
  return NULL;
}

static void
print_table(td_json *json, const table *table, bool may_be_null) {
  td_json_begin_array(json);
  for (uint32_t i = 0; table->word(i); i++)
    td_json_string(json, table->word(i));
  if (may_be_null) td_json_null(json);
  td_json_end_array(json);
}

/* ---- events ---- */

static void
print_types(td_json *json, const char *type, bool may_be_null) {
  td_json_key(json, "type");
  td_json_begin_array(json);
  td_json_string(json, type);
  if (may_be_null) td_json_string(json, "null");
  td_json_end_array(json);
}

/* A word that is not known is a number. */
static void
print_word_type(td_json *json, td_field_type type) {
  td_json_key(json, "anyOf");
  td_json_begin_array(json);
  td_json_begin_object(json);
  td_json_key(json, "enum");
  td_json_begin_array(json);
  for (uint32_t i = 0; td_enum_word(type, i); i++)
    td_json_string(json, td_enum_word(type, i));
  td_json_end_array(json);
  td_json_end_object(json);
  td_json_begin_object(json);
  td_member_string(json, "type", "integer");
  td_json_end_object(json);
  td_json_end_array(json);
}

static void
print_field(td_json *json, const td_field *field) {
  td_json_key(json, field->name);
  td_json_begin_object(json);
  if (field->form == TD_FORM_word)
    print_word_type(json, field->type);
  else if (field->form == TD_FORM_text)
    print_types(json, "string", true);
  else if (field->form == TD_FORM_yes_no)
    print_types(json, "boolean", false);
  else if (field->form == TD_FORM_real)
    print_types(json, "number", true);
  else
    print_types(json, "integer", field->form == TD_FORM_id);
  if (field->type == TD_FIELD_DURATION) td_member_string(json, "description", "Nanoseconds");
  td_json_end_object(json);
}

/* A `string` has its bytes behind its fields. */
static void
print_fields(td_json *json, const td_event_type *type, bool has_text) {
  td_json_key(json, "required");
  td_json_begin_array(json);
  for (uint16_t i = 0; i < type->n_fields; i++)
    td_json_string(json, type->fields[i].name);
  if (has_text) td_json_string(json, "text");
  td_json_end_array(json);
  td_json_key(json, "properties");
  td_json_begin_object(json);
  for (uint16_t i = 0; i < type->n_fields; i++)
    print_field(json, &type->fields[i]);
  if (has_text) {
    td_json_key(json, "text");
    td_json_begin_object(json);
    print_types(json, "string", false);
    td_json_end_object(json);
  }
  td_json_end_object(json);
}

static void
print_condition(td_json *json, const char *event) {
  td_json_key(json, "if");
  td_json_begin_object(json);
  td_json_key(json, "properties");
  td_json_begin_object(json);
  td_json_key(json, "event");
  td_json_begin_object(json);
  td_member_string(json, "const", event);
  td_json_end_object(json);
  td_json_end_object(json);
  td_json_end_object(json);
}

static void
print_events(td_json *json) {
  td_json_begin_array(json);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    const td_event_type *type = td_event_type_get(kind);
    if (!type) continue;
    td_json_begin_object(json);
    td_member_string(json, "description", type->summary);
    print_condition(json, type->name);
    td_json_key(json, "then");
    td_json_begin_object(json);
    print_fields(json, type, kind == TD_EVENT_string);
    td_json_end_object(json);
    td_json_end_object(json);
    putc('\n', json->file);
  }
  td_json_end_array(json);
}

void
td_schema_print_words(td_json *json, const char *name, size_t length) {
  bool may_be_null = length > 0 && name[length - 1] == '?';
  if (length == strlen("events") && memcmp(name, "events", length) == 0)
    print_events(json);
  else
    print_table(json, find_table(name, length - may_be_null), may_be_null);
}
