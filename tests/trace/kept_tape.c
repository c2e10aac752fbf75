/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/trace/kept_tape.h"

#include "engine/events/ring.h"
#include "engine/profile/check/check.h"
#include "engine/trace/compact.h"
#include "engine/trace/tape.h"
#include "tests/fixtures/assert_ok.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_APART 2000000
/* The recorder empties all rings after 50 ms. */
#define EVENTS_PER_ROUND 25

void
td_kept_flush(td_kept *self) {
  guint first = (guint)g_rand_int_range(self->random, 0, TD_KEPT_THREADS);
  for (guint i = 0; i < TD_KEPT_THREADS; i++) {
    guint t = (first + i) % TD_KEPT_THREADS;
    td_kept_thread *thread = &self->threads[t];
    if (thread->encoder.n_events == 0) continue;
    td_writer_events(self->writer, &thread->encoder, t, thread->n_written);
    thread->n_written += thread->encoder.n_events;
    td_encoder_begin(&thread->encoder);
  }
  self->n_on_disk = self->log->len;
}

static const td_any_event *
log_at(const td_kept *self, guint i) {
  return &g_array_index(self->log, td_any_event, i);
}

td_tape *
td_kept_open(const char *path) {
  td_tape *tape;
  td_error error = {0};
  assert_ok(td_tape_open(path, &tape, &error), &error);
  return tape;
}

/* ---- the oracle ---- */

static bool
node_of(const td_any_event *event, uint32_t *node) {
  switch (event->event.kind) {
  case TD_EVENT_node_new:
    *node = event->node_new.node;
    return true;
  case TD_EVENT_edge_new:
    *node = event->edge_new.from;
    return true;
  case TD_EVENT_input_metadata:
    *node = event->input_metadata.node;
    return true;
  case TD_EVENT_node_label:
    *node = event->node_label.node;
    return true;
  case TD_EVENT_saved_tensor:
    *node = event->saved_tensor.node;
    return true;
  default:
    return false;
  }
}

/* Whether event i lasts until event `end`, found by looking at all events between them. */
static bool
lasts(const td_kept *self, guint i, guint end) {
  const td_any_event *event = log_at(self, i);
  uint32_t node;
  bool is_of_node = node_of(event, &node);
  if (event->event.kind == TD_EVENT_thread_state) {
    for (guint k = i + 1; k < end; k++)
      if (log_at(self, k)->event.kind == TD_EVENT_thread_state &&
          log_at(self, k)->event.thread == event->event.thread)
        return false;
    return true;
  }
  for (guint k = i + 1; is_of_node && k < end; k++)
    if (log_at(self, k)->event.kind == TD_EVENT_node_free &&
        log_at(self, k)->node_free.node == node)
      return false;
  return is_of_node || event->event.kind == TD_EVENT_queue_new ||
         event->event.kind == TD_EVENT_thread_new || event->event.kind == TD_EVENT_known ||
         event->event.kind == TD_EVENT_session_begin || event->event.kind == TD_EVENT_device_new ||
         event->event.kind == TD_EVENT_setting || event->event.kind == TD_EVENT_probe_level;
}

static void
assert_same(const td_any_event *event, const td_any_event *told) {
  g_assert_cmpstr(td_event_type_get(event->event.kind)->name, ==,
                  td_event_type_get(told->event.kind)->name);
  g_assert_cmpuint(event->event.thread, ==, told->event.thread);
  gsize head = sizeof(td_event), size = td_event_type_get(told->event.kind)->size;
  g_assert_cmpmem((const char *)event + head, size - head, (const char *)told + head, size - head);
}

/* The tape is what lasted at some cut, what it says of itself, and all events after the cut. */
void
td_kept_judge(td_kept *self, const char *path) {
  td_tape *tape = td_kept_open(path);
  const td_tape_info *info = td_tape_info_get(tape);
  guint n = (guint)info->n_events, left_out = 0;
  g_assert_true(!info->damage || strstr(info->damage, "was not ended"));
  for (guint i = 0; i < n; i++)
    if (td_tape_peek(tape, i)->event.kind == TD_EVENT_left_out) left_out = i;
  guint first_kept = left_out ? left_out + 1 : 0, cut = self->n_on_disk - (n - first_kept);
  g_assert_cmpuint(n - first_kept, <=, self->n_on_disk);
  if (!left_out) g_assert_cmpuint(n, ==, self->n_on_disk);
  guint at = 0;
  uint64_t n_steps = 0, last_ns = 0;
  for (guint i = 0; i < cut; i++) {
    n_steps += log_at(self, i)->event.kind == TD_EVENT_step;
    if (lasts(self, i, cut)) assert_same(td_tape_peek(tape, at++), log_at(self, i));
  }
  g_assert_cmpuint(at, ==, left_out);
  if (left_out) {
    g_assert_cmpuint(td_tape_peek(tape, at)->left_out.steps, ==, n_steps);
    self->n_shortened++;
    at++;
  }
  /* If no pass is gone, all events may lie in a keyframe, which says little of their times. */
  bool has_times = left_out || self->news.n_keyframe_bytes == 0;
  uint64_t base = cut < self->n_on_disk ? log_at(self, cut)->event.time : 0, base_ns = 0;
  for (guint i = cut; i < self->n_on_disk; i++, at++) {
    const td_any_event *event = td_tape_peek(tape, at);
    assert_same(event, log_at(self, i));
    if (i == cut) base_ns = event->event.time;
    g_assert_cmpuint(event->event.time, >=, last_ns);
    if (has_times)
      g_assert_cmpuint(event->event.time - base_ns, ==, log_at(self, i)->event.time - base);
    last_ns = event->event.time;
  }
  g_assert_cmpuint(at, ==, n);
  self->n_looks++;
  td_tape_close(tape);
}

