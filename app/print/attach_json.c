/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/attach_json.h"

#include "app/print/json_members.h"
#include "app/session/attach/process.h"
#include "app/session/attach/verdict.h"

#include <string.h>

/* "FILE:LINE FUNCTION" */
static void
print_line(td_json *json, const char *text) {
  const char *function = strrchr(text, ' ');
  g_autofree char *place = g_strndup(text, function ? (size_t)(function - text) : strlen(text));
  char *number = strrchr(place, ':');
  guint64 line = number ? g_ascii_strtoull(number + 1, NULL, 10) : 0;
  if (number) *number = '\0';
  td_json_begin_object(json);
  td_member_string(json, "file", place);
  td_member_known(json, "line", line, line > 0);
  td_member_text(json, "function", function ? function + 1 : NULL);
  td_json_end_object(json);
}

/* "FUNCTION LIBRARY" */
static void
print_frame(td_json *json, const char *text) {
  const char *library = strrchr(text, ' ');
  g_autofree char *function = g_strndup(text, library ? (size_t)(library - text) : strlen(text));
  td_json_begin_object(json);
  td_member_text(json, "function", strcmp(function, "?") == 0 ? NULL : function);
  td_member_text(json, "library", library ? library + 1 : NULL);
  td_json_end_object(json);
}

static void
print_each(td_json *json, const char *key, const GPtrArray *texts,
           void (*print)(td_json *json, const char *text)) {
  td_json_key(json, key);
  td_json_begin_array(json);
  for (guint i = 0; i < texts->len; i++)
    print(json, texts->pdata[i]);
  td_json_end_array(json);
}

/* NULL: not known. */
static const char *
motion_word(td_motion motion) {
  return motion == TD_MOTION_RUNS ? "runs" : motion == TD_MOTION_SLEEPS ? "sleeps" : NULL;
}

static void
print_thread(td_json *json, const td_attach_thread *thread) {
  td_json_begin_object(json);
  td_member_string(json, "name", thread->name);
  td_member_known(json, "tid", thread->lwp, thread->lwp > 0);
  td_member_string(json, "waits_for", td_attach_wait_name(thread->wait));
  td_member_text(json, "motion", motion_word(thread->motion));
  td_member_known(json, "owner", thread->owner, thread->owner > 0);
  td_member_bool(json, "has_gil", thread->has_gil);
  td_member_text(json, "doing", thread->doing);
  td_member_known(json, "passes", thread->depth, thread->is_seen || thread->depth > 0);
  print_each(json, "python", thread->lines, print_line);
  print_each(json, "native", thread->frames, print_frame);
  td_json_end_object(json);
}

static void
print_threads(td_json *json, const td_attach_threads *threads) {
  td_json_key(json, "threads");
  td_json_begin_array(json);
  for (guint i = 0; threads && i < threads->list->len; i++)
    print_thread(json, threads->list->pdata[i]);
  td_json_end_array(json);
}

static void
print_verdict(td_json *json, const td_attach_threads *threads) {
  g_autofree char *sentence = threads ? td_attach_verdict(threads) : NULL;
  td_member_text(json, "summary", sentence);
}

static void
print_process(td_json *json, const td_attach_process *process) {
  int rank = td_attach_process_rank(process);
  const td_attach_threads *threads = process->threads;
  td_json_begin_object(json);
  td_member_u64(json, "pid", process->pid);
  td_member_text(json, "command", process->command);
  td_member_bool(json, "recorded", process->program != NULL);
  td_member_text(json, "tape", process->program ? process->program->tape : NULL);
  td_member_known(json, "event", process->seq, process->replay);
  td_member_known(json, "age", process->replay ? (uint64_t)td_attach_process_age_ns(process) : 0,
                  process->replay);
  td_member_known(json, "rank", (uint64_t)rank, rank >= 0);
  print_verdict(json, threads);
  td_member_bool(json, "gil_kept", threads && threads->is_held);
  td_member_text(json, "problem", threads ? threads->problem : process->silence);
  print_threads(json, threads);
  td_json_end_object(json);
}

static void
print_rank(td_json *json, const td_attach_rank *rank) {
  td_json_begin_object(json);
  td_member_u64(json, "rank", (uint64_t)rank->rank);
  td_member_u64(json, "pid", rank->pid);
  td_member_bool(json, "late", rank->is_late);
  td_member_bool(json, "ended", rank->is_gone);
  td_member_u64(json, "passes_begun", rank->n_begun);
  td_member_u64(json, "passes_ended", rank->n_ended);
  td_json_end_object(json);
}

void
td_attach_json_print(const GPtrArray *processes, const td_attach_ranks *ranks) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_text(&json, "summary", ranks ? ranks->sentence : NULL);
  td_json_key(&json, "ranks");
  td_json_begin_array(&json);
  for (guint i = 0; ranks && i < ranks->list->len; i++)
    print_rank(&json, ranks->list->pdata[i]);
  td_json_end_array(&json);
  td_json_key(&json, "processes");
  td_json_begin_array(&json);
  for (guint i = 0; i < processes->len; i++)
    print_process(&json, processes->pdata[i]);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}
