/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/profile/births.h"
#include "engine/profile/conflicts.h"
#include "engine/profile/why.h"
#include "engine/profile/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What an event says, with its fields in braces. Kinds that are not here are told by their summary
 * and all their fields. */
static const char *const sentences[TD_EVENT_LIMIT] = {
    [TD_EVENT_string] = "string {id} gets its number",
    [TD_EVENT_session_begin] = "the recording of {source} on {engine} {version} begins",
    [TD_EVENT_session_end] = "the recording ends with status {status}",
    [TD_EVENT_dropped] = "{count} events of this thread are missing here: {cause}",
    [TD_EVENT_device_new] = "device {name} is registered",
    [TD_EVENT_node_new] = "{node} is created with sequence_nr {sequence_nr}",
    [TD_EVENT_edge_new] = "gradients will flow from {from} to {to}",
    [TD_EVENT_node_free] = "{node} is released",
    [TD_EVENT_input_metadata] = "{node} expects {dtype} {shape} on {device} as gradient {input_nr}",
    [TD_EVENT_node_sequence_nr] = "{node} gets the sequence_nr {sequence_nr}",
    [TD_EVENT_node_label] = "{node} gets the name {label}",
    [TD_EVENT_node_module] = "{node} was made in the forward pass of {module}",
    [TD_EVENT_graph_task_begin] = "{graph_task} begins at {root}, called by {owner}",
    [TD_EVENT_exec_info] = "{node} in {graph_task}: needed {needed}, captures {captures}",
    [TD_EVENT_dependency] = "dependencies of {node} in {graph_task}: {count}",
    [TD_EVENT_outstanding] = "outstanding tasks of {graph_task}: {value}",
    [TD_EVENT_graph_task_end] = "{graph_task} is over: {status}",
    [TD_EVENT_final_callback] = "final callback {owner} of {graph_task} runs",
    [TD_EVENT_queue_new] = "{queue} is created",
    [TD_EVENT_queue_push] = "{node} enters {queue}, {size} in it",
    [TD_EVENT_queue_pop] = "{node} is popped from {queue}, {size} left",
    [TD_EVENT_queue_wake] = "a dummy task enters {queue} to wake its thread",
    [TD_EVENT_queue_shutdown] = "a shutdown task enters {queue}",
    [TD_EVENT_buffer_new] = "{node} gets an input buffer",
    [TD_EVENT_buffer_add] = "a gradient from {from} arrives at {node} ({mode})",
    [TD_EVENT_buffer_ready] = "{node} has all its gradients",
    [TD_EVENT_buffer_park] = "{node} waits in not_ready",
    [TD_EVENT_dependency_dec] = "dependencies of {node} after {by}: {left} left",
    [TD_EVENT_node_begin] = "{node} begins",
    [TD_EVENT_node_end] = "{node} ends",
    [TD_EVENT_hook_begin] = "a {kind} hook of {owner} on {node} begins",
    [TD_EVENT_hook_end] = "a {kind} hook on {node} ends",
    [TD_EVENT_node_skip] = "{node} is not run: {reason}",
    [TD_EVENT_capture] = "the gradient of {node} is kept as result {output_nr}",
    [TD_EVENT_accumulate] = "the gradient of {node} is stored ({mode})",
    [TD_EVENT_thread_new] = "{id} is seen, for {device}",
    [TD_EVENT_thread_state] = "the thread is now: {state}",
    [TD_EVENT_lock_wait] = "the thread waits for the lock of {lock} {object}",
    [TD_EVENT_lock_acquired] = "the thread has got the lock of {lock} {object}",
    [TD_EVENT_lock_released] = "the thread gives back the lock of {lock} {object}",
    [TD_EVENT_thread_end] = "{id} ends",
    [TD_EVENT_reentrant_enter] =
        "{node} calls backward: {graph_task} runs inside it, depth {depth}",
    [TD_EVENT_reentrant_leave] = "{graph_task} is over and {node} goes on",
    [TD_EVENT_pool_push] = "{graph_task} goes to the thread pool",
    [TD_EVENT_pool_thread_new] = "{id} joins the thread pool",
    [TD_EVENT_pool_pop] = "a thread of the pool takes {graph_task}",
    [TD_EVENT_setting] = "{name} is {value}",
    [TD_EVENT_saved_tensor] = "{node} saves a tensor at version {version}",
    [TD_EVENT_tensor_write] = "{operation} writes into a tensor: version {version}",
    [TD_EVENT_release] = "{node} lets go of what it saved",
    [TD_EVENT_final_callback_end] = "the final callback has returned",
    [TD_EVENT_stream_new] = "stream {stream} of {device} is there",
    [TD_EVENT_stream_record] = "event {stream_event} is recorded on stream {stream} of {device}",
    [TD_EVENT_stream_wait] = "stream {stream} of {device} waits for event {stream_event}",
    [TD_EVENT_kernel] = "{device} puts {name} of {node} on stream {stream}",
    [TD_EVENT_version_conflict] =
        "{node} needs a tensor at version {saved}, but it is at version {found}",
    [TD_EVENT_warning] = "warning: {text}",
    [TD_EVENT_stream_conflict] =
        "{first} and {second} touch one buffer of {device} on two streams, unordered",
    [TD_EVENT_kernel_begin] = "{device} begins a kernel of {node}",
    [TD_EVENT_kernel_end] = "{device} ends a kernel of {node}",
    [TD_EVENT_tensor_stats] =
        "{place} {number} of {node}: {n_elements} elements, {n_nan} NaN, {n_inf} Inf, the finite "
        "ones from {min} to {max}, mean {mean}, norm {l2}",
    [TD_EVENT_unread] = "a gradient of {node} is not looked at, nor are others like it: {why}",
    [TD_EVENT_breakpoint_hit] = "stopped at {node}: {condition}",
    [TD_EVENT_error] = "{node} fails: {text}",
    [TD_EVENT_mark] = "{text}",
    [TD_EVENT_step] = "training step {iteration}",
};

