/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/lesson/lesson_claims.h"

#include "engine/profile/quiz/question_ask.h"
#include "engine/profile/why/describe.h"
#include "ui/model/lesson/lesson_nodes.h"

#include <string.h>

/* A claim in pieces: "count MulBackward0/1 = 2". */
typedef struct claim {
  td_replay *replay;
  const td_catalog *catalog;
  const char *text; /* (borrowed) */
  char *about;      /* (owned) between the verb and "=" */
  char *value;      /* (owned) behind "=", or NULL */
  uint32_t node;    /* that `about` names, for the verbs that take one */
} claim;

static gboolean is_false(const claim *self, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static gboolean
is_false(const claim *self, GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *why = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
              "the claim '%s' is false: %s", self->text, why);
  return FALSE;
}

static gboolean
compare(const claim *self, const char *actual, GError **error) {
  return (self->value && strcmp(self->value, actual) == 0) ||
         is_false(self, error, "it is %s", actual);
}

static gboolean
ask(const claim *self, td_question_kind kind, td_question *question, GError **error) {
  const td_question_wish wish = {kind, self->node};
  td_error problem = {0};
  if (td_question_ask(self->replay, &wish, question, &problem) == TD_OK) return TRUE;
  is_false(self, error, "%s", td_error_text(&problem));
  td_error_clear(&problem);
  return FALSE;
}

/* ---- events ---- */

typedef struct look {
  const td_catalog *catalog;
  td_event_kind kind;
  const char *node; /* or NULL: any */
} look;

static bool
matches(const td_any_event *event, void *data) {
  const look *look = data;
  return event->event.kind == look->kind &&
         (!look->node || td_lesson_fits(look->catalog, td_why_node_of(event), look->node));
}

/* The first one in [from, end), or TD_NO_CAUSE. */
static uint64_t
find(const claim *self, uint64_t from, uint64_t end, const look *look) {
  td_any_event event;
  for (uint64_t seq = from; seq < end; seq++)
    if (td_replay_event(self->replay, seq, &event, NULL) == TD_OK && matches(&event, (void *)look))
      return seq;
  return TD_NO_CAUSE;
}

/* The last one before `end`, or TD_NO_CAUSE. */
static uint64_t
find_back(const claim *self, uint64_t end, const look *look) {
  td_any_event event;
  for (uint64_t seq = end; seq-- > td_replay_first(self->replay);)
    if (td_replay_event(self->replay, seq, &event, NULL) == TD_OK && matches(&event, (void *)look))
      return seq;
  return TD_NO_CAUSE;
}

static gboolean
read_look(const claim *self, look *look, GError **error) {
  const char *node = strchr(self->about, ' ');
  g_autofree char *name = g_strndup(self->about, strcspn(self->about, " "));
  *look = (struct look){self->catalog, td_event_kind_find(name), node ? node + 1 : NULL};
  if (!look->kind) return is_false(self, error, "no event is called '%s'", name);
  return !look->node || td_lesson_has_node(self->catalog, look->node) ||
         is_false(self, error, "no node is '%s'", look->node);
}

static gboolean
check_earlier(claim *self, GError **error) {
  look look;
  return read_look(self, &look, error) &&
         (find(self, td_replay_first(self->replay), td_replay_position(self->replay), &look) !=
              TD_NO_CAUSE ||
          is_false(self, error, "none is there"));
}

static gboolean
check_later(claim *self, GError **error) {
  look look;
  return read_look(self, &look, error) &&
         (find(self, td_replay_position(self->replay), td_replay_end(self->replay), &look) !=
              TD_NO_CAUSE ||
          is_false(self, error, "none comes"));
}

static gboolean
check_never(claim *self, GError **error) {
  look look;
  if (!read_look(self, &look, error)) return FALSE;
  uint64_t seq = find(self, td_replay_first(self->replay), td_replay_end(self->replay), &look);
  return seq == TD_NO_CAUSE || is_false(self, error, "event %" G_GUINT64_FORMAT " is one", seq);
}

/* ---- fields of events ---- */

static const td_field *
find_field(td_event_kind kind, const char *name) {
  const td_event_type *type = td_event_type_get(kind);
  for (uint16_t i = 0; i < type->n_fields; i++)
    if (strcmp(type->fields[i].name, name) == 0) return &type->fields[i];
  return NULL;
}

