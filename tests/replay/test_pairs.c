/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pairs: what a node does in each of the passes that share it. A model of its own follows the
 * events of random threads. The state must say the same at every moment, whichever way leads there,
 * in the whole tape and in its segments. */
#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/replay/replay.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_NODES = 6, PASSES_MAX = 400 };

/* Threads that call backward on the same nodes, some of it in a pass inside a node. */
typedef struct program {
  GRand *random;
  td_tape_script *scripts; /* [n_threads] what each thread tells, in its order */
  uint32_t n_threads, n_passes;
  bool is_plain; /* each node just runs */
} program;

#define SAY(self, thread, name, ...) TELL(&(self)->scripts[thread], name, __VA_ARGS__)

static bool
chance(program *self, int percent) {
  return !self->is_plain && g_rand_int_range(self->random, 0, 100) < percent;
}

static void run_pass(program *self, uint32_t thread, uint32_t depth, uint32_t outer,
                     uint32_t caller);

/* How a task ends: mostly it runs. */
static void
end_task(program *self, uint32_t thread, uint32_t pass, uint32_t node, uint32_t depth) {
  bool is_captured = chance(self, 10), is_skipped = !is_captured && chance(self, 10);
  if (is_captured)
    SAY(self, thread, capture, .node = node, .graph_task = pass);
  else if (is_skipped)
    SAY(self, thread, node_skip, .node = node, .graph_task = pass);
  else {
    SAY(self, thread, node_begin, .node = node, .graph_task = pass);
    if (depth < 3 && chance(self, 20)) run_pass(self, thread, depth + 1, pass, node);
    if (chance(self, 5)) SAY(self, thread, error, .node = node, .graph_task = pass);
    SAY(self, thread, node_end, .node = node, .graph_task = pass);
  }
}

static void
run_task(program *self, uint32_t thread, uint32_t pass, uint32_t node, uint32_t depth) {
  SAY(self, thread, dependency_dec, .node = node, .graph_task = pass, .by = TD_NONE);
  SAY(self, thread, buffer_add, .node = node, .graph_task = pass, .from = TD_NONE);
  SAY(self, thread, queue_push, .queue = thread, .node = node, .graph_task = pass, .size = 1);
  SAY(self, thread, queue_pop, .queue = thread, .node = node, .graph_task = pass);
  end_task(self, thread, pass, node, depth);
  SAY(self, thread, outstanding, .graph_task = pass, .value = 0);
}

static void
run_pass(program *self, uint32_t thread, uint32_t depth, uint32_t outer, uint32_t caller) {
  uint32_t pass = self->n_passes++, left_out = (uint32_t)g_rand_int_range(self->random, 0, 9);
  if (outer != TD_NONE)
    SAY(self, thread, reentrant_enter, .graph_task = pass, .outer = outer, .node = caller,
        .depth = depth);
  SAY(self, thread, graph_task_begin, .graph_task = pass, .depth = depth, .owner = thread,
      .root = 0, .n_roots = 1);
  for (uint32_t node = 0; node < N_NODES; node++)
    if (node != left_out)
      SAY(self, thread, dependency, .graph_task = pass, .node = node, .count = 1);
  for (uint32_t node = 0; node < N_NODES; node++)
    if (node != left_out) run_task(self, thread, pass, node, depth);
  SAY(self, thread, graph_task_end, .graph_task = pass, .status = TD_task_status_ok);
  if (outer != TD_NONE)
    SAY(self, thread, reentrant_leave, .graph_task = pass, .outer = outer, .node = caller,
        .depth = depth);
}

static void
begin(program *self, td_tape_script *all) {
  for (uint32_t thread = 0; thread < self->n_threads; thread++) {
    TELL(all, thread_new, .id = thread, .device = -1);
    TELL(all, queue_new, .queue = thread, .device = -1, .graph_task = TD_NONE, .owner = thread);
  }
  for (uint32_t node = 0; node < N_NODES; node++)
    TELL(all, node_new, .node = node, .sequence_nr = node, .n_inputs = 1, .n_outputs = 1);
}

