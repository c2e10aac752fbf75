/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/import.h"

#include "engine/base/alloc.h"
#include "engine/exchange/fixed_point.h"
#include "engine/exchange/span_sorter.h"
#include "engine/exchange/trace_parser.h"
#include "engine/exchange/trace_tape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define THREADS_MAX 4096 /* the tape keeps something open for each */

struct td_import {
  td_trace_parser *parser; /* (owned) */
  td_span_sorter *sorter;  /* (owned) */
  td_text_table texts;
  td_text_table labels;     /* of threads: process and thread as the trace writes them */
  td_trace_thread *threads; /* (owned) [n_threads], by number in `labels` */
  uint32_t n_threads, threads_capacity;
  td_text_table process_labels; /* what the trace calls processes, often a number */
  td_trace_process *processes;  /* (owned) by number in it; 0 is the one without a label */
  uint32_t n_processes, processes_capacity;
  td_error broken;          /* where and why the trace ends early */
  int64_t start_ns, end_ns; /* of what is kept */
  uint64_t n_events, n_evaluations, n_bad, first_bad;
  bool has_flows, has_numbers, has_fractions, too_many_threads;
};

static bool
begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static uint32_t
process_of(td_import *self, const char *label) {
  uint32_t process = td_text_table_put(&self->process_labels, label, strlen(label));
  int64_t pid;
  bool is_number = td_fixed_point_read(label, strlen(label), 0, &pid) && pid > 0 && pid < INT32_MAX;
  while (self->n_processes <= process) {
    TD_GROW(self->processes, self->n_processes, self->processes_capacity);
    self->processes[self->n_processes++] = (td_trace_process){.id = TD_NONE};
  }
  self->processes[process].pid = is_number ? (uint32_t)pid : 0;
  return process;
}

/* The thread of an event: TD_NONE where there are more than any program has. */
static uint32_t
thread_of(td_import *self, const td_trace_event *event) {
  char label[2 * TD_TRACE_ID_MAX + 2];
  int length = snprintf(label, sizeof label, "%s/%s", event->process, event->thread);
  uint32_t thread = td_text_table_put(&self->labels, label, (size_t)length) - 1;
  if (thread < self->n_threads) return thread;
  if (thread >= THREADS_MAX) {
    self->too_many_threads = true;
    return TD_NONE;
  }
  TD_GROW(self->threads, self->n_threads, self->threads_capacity);
  char name[TD_TRACE_ID_MAX + 8];
  length = snprintf(name, sizeof name, "tid %s", event->thread);
  self->threads[self->n_threads++] =
      (td_trace_thread){.process = process_of(self, event->process),
                        .name = td_text_table_put(&self->texts, name, (size_t)length),
                        .id = TD_NONE};
  return thread;
}

/* "thread 21934 (python)" becomes "python (21934)". */
static void
shorten_thread(char *name) {
  char number[24], words[TD_TRACE_NAME_MAX];
  int end = 0;
  if (sscanf(name, "thread %23[0-9] (%1023[^)])%n", number, words, &end) == 2 && end && !name[end])
    sprintf(name, "%s (%s)", words, number); /* shorter than it was */
}

static void
take_metadata(td_import *self, td_trace_event *event) {
  if (strcmp(event->name, "thread_name") == 0) shorten_thread(event->argument);
  uint32_t name = td_text_table_put(&self->texts, event->argument, strlen(event->argument));
  if (!name) return;
  if (strcmp(event->name, "process_name") == 0) {
    uint32_t process = process_of(self, event->process);
    self->processes[process].name = name;
  } else if (strcmp(event->name, "thread_name") == 0) {
    uint32_t thread = thread_of(self, event);
    if (thread != TD_NONE) self->threads[thread].name = name;
  }
}

/* "torch/nn/modules/linear.py(130): forward" becomes "torch/nn/modules/linear.py:130 forward": the
 * line where the function begins. */
static size_t
shorten_frame(char *name) {
  char *colon = strstr(name, "): ");
  char *open = colon;
  while (open && open > name && *open != '(')
    open--;
  if (!open || open == name || open + 1 == colon) return strlen(name);
  *open = ':';
  memmove(colon, colon + 2, strlen(colon + 2) + 1);
  return strlen(name);
}