static char *
dup_form(const claim *self, const td_field *field, uint64_t value) {
  const char *word = field->form == TD_FORM_word ? td_enum_word(field->type, value) : NULL;
  if (word) return g_strdup(word);
  if (field->form == TD_FORM_real) return g_strdup_printf("%.9g", td_event_double(value));
  if (field->form == TD_FORM_yes_no) return g_strdup(value ? "yes" : "no");
  if (field->form == TD_FORM_text)
    return g_strdup(td_tape_string(td_replay_tape(self->replay), (uint32_t)value));
  return g_strdup_printf("%" G_GINT64_FORMAT, (gint64)value);
}

/* Without a field: the thread of the event itself. */
static gboolean
compare_field(const claim *self, const td_any_event *event, const td_field *field, GError **error) {
  if (!field) return compare(self, self->catalog->threads[event->event.thread].name, error);
  uint64_t value = td_event_field_get(&event->event, field);
  g_autofree char *actual = NULL;
  if (field->space == TD_ID_NODE && self->value) {
    uint32_t wanted = td_lesson_find_node(self->catalog, self->value, error);
    if (wanted == (uint32_t)value || wanted == TD_NONE) return wanted != TD_NONE;
    actual = td_why_name_node(self->catalog, (uint32_t)value);
  } else if (field->space == TD_ID_THREAD && value < self->catalog->n_threads) {
    actual = g_strdup(self->catalog->threads[value].name);
  } else if (field->space == TD_ID_DEVICE) {
    actual = g_strdup(td_catalog_device_name(self->catalog, (int32_t)value));
  } else {
    actual = dup_form(self, field, value);
  }
  return compare(self, actual, error);
}

/* `about` is EVENT [NODE] FIELD. */
static gboolean
check_field(claim *self, bool is_next, GError **error) {
  look look;
  td_any_event event;
  uint64_t position = td_replay_position(self->replay);
  char *name = strrchr(self->about, ' ');
  if (!name) return is_false(self, error, "it names no field");
  *name++ = '\0';
  if (!read_look(self, &look, error)) return FALSE;
  const td_field *field = find_field(look.kind, name);
  if (!field && strcmp(name, "thread") != 0)
    return is_false(self, error, "the event has no field '%s'", name);
  uint64_t seq = is_next ? find(self, position, td_replay_end(self->replay), &look)
                         : find_back(self, position, &look);
  if (seq == TD_NO_CAUSE || td_replay_event(self->replay, seq, &event, NULL) != TD_OK)
    return is_false(self, error, is_next ? "none comes" : "none is there");
  return compare_field(self, &event, field, error);
}

static gboolean
check_next(claim *self, GError **error) {
  return check_field(self, true, error);
}

static gboolean
check_last(claim *self, GError **error) {
  return check_field(self, false, error);
}

/* ---- the state ---- */

static gboolean
check_pops(claim *self, GError **error) {
  td_any_event event;
  self->node = td_lesson_find_node(self->catalog, self->about, error);
  if (self->node == TD_NONE) return FALSE;
  look look = {self->catalog, TD_EVENT_queue_pop, NULL};
  uint64_t seq = find(self, td_replay_position(self->replay), td_replay_end(self->replay), &look);
  if (seq == TD_NO_CAUSE || td_replay_event(self->replay, seq, &event, NULL) != TD_OK)
    return is_false(self, error, "no pop comes");
  g_autofree char *popped = td_why_name_node(self->catalog, event.queue_pop.node);
  return event.queue_pop.node == self->node || is_false(self, error, "it pops %s", popped);
}

static gboolean
check_count(claim *self, GError **error) {
  const td_task_now *task = td_state_task_find(td_replay_state(self->replay), self->node, TD_NONE);
  g_autofree char *count = g_strdup_printf("%u", task ? task->dependencies : 0);
  return compare(self, count, error);
}

static gboolean
check_state(claim *self, GError **error) {
  td_pair_now now = td_state_pair(td_replay_state(self->replay), self->node, TD_NONE);
  return compare(self, td_node_state_name((td_node_state)now.state), error);
}

/* The next event of a kind about the node. */
static gboolean
find_next(const claim *self, td_event_kind kind, td_any_event *event, GError **error) {
  for (uint64_t seq = td_replay_position(self->replay); seq < td_replay_end(self->replay); seq++)
    if (td_replay_event(self->replay, seq, event, NULL) == TD_OK && event->event.kind == kind &&
        td_why_node_of(event) == self->node)
      return TRUE;
  return is_false(self, error, "no such moment comes");
}