typedef struct describer {
  FILE *out;
  const td_graph *graph;
  td_tape *tape;
  const td_event *event;
  const td_event_type *type;
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

static void
write_value(const describer *to, const td_field *field) {
  uint64_t value = td_event_field_get(to->event, field);
  switch (field->type) {
  case TD_FIELD_NODE:
    td_words_node(to->out, to->graph, (uint32_t)value);
    break;
  case TD_FIELD_THREAD:
    td_words_thread(to->out, to->graph, (uint32_t)value);
    break;
  case TD_FIELD_QUEUE:
    td_words_queue(to->out, to->graph, (uint32_t)value);
    break;
  case TD_FIELD_GRAPH_TASK:
    fprintf(to->out, (uint32_t)value == TD_NONE ? "no graph task" : "graph task %u",
            (uint32_t)value);
    break;
  case TD_FIELD_DEVICE:
    fputs(td_graph_device_name(to->graph, (int32_t)value), to->out);
    break;
  case TD_FIELD_STRING:
    fputs(td_tape_string(to->tape, (uint32_t)value), to->out);
    break;
  case TD_FIELD_BOOL:
    fputs(value ? "yes" : "no", to->out);
    break;
  case TD_FIELD_I32:
    fprintf(to->out, "%" PRId64, (int64_t)value);
    break;
  case TD_FIELD_F64:
    fprintf(to->out, "%g", td_event_double(value));
    break;
  default:
    write_enum(to->out, field->type, value);
  }
}

/* Writes the value of the field named by name[0 .. length). */
static void
write_named(const describer *to, const char *name, size_t length) {
  for (uint16_t i = 0; i < to->type->n_fields; i++) {
    const td_field *field = &to->type->fields[i];
    if (strncmp(field->name, name, length) == 0 && field->name[length] == '\0')
      write_value(to, field);
  }
}

static void
write_sentence(const describer *to, const char *sentence) {
  for (const char *at = sentence; *at; at++) {
    if (*at != '{') {
      putc(*at, to->out);
      continue;
    }
    size_t length = strcspn(at + 1, "}");
    write_named(to, at + 1, length);
    at += length + 1;
  }
}

static void
write_all_fields(const describer *to) {
  fputs(to->type->summary, to->out);
  for (uint16_t i = 0; i < to->type->n_fields; i++) {
    fputs(i ? ", " : ": ", to->out);
    write_words(to->out, to->type->fields[i].name);
    putc(' ', to->out);
    write_value(to, &to->type->fields[i]);
  }
}

/* A kernel of the forward pass runs before its node is made. */
static const char *
conflict_sentence(const td_event_stream_conflict *conflict) {
  if (conflict->first == TD_NONE && conflict->second == TD_NONE)
    return "streams {first_stream} and {second_stream} of {device} touch one buffer, unordered";
  if (conflict->second == TD_NONE)
    return "{first} and the forward pass on stream {second_stream} touch one buffer of {device}, "
           "unordered";
  if (conflict->first == TD_NONE)
    return "the forward pass on stream {first_stream} and {second} touch one buffer of {device}, "
           "unordered";
  return sentences[TD_EVENT_stream_conflict];
}

/* A pop without a node took a task that only wakes or ends its thread. */
static const char *
sentence_of(const td_any_event *event) {
  if (event->event.kind == TD_EVENT_queue_pop && event->queue_pop.node == TD_NONE)
    return "a task without a node is popped from {queue}, {size} left";
  if (event->event.kind == TD_EVENT_anomaly) return td_birth_sentence(&event->anomaly);
  if (event->event.kind == TD_EVENT_stream_conflict)
    return conflict_sentence(&event->stream_conflict);
  if (event->event.kind == TD_EVENT_tensor_stats && isnan(event->tensor_stats.min))
    return "{place} {number} of {node}: {n_elements} elements, {n_nan} NaN, {n_inf} Inf";
  return sentences[event->event.kind];
}

/* Writes a sentence with the event's fields; NULL: all the fields. The caller frees. */
static char *
fill_in(const td_graph *graph, td_tape *tape, const td_any_event *event, const char *sentence) {
  char *text = NULL;
  size_t size;
  describer to = {open_memstream(&text, &size), graph, tape, &event->event,
                  td_event_type_get(event->event.kind)};
  if (!to.out) return td_dup_string("");
  if (sentence)
    write_sentence(&to, sentence);
  else
    write_all_fields(&to);
  fclose(to.out);
  return text;
}

char *
td_why_describe(const td_graph *graph, td_tape *tape, const td_any_event *event) {
  return fill_in(graph, tape, event, sentence_of(event));
}

char *
td_why_mean(const td_graph *graph, td_tape *tape, const td_any_event *event) {
  if (event->event.kind == TD_EVENT_anomaly)
    return fill_in(graph, tape, event, td_birth_meaning(&event->anomaly, graph));
  return td_conflict_meaning(graph, tape, event);
}

char *
td_why_name_node(const td_graph *graph, uint32_t node) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  td_words_node(out, graph, node);
  fclose(out);
  return text;
}