/* The threads take turns at random. */
static void
interleave(program *self, td_tape_script *all) {
  g_autofree size_t *at = g_new0(size_t, self->n_threads);
  size_t n_left = 0;
  for (uint32_t i = 0; i < self->n_threads; i++)
    n_left += self->scripts[i].n;
  while (n_left) {
    uint32_t thread = (uint32_t)g_rand_int_range(self->random, 0, (gint32)self->n_threads);
    if (at[thread] == self->scripts[thread].n) continue;
    td_any_event event = self->scripts[thread].events[at[thread]++];
    td_tape_script_tell(all, event, (td_event_kind)event.event.kind);
    all->events[all->n - 1].event.thread = thread;
    n_left--;
  }
}

static void
make(td_tape_script *all, guint32 seed, uint32_t n_threads, uint32_t n_passes, bool is_plain) {
  program self = {
      .random = g_rand_new_with_seed(seed), .n_threads = n_threads, .is_plain = is_plain};
  self.scripts = g_new0(td_tape_script, n_threads);
  *all = (td_tape_script){.n_threads = n_threads};
  begin(&self, all);
  for (uint32_t thread = 0; thread < n_threads; thread++)
    for (uint32_t i = 0; i < n_passes && self.n_passes < PASSES_MAX; i++)
      run_pass(&self, thread, 0, TD_NONE, TD_NONE);
  interleave(&self, all);
  for (uint32_t i = 0; i < n_threads; i++)
    td_tape_script_fini(&self.scripts[i]);
  g_free(self.scripts);
  g_rand_free(self.random);
}

/* ---- the model ---- */

typedef struct model {
  uint8_t states[2 * PASSES_MAX][N_NODES];
  uint32_t threads[2 * PASSES_MAX][N_NODES];
  bool runs[2 * PASSES_MAX]; /* passes under way */
} model;

static void
model_begin(model *self) {
  for (uint32_t pass = 0; pass < 2 * PASSES_MAX; pass++)
    for (uint32_t node = 0; node < N_NODES; node++) {
      self->states[pass][node] = TD_NODE_created;
      self->threads[pass][node] = TD_NONE;
      self->runs[pass] = false;
    }
}

#define SET(name, to) self->states[any->name.graph_task][any->name.node] = TD_NODE_##to

static void
model_take(model *self, const td_any_event *any) {
  switch (any->event.kind) {
  case TD_EVENT_graph_task_begin:
    self->runs[any->graph_task_begin.graph_task] = true;
    break;
  case TD_EVENT_graph_task_end:
    self->runs[any->graph_task_end.graph_task] = false;
    break;
  case TD_EVENT_dependency:
    SET(dependency, waiting);
    break;
  case TD_EVENT_buffer_add:
    SET(buffer_add, partial);
    break;
  case TD_EVENT_queue_push:
    SET(queue_push, queued);
    break;
  case TD_EVENT_queue_pop:
    SET(queue_pop, running);
    self->threads[any->queue_pop.graph_task][any->queue_pop.node] = any->event.thread;
    break;
  case TD_EVENT_node_end:
    if (self->states[any->node_end.graph_task][any->node_end.node] != TD_NODE_failed)
      SET(node_end, done);
    break;
  case TD_EVENT_node_skip:
    SET(node_skip, skipped);
    break;
  case TD_EVENT_capture:
    SET(capture, captured);
    break;
  case TD_EVENT_error:
    SET(error, failed);
    break;
  default:
    break;
  }
}

static uint32_t
activity(uint32_t state) {
  return state == TD_NODE_running   ? 4
         : state == TD_NODE_queued  ? 3
         : state == TD_NODE_partial ? 2
         : state == TD_NODE_waiting ? 1
                                    : 0;
}

