/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/describe.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/births.h"
#include "engine/profile/why/conflicts.h"
#include "engine/profile/why/value_causes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The choosers that events.def names: each returns the sentence of one event, or NULL if the
 * sentence of its kind fits. */
static const char *
choose_level(const td_any_event *event) {
  return event->probe_level.reason ? NULL : TD_N("the probe recorded at level {level}");
}

/* A task without a node only wakes or ends its thread. */
static const char *
choose_pop(const td_any_event *event) {
  return event->queue_pop.node == TD_NONE
             ? TD_N("{thread} popped a task without a node from {queue}, {size} left")
             : NULL;
}

static const char *
choose_chosen(const td_any_event *event) {
  return event->task_chosen.by == TD_chooser_schedule
             ? TD_N("the schedule chose {node} to be popped next from {queue}")
             : NULL;
}

static const char *
choose_kernel(const td_any_event *event) {
  return event->kernel.node == TD_NONE ? TD_N("{thread} put {name} on stream {stream} of {device}")
                                       : NULL;
}

static const char *
choose_anomaly(const td_any_event *event) {
  return td_birth_sentence(&event->anomaly);
}

static const char *
choose_version_conflict(const td_any_event *event) {
  return event->version_conflict.name
             ? TD_N("{node} needed the memory of {name} at version {saved}, but found it at "
                    "version {found}")
             : NULL;
}

static const char *
choose_gradient_written(const td_any_event *event) {
  return event->gradient_written.hook
             ? TD_N("hook {hook} of {node} wrote into the gradient that it was given, for which "
                    "{waiting} still waited")
             : NULL;
}

static const char *
choose_absorbed(const td_any_event *event) {
  return td_birth_absorbed_sentence(&event->absorbed);
}

/* A recording that looked for finiteness alone has no norms. */
static const char *
choose_stats(const td_any_event *event) {
  return isnan(event->tensor_stats.min)
             ? TD_N(
                   "{place} {number} of {node} had {n_elements} elements, {n_nan} NaN, {n_inf} Inf")
             : NULL;
}

/* A kernel of the forward pass runs before its node exists. */
static const char *
choose_stream_conflict(const td_any_event *event) {
  bool first = event->stream_conflict.first != TD_NONE,
       second = event->stream_conflict.second != TD_NONE;
  if (first && second) return NULL;
  if (first)
    return TD_N(
        "{first} and the forward pass on stream {second_stream} touch one buffer of {device}, "
        "unordered");
  if (second)
    return TD_N(
        "the forward pass on stream {first_stream} and {second} touch one buffer of {device}, "
        "unordered");
  return TD_N("streams {first_stream} and {second_stream} of {device} touch one buffer, unordered");
}

static const char *
choose_synchronize_begin(const td_any_event *event) {
  if (event->synchronize_begin.stream < 0)
    return TD_N("{thread} began to wait for all work of {device}");
  return event->synchronize_begin.stream_event == TD_NONE
             ? NULL
             : TD_N("{thread} began to wait for event {stream_event} of stream {stream} of "
                    "{device}");
}

static const char *
choose_synchronize_end(const td_any_event *event) {
  return event->synchronize_end.stream < 0
             ? TD_N("{thread} had waited for all work of {device} for {waited} ns")
             : NULL;
}

static const char *
choose_collective(const td_any_event *event) {
  return event->collective_begin.operation
             ? NULL
             : TD_N("{thread} began to wait for a collective operation");
}

static const char *
choose_core_wait(const td_any_event *event) {
  return event->core_wait.over ? NULL
                               : TD_N("the recorder looked for waits for cores from here on");
}

/* A barrier has no tensor, and older versions have no names of groups. */
static const char *
choose_handing(const td_any_event *event) {
  const td_event_collective *handed = &event->collective;
  if (handed->dtype && handed->group) return NULL;
  if (handed->dtype)
    return TD_N("rank {rank} of {size} handed operation {number} to a process group: {operation} "
                "of {dtype}[{elements}]");
  return handed->group
             ? TD_N("rank {rank} of {size} handed operation {number} to process group {group}: "
                    "{operation}")
             : TD_N("rank {rank} of {size} handed operation {number} to a process group: "
                    "{operation}");
}

/* The GIL is not the lock of something. */
#define CHOOSE_FOR_GIL(kind, sentence)                                                             \
  static const char *choose_##kind(const td_any_event *event) {                                    \
    return event->kind.lock == TD_lock_kind_gil ? (sentence) : NULL;                               \
  }

CHOOSE_FOR_GIL(lock_wait, TD_N("{thread} began to wait for Python's GIL"))
CHOOSE_FOR_GIL(lock_acquired, TD_N("{thread} got Python's GIL after {waited} ns"))
CHOOSE_FOR_GIL(lock_released, TD_N("{thread} gave back Python's GIL"))
CHOOSE_FOR_GIL(lock_held, TD_N("{holder} had Python's GIL while {thread} waited"))