/* What an event is to us; false where it is nothing. The name becomes what the tape says. */
static bool
classify_python(td_trace_event *event, td_span *span) {
  static const char module[] = "nn.Module: ";
  span->kind = TD_SPAN_FRAME;
  if (begins_with(event->name, module)) {
    span->kind = TD_SPAN_MODULE;
    memmove(event->name, event->name + sizeof module - 1, strlen(event->name) - sizeof module + 2);
  } else if (begins_with(event->name, "<built-in ")) {
    if (!begins_with(event->name, "<built-in method run_backward of torch._C._EngineBase"))
      return false;
    span->kind = TD_SPAN_RUN_BACKWARD;
    event->name[0] = '\0';
  }
  event->name_length = shorten_frame(event->name);
  return true;
}

static void
drop_beginning(td_trace_event *event, size_t n) {
  event->name_length -= n;
  memmove(event->name, event->name + n, event->name_length + 1);
}

/* "torch::autograd::AccumulateGrad" is "AccumulateGrad" to people. */
static bool
classify_operator(td_trace_event *event, td_span *span) {
  static const char evaluation[] = "autograd::engine::evaluate_function: ";
  static const char step[] = "ProfilerStep#";
  static const char qualifier[] = "torch::autograd::";
  span->kind = TD_SPAN_OP;
  if (begins_with(event->name, evaluation)) {
    span->kind = TD_SPAN_EVALUATION;
    drop_beginning(event, sizeof evaluation - 1);
  } else if (begins_with(event->name, step)) {
    span->kind = TD_SPAN_STEP;
    span->sequence_nr = (int64_t)strtoul(event->name + sizeof step - 1, NULL, 10);
  } else if (strcmp(event->category, "user_annotation") == 0) {
    span->kind = TD_SPAN_ANNOTATION;
  }
  if (begins_with(event->name, qualifier)) drop_beginning(event, sizeof qualifier - 1);
  return true;
}

static bool
classify_flow(const td_trace_event *event, td_span *span) {
  if (strcmp(event->name, "fwdbwd") != 0 || !event->has_id) return false;
  span->kind = event->phase == 's' ? TD_SPAN_FLOW_OUT : TD_SPAN_FLOW_IN;
  span->sequence_nr = event->id;
  return true;
}

/* The categories have had several names; the profiler before Kineto had none. */
static bool
classify(td_trace_event *event, td_span *span) {
  static const char *const operators[] = {"", "cpu_op", "user_annotation", "Operator", "operator"};
  if (event->phase == 's' || event->phase == 'f') return classify_flow(event, span);
  if (event->phase != 'X') return false;
  if (strcmp(event->category, "python_function") == 0) return classify_python(event, span);
  for (size_t i = 0; i < TD_N_ELEMENTS(operators); i++)
    if (strcmp(event->category, operators[i]) == 0) return classify_operator(event, span);
  return false;
}

static void
keep(td_import *self, td_trace_event *event, td_span *span) {
  span->thread = thread_of(self, event);
  if (span->thread == TD_NONE) return;
  span->name = td_text_table_put(&self->texts, event->name, event->name_length);
  span->begin_ns = event->ts_ns;
  span->end_ns = event->ts_ns + (span->kind >= TD_SPAN_FLOW_OUT ? 0 : event->dur_ns);
  if (event->forward_thread > 0 && event->forward_thread < UINT32_MAX)
    span->forward_thread = (uint32_t)event->forward_thread;
  self->start_ns = TD_MIN(self->start_ns, span->begin_ns);
  self->end_ns = TD_MAX(self->end_ns, span->end_ns);
  self->n_evaluations += span->kind == TD_SPAN_EVALUATION;
  self->has_flows = self->has_flows || span->kind == TD_SPAN_FLOW_IN;
  td_span_sorter_add(self->sorter, span);
}