/* All pairs of passes under way, and what each node does at all. */
static void
assert_same(const model *self, const td_replay *replay) {
  const td_state *state = td_replay_state(replay);
  for (uint32_t node = 0; node < N_NODES; node++) {
    uint32_t most = 0;
    for (uint32_t pass = 0; pass < 2 * PASSES_MAX; pass++) {
      if (!self->runs[pass]) continue;
      td_pair_now pair = td_state_pair(state, node, pass);
      g_assert_true(pair.is_known);
      g_assert_cmpuint(pair.state, ==, self->states[pass][node]);
      g_assert_cmpuint(pair.thread, ==, self->threads[pass][node]);
      most = MAX(most, activity(pair.state));
    }
    td_pair_now any = td_state_pair(state, node, TD_NONE);
    g_assert_cmpuint(activity(any.state), ==, most);
  }
}

static uint64_t
hash_state(const td_replay *replay) {
  const td_state *state = td_replay_state(replay);
  uint64_t hash = TD_HASH_SEED;
  for (uint32_t page = 0; page < state->n_pages; page++)
    hash = td_hash_bytes(hash, state->pages[page]->elements, sizeof state->pages[page]->elements);
  return hash;
}

/* ---- tests ---- */

static char *
write_tape(const td_tape_script *script) {
  char *path = g_strdup_printf("%s/tapedeck-pairs-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_error error = {0};
  assert_ok(td_tape_script_write(script, path, &error), &error);
  return path;
}

/* `self` follows the events up to a position. */
static void
follow(model *self, td_replay *replay, uint64_t from, uint64_t to) {
  for (uint64_t seq = from; seq < to; seq++) {
    td_any_event event;
    g_assert_cmpint(td_tape_get(td_replay_tape(replay), seq, &event, NULL), ==, TD_OK);
    model_take(self, &event);
  }
}

/* Forwards, back, and to places at random. */
static void
assert_three_ways(td_replay *replay, GRand *random) {
  uint64_t first = td_replay_first(replay), end = td_replay_end(replay);
  g_autofree uint64_t *states = g_new(uint64_t, end - first + 1);
  model *self = g_new(model, 1);
  model_begin(self);
  follow(self, replay, 0, first);
  g_assert_cmpint(td_replay_seek(replay, first, NULL), ==, TD_OK);
  for (uint64_t at = first;; at++) {
    assert_same(self, replay);
    states[at - first] = hash_state(replay);
    if (at == end) break;
    follow(self, replay, at, at + 1);
    g_assert_cmpint(td_replay_forward(replay, NULL), ==, TD_OK);
  }
  for (uint64_t at = end; at > first; at--) {
    g_assert_cmpuint(hash_state(replay), ==, states[at - first]);
    g_assert_cmpint(td_replay_back(replay, NULL), ==, TD_OK);
  }
  for (int i = 0; i < 50; i++) {
    uint64_t at = first + (uint64_t)(g_rand_double(random) * (double)(end - first + 1));
    g_assert_cmpint(td_replay_seek(replay, at, NULL), ==, TD_OK);
    g_assert_cmpuint(hash_state(replay), ==, states[at - first]);
  }
  g_free(self);
}

/* The state is as large as what runs at once: after the last pass nothing is left of pairs. */
static void
assert_nothing_is_left(td_replay *replay) {
  g_assert_cmpint(td_replay_seek(replay, td_replay_end(replay), NULL), ==, TD_OK);
  const td_state *state = td_replay_state(replay);
  uint32_t n_free = 0;
  for (uint32_t i = state->header->free_pair; i != TD_NONE; i = td_state_pair_at(state, i)->thread)
    n_free++;
  g_assert_cmpuint(n_free, ==, state->header->n_pairs_used);
  g_assert_cmpuint(state->header->n_free_tasks, ==, state->header->n_tasks_used);
}

static void
test_random(const void *data) {
  uint32_t n_threads = GPOINTER_TO_UINT(data);
  GRand *random = g_rand_new_with_seed(n_threads);
  for (guint32 seed = 0; seed < 10; seed++) {
    td_tape_script script;
    td_error error = {0};
    td_replay *replay;
    make(&script, seed, n_threads, 3, false);
    g_autofree char *path = write_tape(&script);
    assert_ok(td_replay_open(path, NULL, NULL, &replay, &error), &error);
    assert_three_ways(replay, random);
    g_assert_cmpuint(td_replay_contradictions(replay).n, ==, 0);
    assert_nothing_is_left(replay);
    td_replay_close(replay);
    td_tape_script_fini(&script);
    g_unlink(path);
  }
  g_rand_free(random);
}

static void
test_segments(const void *data) {
  uint32_t n_threads = GPOINTER_TO_UINT(data), n_segments = 0;
  GRand *random = g_rand_new_with_seed(n_threads);
  td_tape_script script;
  td_error error = {0};
  make(&script, 100 + n_threads, n_threads, 40, false);
  g_autofree char *path = write_tape(&script);
  assert_ok(td_segments_add(path, 300, &error), &error);
  for (uint64_t seq = 0, n_events = 1; seq < n_events; n_segments++) {
    td_tape *tape;
    td_replay *replay;
    assert_ok(td_tape_open(path, &tape, &error), &error);
    n_events = td_tape_info_get(tape)->n_events;
    td_segment segment = td_tape_segment_at(tape, seq);
    assert_ok(td_replay_new(tape, &segment, NULL, NULL, &replay, &error), &error);
    assert_three_ways(replay, random);
    g_assert_cmpuint(td_replay_contradictions(replay).n, ==, 0);
    seq = segment.end;
    td_replay_close(replay);
  }
  g_assert_cmpuint(n_segments, >, 3);
  td_tape_script_fini(&script);
  g_rand_free(random);
  g_unlink(path);
}

/* One event too many, which no engine tells. */
static td_contradictions
contradictions_of(void (*tell)(td_tape_script *script)) {
  td_tape_script script;
  td_error error = {0};
  td_replay *replay;
  make(&script, 1, 1, 1, true);
  tell(&script);
  g_autofree char *path = write_tape(&script);
  assert_ok(td_replay_open(path, NULL, NULL, &replay, &error), &error);
  td_contradictions found = td_replay_contradictions(replay);
  g_assert_cmpuint(found.n, ==, 1);
  g_assert_cmpint(td_replay_seek(replay, found.first, NULL), ==, TD_OK);
  g_assert_cmpuint(td_replay_state(replay)->header->contradictions.n, ==, 0);
  g_assert_cmpint(td_replay_forward(replay, NULL), ==, TD_OK);
  g_assert_cmpuint(td_replay_state(replay)->header->contradictions.n, ==, 1);
  td_replay_close(replay);
  td_tape_script_fini(&script);
  g_unlink(path);
  return found;
}

static void
end_again(td_tape_script *script) {
  TELL(script, node_end, .node = 3, .graph_task = 0);
}

static void
pop_nothing(td_tape_script *script) {
  TELL(script, queue_pop, .queue = 0, .node = 3, .graph_task = 0);
}

static void
begin_again(td_tape_script *script) {
  TELL(script, graph_task_begin, .graph_task = 0, .owner = 0, .root = 0, .n_roots = 1);
}

static void
test_contradictions(void) {
  td_contradictions found = contradictions_of(end_again);
  g_assert_cmpuint(found.why, ==, TD_CONTRADICTION_not_running);
  g_assert_cmpuint(found.state, ==, TD_NODE_done);
  g_assert_cmpuint(contradictions_of(pop_nothing).why, ==, TD_CONTRADICTION_not_in_queue);
  g_assert_cmpuint(contradictions_of(begin_again).why, ==, TD_CONTRADICTION_begun);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (uint32_t n = 1; n <= 8; n *= 2) {
    g_autofree char *random = g_strdup_printf("/engine/pairs/random/%u-threads", n);
    g_autofree char *segments = g_strdup_printf("/engine/pairs/segments/%u-threads", n);
    g_test_add_data_func(random, GUINT_TO_POINTER(n), test_random);
    g_test_add_data_func(segments, GUINT_TO_POINTER(n), test_segments);
  }
  g_test_add_func("/engine/pairs/contradictions", test_contradictions);
  return g_test_run();
}