static gboolean
check_thread(claim *self, GError **error) {
  td_any_event event;
  if (!find_next(self, TD_EVENT_node_begin, &event, error)) return FALSE;
  return compare(self, self->catalog->threads[event.event.thread].name, error);
}

static gboolean
check_queue(claim *self, GError **error) {
  td_any_event event;
  if (!find_next(self, TD_EVENT_queue_push, &event, error)) return FALSE;
  if (event.queue_push.queue == TD_NONE)
    return is_false(self, error, "the tape does not know the queue");
  int32_t device = self->catalog->queues[event.queue_push.queue].device;
  return compare(self, td_catalog_device_name(self->catalog, device), error);
}

static gboolean
check_value(claim *self, GError **error) {
  td_any_event event;
  if (!find_next(self, TD_EVENT_tensor_stats, &event, error)) return FALSE;
  const td_event_tensor_stats *stats = &event.tensor_stats;
  g_autofree char *number = g_strdup_printf("%.9g", stats->min);
  if (stats->n_nan == stats->n_elements) return compare(self, "nan", error);
  if (stats->n_inf == stats->n_elements) return compare(self, "inf", error);
  if (stats->n_nan || stats->n_inf || stats->min != stats->max)
    return is_false(self, error, "its elements differ");
  return compare(self, number, error);
}

static gboolean
check_order(claim *self, GError **error) {
  td_question question;
  g_auto(GStrv) nodes = g_strsplit(self->about, ",", -1);
  if (!ask(self, TD_QUESTION_ORDER, &question, error)) return FALSE;
  for (guint i = 0; i < question.n_key; i++) {
    uint32_t wanted =
        nodes[i] ? td_lesson_find_node(self->catalog, g_strstrip(nodes[i]), error) : TD_NONE;
    if (nodes[i] && wanted == TD_NONE) return FALSE;
    g_autofree char *actual = td_why_name_node(self->catalog, (uint32_t)question.key[i]);
    if (wanted != question.key[i]) return is_false(self, error, "task %u is %s", i + 1, actual);
  }
  return g_strv_length(nodes) == question.n_key ||
         is_false(self, error, "the queue has %u tasks", question.n_key);
}

static gboolean
check_passes(claim *self, GError **error) {
  g_autofree char *n =
      g_strdup_printf("%" G_GUINT64_FORMAT, self->catalog->n_by_kind[TD_EVENT_graph_task_begin]);
  return compare(self, n, error);
}

static const struct {
  const char *verb;
  gboolean about_node;
  gboolean (*check)(claim *self, GError **error);
} verbs[] = {{"pops", FALSE, check_pops},     {"count", TRUE, check_count},
             {"state", TRUE, check_state},    {"thread", TRUE, check_thread},
             {"queue", TRUE, check_queue},    {"value", TRUE, check_value},
             {"order", FALSE, check_order},   {"earlier", FALSE, check_earlier},
             {"later", FALSE, check_later},   {"never", FALSE, check_never},
             {"passes", FALSE, check_passes}, {"next", FALSE, check_next},
             {"last", FALSE, check_last}};

static void
clear(claim *self) {
  g_free(self->about);
  g_free(self->value);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(claim, clear)

static void
read_claim(claim *self, const char *text, gsize verb) {
  const char *equals = strrchr(text, '=');
  gsize length = equals ? (gsize)(equals - text) : strlen(text);
  self->text = text;
  self->about = g_strstrip(g_strndup(text + verb, length > verb ? length - verb : 0));
  self->value = equals ? g_strstrip(g_strdup(equals + 1)) : NULL;
}

gboolean
td_lesson_claim_check(td_replay *replay, const char *text, GError **error) {
  g_auto(claim) self = {.replay = replay, .catalog = td_replay_catalog(replay), .node = TD_NONE};
  gsize verb = strcspn(text, " ");
  read_claim(&self, text, verb);
  for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
    if (strlen(verbs[i].verb) != verb || strncmp(verbs[i].verb, text, verb) != 0) continue;
    if (verbs[i].about_node) {
      self.node = td_lesson_find_node(self.catalog, self.about, error);
      if (self.node == TD_NONE) return FALSE;
    }
    return verbs[i].check(&self, error);
  }
  return is_false(&self, error, "no claim begins so");
}
