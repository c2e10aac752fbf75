/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/control/condition.h"

#include "engine/base/alloc.h"

#include <string.h>

static const struct {
  const char *word;
  td_condition_kind kind;
} words[] = {
    {"begin", TD_CONDITION_BEGIN},         {"nan", TD_CONDITION_NAN},
    {"nonfinite", TD_CONDITION_NONFINITE}, {"error", TD_CONDITION_ERROR},
    {"node:", TD_CONDITION_NODE},          {"op:", TD_CONDITION_OP},
};

static bool
parse_node(const char *digits, uint32_t *node) {
  size_t length = strlen(digits);
  if (length == 0 || length > 10 || strspn(digits, "0123456789") != length) return false;
  unsigned long long number = strtoull(digits, NULL, 10);
  *node = (uint32_t)number;
  return number < TD_NONE;
}

static bool
parse(const char *text, td_condition *condition) {
  for (size_t i = 0; i < TD_N_ELEMENTS(words); i++) {
    size_t length = strlen(words[i].word);
    condition->kind = words[i].kind;
    if (strcmp(text, words[i].word) == 0 && words[i].word[length - 1] != ':') return true;
    if (strncmp(text, words[i].word, length) != 0 || words[i].word[length - 1] != ':') continue;
    return condition->kind == TD_CONDITION_NODE ? parse_node(text + length, &condition->node)
                                                : text[length] != '\0';
  }
  return false;
}

td_status
td_condition_parse(const char *text, td_condition *condition, td_error *error) {
  td_condition made = {.node = TD_NONE};
  if (!parse(text, &made))
    return td_error_set(error, TD_INVALID,
                        "'%s': must be node:NUMBER, op:NAME, nan, nonfinite, error or begin", text);
  made.text = td_dup_string(text);
  *condition = made;
  return TD_OK;
}

void
td_condition_fini(td_condition *condition) {
  free(condition->text);
  condition->text = NULL;
}

bool
td_condition_holds_at(const td_condition *condition, td_event_kind event, uint32_t node,
                      const char *name) {
  if (condition->kind == TD_CONDITION_BEGIN) return event == TD_EVENT_graph_task_begin;
  if (event != TD_EVENT_node_begin) return false;
  if (condition->kind == TD_CONDITION_NODE) return condition->node == node;
  return condition->kind == TD_CONDITION_OP && name &&
         strcmp(condition->text + strlen("op:"), name) == 0;
}

bool
td_condition_holds_for(const td_condition *condition, unsigned troubles) {
  static const unsigned wanted[] = {[TD_CONDITION_NAN] = TD_TROUBLE_NAN,
                                    [TD_CONDITION_NONFINITE] = TD_TROUBLE_NAN | TD_TROUBLE_INF,
                                    [TD_CONDITION_ERROR] = TD_TROUBLE_ERROR};
  return condition->kind < TD_N_ELEMENTS(wanted) && (wanted[condition->kind] & troubles) != 0;
}