static const char *(*const choosers[TD_EVENT_LIMIT])(const td_any_event *event) = {
#define SAYS(text) NULL
#define SAYS_BY(chooser, text) choose_##chooser
#define TD_EVENT(number, name, family, lane, replay, summary, sentence, uses, fields)              \
  [number] = sentence,
#include "engine/events/events.def"
#undef TD_EVENT
};

static const char *
sentence_of(const td_any_event *event) {
  uint16_t kind = event->event.kind;
  const char *chosen = choosers[kind] ? choosers[kind](event) : NULL;
  return td_translate(chosen ? chosen : td_event_type_get(kind)->sentence);
}

typedef struct describer {
  FILE *out;
  const td_catalog *catalog;
  td_tape *tape;
  const td_event *event;
  const td_event_type *type;
  void (*name)(FILE *out, const td_catalog *catalog, uint32_t node);
  uint32_t told_node; /* the last node that was named */
} describer;

static void
write_words(FILE *out, const char *word) {
  for (; *word; word++)
    putc(*word == '_' ? ' ' : *word, out);
}

static void
write_enum(FILE *out, td_field_type type, uint64_t value) {
  const char *word = td_enum_word(type, value);
  if (type == TD_FIELD_ENUM_anomaly_kind && word)
    fputs(value == TD_anomaly_kind_inf ? "Inf" : "NaN", out);
  else if (word)
    write_words(out, word);
  else
    fprintf(out, "%" PRIu64, value);
}

/* Writes an id as the thing that it names. False for a plain number. */
static bool
write_id(describer *to, td_id_space space, uint32_t id) {
  switch (space) {
  case TD_ID_NODE:
    (id == to->told_node ? td_words_node_again : to->name)(to->out, to->catalog, id);
    to->told_node = id;
    return true;
  case TD_ID_THREAD:
    td_words_thread(to->out, to->catalog, id);
    return true;
  case TD_ID_QUEUE:
    td_words_queue(to->out, to->catalog, id);
    return true;
  case TD_ID_GRAPH_TASK:
    td_words_graph_task(to->out, to->catalog, id);
    return true;
  case TD_ID_DEVICE:
    td_words_name(to->out, td_catalog_device_name(to->catalog, (int32_t)id));
    return true;
  case TD_ID_PROCESS:
    td_words_process(to->out, to->catalog, id);
    return true;
  default:
    return false;
  }
}

static void
write_value(describer *to, const td_field *field) {
  uint64_t value = td_event_field_get(to->event, field);
  if (write_id(to, td_event_id_space(to->event, field), (uint32_t)value)) return;
  switch (field->form) {
  case TD_FORM_unsigned:
  case TD_FORM_id:
    td_words_number(to->out, value);
    break;
  case TD_FORM_signed:
    fprintf(to->out, "%" PRId64, (int64_t)value);
    break;
  case TD_FORM_real:
    fprintf(to->out, "%g", td_event_double(value));
    break;
  case TD_FORM_yes_no:
    fputs(value ? td_translate("yes") : td_translate("no"), to->out);
    break;
  case TD_FORM_text:
    td_words_text(to->out, td_tape_string(to->tape, (uint32_t)value));
    break;
  case TD_FORM_word:
    write_enum(to->out, field->type, value);
  }
}

/* Writes the value of the field named by name[0 .. length), or the event's thread. */
static void
write_named(void *data, const char *name, size_t length) {
  describer *to = data;
  for (uint16_t i = 0; i < to->type->n_fields; i++) {
    const td_field *field = &to->type->fields[i];
    if (strncmp(field->name, name, length) == 0 && field->name[length] == '\0')
      return write_value(to, field);
  }
  td_words_thread(to->out, to->catalog, to->event->thread);
}

/* Writes a sentence with the event's fields. The caller frees. */
static char *
fill_in(const td_catalog *catalog, td_tape *tape, const td_any_event *event, const char *sentence,
        void (*name)(FILE *out, const td_catalog *catalog, uint32_t node)) {
  char *text = NULL;
  size_t size;
  describer to = {open_memstream(&text, &size),         catalog, tape,   &event->event,
                  td_event_type_get(event->event.kind), name,    TD_NONE};
  if (!to.out) return td_dup_string("");
  td_sentence_expand(to.out, sentence, write_named, &to);
  fclose(to.out);
  return text;
}

char *
td_why_describe(const td_catalog *catalog, td_tape *tape, const td_any_event *event) {
  bool is_trouble = td_event_type_get(event->event.kind)->family == TD_FAMILY_trouble;
  return fill_in(catalog, tape, event, sentence_of(event),
                 is_trouble ? td_words_node_whole : td_words_node);
}