static void
take_cb(td_trace_event *event, void *data) {
  td_import *self = data;
  self->n_events++;
  if (event->phase == 'M') {
    take_metadata(self, event);
    return;
  }
  td_span span = {.sequence_nr = event->has_sequence_nr ? event->sequence_nr : TD_NO_SEQUENCE};
  if (!classify(event, &span)) return;
  if (event->is_bad || !event->has_ts || event->dur_ns < 0) {
    if (self->n_bad++ == 0) self->first_bad = event->position;
    return;
  }
  self->has_numbers = self->has_numbers || event->has_sequence_nr;
  self->has_fractions = self->has_fractions || event->ts_ns % 1000 || event->dur_ns % 1000;
  keep(self, event, &span);
}

td_import *
td_import_new(const char *folder) {
  td_import *import = TD_NEW(td_import);
  import->parser = td_trace_parser_new(take_cb, import);
  import->sorter = td_span_sorter_new(folder);
  import->start_ns = INT64_MAX;
  import->end_ns = INT64_MIN;
  return import;
}

void
td_import_free(td_import *import) {
  if (!import) return;
  td_trace_parser_free(import->parser);
  td_span_sorter_free(import->sorter);
  td_text_table_fini(&import->texts);
  td_text_table_fini(&import->labels);
  td_text_table_fini(&import->process_labels);
  td_error_clear(&import->broken);
  free(import->threads);
  free(import->processes);
  free(import);
}

bool
td_import_feed(td_import *import, unsigned char *bytes, size_t n) {
  return td_trace_parser_feed(import->parser, bytes, n, &import->broken) == TD_OK;
}

void
td_import_break(td_import *import, const char *reason) {
  if (!import->broken.status) td_error_set(&import->broken, TD_INVALID, "%s", reason);
}

/* Is there anything to write? */
static td_status
judge(td_import *self, td_error *error) {
  const td_trace_header *header = td_trace_parser_get_header(self->parser);
  if (!self->broken.status) td_trace_parser_finish(self->parser, &self->broken);
  if (self->too_many_threads)
    return td_error_set(error, TD_INVALID, "has more than %u threads", THREADS_MAX);
  if (self->n_evaluations > 0) return TD_OK;
  if (self->broken.status) {
    const char *what = header->has_events ? "no backward pass before " : "not a trace: ";
    return td_error_set(error, TD_INVALID, "%s%s", what, td_error_text(&self->broken));
  }
  if (!header->has_events)
    return td_error_set(error, TD_INVALID, "not a trace of PyTorch's profiler: no traceEvents");
  return td_error_set(error, TD_INVALID,
                      "no backward pass among its %" PRIu64
                      " events: none is an autograd::engine::evaluate_function%s",
                      self->n_events, self->n_bad ? " with a time that is a number" : "");
}

static const td_event_kind reconstructed[] = {
    TD_EVENT_node_new,         TD_EVENT_edge_new,        TD_EVENT_node_module,
    TD_EVENT_graph_task_begin, TD_EVENT_graph_task_end,  TD_EVENT_node_skip,
    TD_EVENT_hook_begin,       TD_EVENT_hook_end,        TD_EVENT_thread_state,
    TD_EVENT_reentrant_enter,  TD_EVENT_reentrant_leave, TD_EVENT_none};

static const td_event_kind absent[] = {
    TD_EVENT_node_free,    TD_EVENT_input_metadata, TD_EVENT_exec_info,      TD_EVENT_dependency,
    TD_EVENT_outstanding,  TD_EVENT_queue_new,      TD_EVENT_queue_push,     TD_EVENT_queue_pop,
    TD_EVENT_queue_wake,   TD_EVENT_queue_shutdown, TD_EVENT_buffer_new,     TD_EVENT_buffer_add,
    TD_EVENT_buffer_ready, TD_EVENT_buffer_park,    TD_EVENT_dependency_dec, TD_EVENT_capture,
    TD_EVENT_accumulate,   TD_EVENT_lock_wait,      TD_EVENT_lock_acquired,  TD_EVENT_lock_released,
    TD_EVENT_lock_held,    TD_EVENT_anomaly,        TD_EVENT_tensor_stats,   TD_EVENT_error,
    TD_EVENT_none};