/* ---- a recording ---- */

void
td_kept_follow(td_kept *self, bool is_last) {
  td_error error = {0};
  struct stat info;
  if (!self->keeper)
    assert_ok(td_keeper_open(self->path, &self->limit, &self->keeper, &error), &error);
  bool is_done = false;
  assert_ok(td_keeper_read(self->keeper, &self->news, &error), &error);
  do {
    assert_ok(td_keeper_cut(self->keeper, is_last, &is_done, &error), &error);
  } while (is_last && !is_done);
  assert_ok(td_keeper_read(self->keeper, &self->news, &error), &error);
  g_assert_cmpint(stat(self->path, &info), ==, 0);
  self->most_blocks = MAX(self->most_blocks, info.st_blocks);
}

static void
reserve(td_kept *self) {
  g_assert_cmpint(td_writer_reserve(self->writer, TD_GAP_RESERVE), ==, 0);
}

void
td_kept_tell(const td_any_event *told, void *data) {
  td_kept *self = data;
  td_any_event event = *told;
  self->now += (guint)g_rand_int_range(self->random, 1, 2 * (gint)self->ns_apart);
  event.event.time = self->now;
  g_assert_true(td_encoder_add(&self->threads[event.event.thread].encoder, &event.event));
  g_array_append_val(self->log, event);
  if (self->log->len == self->n_early) reserve(self);
  if (self->log->len % EVENTS_PER_ROUND) return;
  td_kept_flush(self);
  if (self->log->len < self->n_early) return;
  if (g_rand_int_range(self->random, 0, 3)) td_kept_follow(self, false);
  if (g_rand_int_range(self->random, 0, 40) == 0) td_kept_judge(self, self->path);
}

static void
begin(td_kept *self, const td_tape_plan *plan, td_keep_limit limit) {
  td_error error = {0};
  *self = (td_kept){
      .limit = limit, .ns_apart = NS_APART, .random = g_rand_new_with_seed((guint32)plan->seed)};
  self->path = g_build_filename(g_get_tmp_dir(), "tapedeck-keeper-XXXXXX", NULL);
  close(g_mkstemp(self->path));
  self->log = g_array_new(FALSE, FALSE, sizeof(td_any_event));
  for (guint t = 0; t < TD_KEPT_THREADS; t++)
    td_encoder_init(&self->threads[t].encoder);
  assert_ok(td_writer_open_made(self->path, true, TD_RING_BLOCK, 1000, &self->writer, &error),
            &error);
}

void
td_kept_make_with(td_kept *self, const td_tape_plan *plan, td_keep_limit limit, td_tape_sink sink) {
  begin(self, plan, limit);
  reserve(self);
  td_tape_simulate(plan, sink, self);
}

void
td_kept_make_late(td_kept *self, const td_tape_plan *plan, td_keep_limit limit, guint n_early) {
  begin(self, plan, limit);
  self->n_early = n_early;
  td_tape_simulate(plan, td_kept_tell, self);
}

void
td_kept_make(td_kept *self, const td_tape_plan *plan, td_keep_limit limit) {
  td_kept_make_with(self, plan, limit, td_kept_tell);
}

void
td_kept_finish(td_kept *self) {
  td_error error = {0};
  td_kept_flush(self);
  assert_ok(td_writer_close(self->writer, &error), &error);
  td_kept_follow(self, true);
}

void
td_kept_fini(td_kept *self) {
  if (self->keeper) td_keeper_close(self->keeper);
  for (guint t = 0; t < TD_KEPT_THREADS; t++)
    td_encoder_fini(&self->threads[t].encoder);
  g_array_unref(self->log);
  g_rand_free(self->random);
  g_unlink(self->path);
  g_free(self->path);
}

static void
no_violation(const td_violation *violation, void *data) {
  g_test_message("%s", violation->text);
}

void
td_kept_check_compact(td_kept *self, uint64_t n_steps) {
  td_error error = {0};
  g_autofree char *compact = g_strconcat(self->path, ".compact", NULL);
  assert_ok(td_compact(self->path, compact, true, &error), &error);
  td_kept_judge(self, compact);
  td_tape *tape = td_kept_open(compact);
  uint64_t n_violations = 0;
  assert_ok(td_check_run(tape, no_violation, NULL, &n_violations, &error), &error);
  g_assert_cmpuint(n_violations, ==, 0);
  g_assert_true(td_tape_info_get(tape)->complete);
  if (n_steps) g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_step], ==, n_steps);
  td_tape_close(tape);
  g_unlink(compact);
}