char *
td_why_describe_briefly(const td_catalog *catalog, td_tape *tape, const td_any_event *event) {
  return fill_in(catalog, tape, event, sentence_of(event), td_words_node_again);
}

/* What a kind of event means for the pass. */
static const char *const meanings[TD_EVENT_LIMIT] = {
    [TD_EVENT_string] = TD_N("Other events name this text by its number."),
    [TD_EVENT_node_new] =
        TD_N("Among the ready nodes of a pass, the one with the highest sequence_nr "
             "runs first."),
    [TD_EVENT_input_metadata] = TD_N("The engine holds each gradient to that before it is used."),
    [TD_EVENT_graph_task_begin] =
        TD_N("The engine now counts how many gradients each node waits for."),
    [TD_EVENT_dependency] = TD_N("It runs when all of them have come."),
    [TD_EVENT_outstanding] = TD_N("The pass goes on until 0."),
    [TD_EVENT_queue_wake] =
        TD_N("The task runs no node: the thread looks whether the pass is over."),
    [TD_EVENT_node_begin] = TD_N("It runs on {thread}."),
    [TD_EVENT_node_end] = TD_N("Now its gradients are handed out."),
    [TD_EVENT_release] = TD_N("If it had saved a tensor, another pass through it would fail."),
    [TD_EVENT_reentrant_enter] = TD_N("The node goes on when the inner pass is over."),
    [TD_EVENT_pool_push] = TD_N("Its caller is too deep in nested passes to run one more."),
    [TD_EVENT_lock_wait] = TD_N("Another thread holds it."),
    [TD_EVENT_collective_begin] = TD_N("It goes on when every process has taken part."),
    [TD_EVENT_stream_record] = TD_N("Who waits for this event waits for all work before it on the "
                                    "stream."),
    [TD_EVENT_stream_wait] = TD_N("Work that comes later on the stream begins after that event."),
    [TD_EVENT_synchronize_begin] =
        TD_N("It goes on when the device has done what was put there before."),
    [TD_EVENT_stream_conflict] =
        TD_N("Chance decides which of the two comes first. To order them, record an event on "
             "stream {first_stream} after its access, and let stream {second_stream} wait for that "
             "event."),
};

static bool
has_edges(const td_catalog *catalog, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return facts && facts->n_out > 0;
}

static const char *
meaning_of(const td_catalog *catalog, const td_any_event *event) {
  uint16_t kind = event->event.kind;
  if (kind == TD_EVENT_node_end && !has_edges(catalog, event->node_end.node)) return "";
  if (kind == TD_EVENT_outstanding && event->outstanding.value == 0)
    return td_translate("So the pass is over.");
  return meanings[kind] ? td_translate(meanings[kind]) : "";
}

/* What the value was comes first. */
static char *
mean_birth(const td_catalog *catalog, td_tape *tape, const td_any_event *event) {
  const char *was = td_value_cause(catalog, tape, &event->anomaly);
  const char *meaning = td_birth_meaning(&event->anomaly, catalog);
  char *means = fill_in(catalog, tape, event, *meaning ? td_translate(meaning) : "", td_words_node);
  if (!was) return means;
  char *text = td_said(catalog, *means ? TD_SAY_then : TD_SAY_name,
                       td_with_text(*means ? "text" : "name", td_translate(was)),
                       td_with_text("sentence", means));
  free(means);
  return text;
}

char *
td_why_mean(const td_catalog *catalog, td_tape *tape, const td_any_event *event) {
  if (event->event.kind == TD_EVENT_anomaly) return mean_birth(catalog, tape, event);
  if (event->event.kind == TD_EVENT_version_conflict)
    return td_conflict_meaning(catalog, tape, &event->version_conflict);
  return fill_in(catalog, tape, event, meaning_of(catalog, event), td_words_node);
}

char *
td_why_name_node_of(const td_catalog_node *facts) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  td_words_node_of(out, facts);
  fclose(out);
  return text;
}

static char *
name_node(const td_catalog *catalog, uint32_t node, bool with_origin) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  (with_origin ? td_words_node_whole : td_words_node)(out, catalog, node);
  fclose(out);
  return text;
}

char *
td_why_name_node(const td_catalog *catalog, uint32_t node) {
  return name_node(catalog, node, false);
}

char *
td_why_name_node_whole(const td_catalog *catalog, uint32_t node) {
  return name_node(catalog, node, true);
}

uint32_t
td_why_node_of(const td_any_event *event) {
  const td_event_type *type = td_event_type_get(event->event.kind);
  for (uint16_t i = 0; i < type->n_fields; i++)
    if (type->fields[i].type == TD_FIELD_NODE)
      return (uint32_t)td_event_field_get(&event->event, &type->fields[i]);
  return TD_NONE;
}