static void
tell_session(td_import *self, td_maker *maker, const char *source) {
  const td_trace_header *header = td_trace_parser_get_header(self->parser);
  const char *how =
      header->is_list
          ? "imported from a trace of PyTorch's old profiler, or of a build without Kineto"
          : "imported from a trace of torch.profiler";
  char *reason =
      td_format("%s%s%s%s", how, self->has_numbers ? "" : ", which has no sequence numbers",
                self->broken.status ? "; it breaks off at " : "",
                self->broken.status ? td_error_text(&self->broken) : "");
  TD_MAKE(maker, 0, 0, session_begin, .engine = td_maker_intern(maker, 0, 0, "PyTorch"),
          .source = td_maker_intern(maker, 0, 0, source));
  TD_MAKE(maker, 0, 0, probe_level, .level = 3, .reason = td_maker_intern(maker, 0, 0, reason));
  td_maker_know(maker, TD_knowledge_reconstructed, reconstructed);
  td_maker_know(maker, TD_knowledge_absent, absent);
  TD_MAKE(maker, 0, 0, device_new, .device = TD_DEVICE_CPU,
          .name = td_maker_intern(maker, 0, 0, "cpu"));
  free(reason);
}

/* The wall clock when the trace begins; 0 where its times count from something else. */
static uint64_t
started_ns(const td_import *self) {
  const int64_t year_2001 = 1000000000000000000;
  int64_t base = td_trace_parser_get_header(self->parser)->base_ns;
  int64_t ns = base > 0 && self->start_ns > 0 ? base + self->start_ns : self->start_ns;
  return ns > year_2001 ? (uint64_t)ns : 0;
}

/* Old traces have whole microseconds. */
static int64_t
slack_ns(const td_import *self) {
  return self->has_fractions ? 0 : 1000;
}

typedef void (*span_cb)(void *data, const td_span *span);

static td_status
read_spans(td_import *self, span_cb take, void *data, td_error *error) {
  td_status status = td_span_sorter_start(self->sorter, error);
  td_span span;
  while (status == TD_OK && td_span_sorter_next(self->sorter, &span))
    take(data, &span);
  return status == TD_OK ? td_span_sorter_finish(self->sorter, error) : status;
}

static void
index_cb(void *index, const td_span *span) {
  td_trace_index_add(index, span);
}

static void
tape_cb(void *tape, const td_span *span) {
  td_trace_tape_add(tape, span);
}

static td_status
write_tape(td_import *self, td_trace_index *index, td_maker *maker, td_import_report *report,
           td_error *error) {
  td_trace_tape tape = {.maker = maker,
                        .index = index,
                        .texts = &self->texts,
                        .threads = self->threads,
                        .processes = self->processes,
                        .rank = (int32_t)td_trace_parser_get_header(self->parser)->rank,
                        .start_ns = self->start_ns};
  td_trace_tape_init(&tape, self->n_threads, slack_ns(self));
  td_status status = read_spans(self, tape_cb, &tape, error);
  td_trace_tape_end(&tape);
  TD_MAKE(maker, 0, td_trace_tape_at(&tape, self->end_ns), session_end, .status = 0);
  report->n_nodes = tape.n_nodes;
  report->n_runs = tape.n_runs;
  report->n_graph_tasks = tape.n_graph_tasks;
  report->n_steps = tape.n_steps;
  report->n_cut = tape.nesting.n_cut;
  td_trace_tape_fini(&tape);
  return status;
}

td_status
td_import_write(td_import *import, const char *path, bool overwrite, const char *source,
                td_import_report *report, td_error *error) {
  td_status status = judge(import, error);
  if (status != TD_OK) return status;
  *report = (td_import_report){.n_events = import->n_events,
                               .n_bad = import->n_bad,
                               .first_bad = import->first_bad,
                               .broken = import->broken.message};
  td_maker *maker;
  status = td_maker_open(path, overwrite, 0, started_ns(import), &maker, error);
  if (status != TD_OK) return status;
  tell_session(import, maker, source);
  td_trace_index index;
  td_trace_index_init(&index, import->n_threads, slack_ns(import), import->has_flows);
  status = read_spans(import, index_cb, &index, error);
  td_trace_index_end(&index);
  if (status == TD_OK) status = write_tape(import, &index, maker, report, error);
  td_trace_index_fini(&index);
  if (status == TD_OK) return td_maker_close(maker, error);
  td_maker_abandon(maker);
  return status;
}
