/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/replay/apply.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/checkpoints.h"
#include "engine/replay/replay.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *
tape_path(const char *name) {
  return g_strdup_printf("%s/tapedeck-replay-%d-%s.tape", g_get_tmp_dir(), (int)getpid(), name);
}

static td_replay *
open_plan(const td_tape_plan *plan) {
  g_autofree char *path = tape_path("plan");
  td_error error = {0};
  td_replay *replay = NULL;
  g_assert_cmpint(td_tape_make(plan, path, &error), ==, TD_OK);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, &error), ==, TD_OK);
  g_unlink(path);
  return replay;
}

static GBytes *
bytes_of(const td_state *state) {
  gsize n = sizeof state->pages[0]->elements;
  char *bytes = g_malloc(state->n_pages * n);
  for (uint32_t page = 0; page < state->n_pages; page++)
    memcpy(bytes + page * n, state->pages[page]->elements, n);
  return g_bytes_new_take(bytes, state->n_pages * n);
}

static GBytes *
bytes_now(const td_replay *replay) {
  return bytes_of(td_replay_state(replay));
}

static void
assert_bytes(const td_replay *replay, GBytes *wanted) {
  g_autoptr(GBytes) bytes = bytes_now(replay);
  if (g_bytes_equal(bytes, wanted)) return;
  g_test_message("states differ at position %" G_GUINT64_FORMAT, td_replay_position(replay));
  g_test_fail();
}

static void
free_bytes_cb(void *bytes) {
  if (bytes) g_bytes_unref(bytes);
}

/* The states at random positions, from the start by single steps; the rest is NULL. */
static GPtrArray *
states_by_replay(td_replay *replay, GRand *random, uint32_t share) {
  GPtrArray *states = g_ptr_array_new_with_free_func(free_bytes_cb);
  uint64_t length = td_replay_end(replay);
  for (uint64_t position = 0; position <= length; position++) {
    g_assert_cmpuint(td_replay_position(replay), ==, position);
    bool kept =
        position == 0 || position == length || g_rand_int_range(random, 0, (gint32)share) == 0;
    g_ptr_array_add(states, kept ? bytes_now(replay) : NULL);
    if (position < length) g_assert_cmpint(td_replay_forward(replay, NULL), ==, TD_OK);
  }
  g_assert_cmpint(td_replay_forward(replay, NULL), ==, TD_OUT_OF_RANGE);
  return states;
}

static void
assert_undo_equals(td_replay *replay, GPtrArray *states) {
  for (guint position = states->len; position-- > 0;) {
    g_assert_cmpuint(td_replay_position(replay), ==, position);
    if (states->pdata[position]) assert_bytes(replay, states->pdata[position]);
    if (position > 0) g_assert_cmpint(td_replay_back(replay, NULL), ==, TD_OK);
  }
  g_assert_cmpint(td_replay_back(replay, NULL), ==, TD_OUT_OF_RANGE);
}

static void
assert_seek_equals(td_replay *replay, GPtrArray *states, GRand *random, uint32_t n_seeks) {
  for (uint32_t i = 0; i < n_seeks; i++) {
    guint position = (guint)g_rand_int_range(random, 0, (gint32)states->len);
    g_assert_cmpint(td_replay_seek(replay, position, NULL), ==, TD_OK);
    g_assert_cmpuint(td_replay_position(replay), ==, position);
    if (states->pdata[position]) assert_bytes(replay, states->pdata[position]);
    if (i % 5 == 0 && position > 0) {
      g_assert_cmpint(td_replay_back(replay, NULL), ==, TD_OK);
      if (states->pdata[position - 1]) assert_bytes(replay, states->pdata[position - 1]);
    }
  }
}

static void
test_three_ways(const void *data) {
  td_replay *replay = open_plan(data);
  GRand *random = g_rand_new_with_seed(7);
  uint32_t share = td_replay_end(replay) > 4000 ? 100 : 1;
  GPtrArray *states = states_by_replay(replay, random, share);
  assert_undo_equals(replay, states);
  assert_seek_equals(replay, states, random, 400);
  g_assert_cmpuint(td_replay_contradictions(replay).n, ==, 0);
  g_ptr_array_unref(states);
  g_rand_free(random);
  td_replay_close(replay);
}

/* A state that has grown since has more pages. */
static bool
begins_with(GBytes *bytes, GBytes *wanted) {
  gsize n, n_wanted;
  const void *data = g_bytes_get_data(bytes, &n), *first = g_bytes_get_data(wanted, &n_wanted);
  return n >= n_wanted && memcmp(data, first, n_wanted) == 0;
}

/* The tape is over, and so are all tasks: a checkpoint keeps no page of them. */
static void
assert_no_page_of_tasks(td_world *world, td_checkpoints *checkpoints) {
  const td_world_table *tasks = &world->tables[TD_WORLD_tasks];
  g_assert_cmpuint(tasks->n_pages, >, 1);
  g_assert_cmpuint(world->state.header->n_free_tasks, ==, world->state.header->n_tasks_used);
  g_assert_true(td_checkpoints_lay(checkpoints));
  for (uint32_t i = 0; i < tasks->n_pages; i++)
    g_assert_cmpuint(world->pages[tasks->numbers[i]].current, ==, tasks->initial);
}

/* Few pages may be kept, so checkpoints are thinned many times while they are laid. */
static void
test_thinned(void) {
  g_autofree char *path = tape_path("thinned");
  td_tape_plan plan = {.n_nodes = 300, .n_threads = 3, .n_passes = 4, .seed = 11};
  td_tape *tape;
  td_catalog *catalog;
  td_world world;
  unsigned n_laid = 0, n_kept = 0;
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(tape, &catalog, NULL), ==, TD_OK);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_cmpint(td_world_init(&world, catalog, NULL), ==, TD_OK);
  td_checkpoints *checkpoints = td_checkpoints_new(&world, 16, 100 * TD_STATE_PAGE_BYTES);
  GPtrArray *states = g_ptr_array_new_with_free_func(free_bytes_cb);
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    td_any_event event;
    bool is_due = td_checkpoints_due(checkpoints);
    n_laid += is_due;
    if (is_due) g_assert_true(td_checkpoints_lay(checkpoints));
    g_ptr_array_add(states, is_due || seq == 0 ? bytes_of(&world.state) : NULL);
    g_assert_cmpint(td_tape_get(tape, seq, &event, NULL), ==, TD_OK);
    td_apply_event(&world, &event);
  }
  assert_no_page_of_tasks(&world, checkpoints);
  g_assert_cmpuint(n_laid, >, 8);
  for (uint64_t position = states->len; position-- > 0;) {
    if (td_checkpoints_before(checkpoints, position) != position) continue;
    n_kept++;
    td_checkpoints_restore(checkpoints, position);
    g_autoptr(GBytes) bytes = bytes_of(&world.state);
    g_assert_true(begins_with(bytes, states->pdata[position]));
  }
  g_assert_cmpuint(n_kept, >, 1);
  g_assert_cmpuint(n_kept, <, n_laid / 2);
  g_ptr_array_unref(states);
  td_checkpoints_free(checkpoints);
  td_world_fini(&world);
  td_catalog_free(catalog);
  td_tape_close(tape);
  g_unlink(path);
}

static void
test_end_state(void) {
  td_tape_plan plan = {.n_nodes = 60, .n_threads = 3, .n_passes = 2, .seed = 5, .n_anomalies = 3};
  td_replay *replay = open_plan(&plan);
  const td_state *state = td_replay_state(replay);
  const td_catalog *catalog = td_replay_catalog(replay);
  g_assert_cmpint(td_replay_seek(replay, td_replay_end(replay), NULL), ==, TD_OK);
  g_assert_cmpuint(catalog->n_nodes, ==, plan.n_nodes);
  g_assert_cmpuint(catalog->n_graph_tasks, ==, plan.n_passes);
  for (uint32_t i = 0; i < catalog->n_nodes; i++)
    g_assert_cmpuint(td_state_node(state, i)->state, ==, TD_NODE_released);
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    g_assert_cmpuint(td_state_queue(state, i)->n, ==, 0);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    g_assert_cmpuint(td_state_graph_task(state, i)->status, ==, 1 + TD_task_status_ok);
    g_assert_cmpuint(td_state_graph_task(state, i)->outstanding, ==, 0);
    g_assert_cmpuint(td_state_graph_task(state, i)->n_live, ==, 0);
  }
  g_assert_cmpuint(state->header->first_parked, ==, TD_NONE);
  td_replay_close(replay);
}

static bool
is_pop(const td_any_event *event, void *data) {
  return event->event.kind == TD_EVENT_queue_pop;
}

/* Before every pop, the order that the state foretells begins with the node popped. */
static void
test_foretells_pops(void) {
  td_tape_plan plan = {.n_nodes = 300, .n_threads = 2, .n_passes = 1, .seed = 9};
  td_replay *replay = open_plan(&plan);
  uint64_t seq = 0;
  uint32_t n_choices = 0;
  while (td_replay_find(replay, seq, true, is_pop, NULL, &seq, NULL) == TD_OK) {
    td_any_event event;
    g_assert_cmpint(td_replay_event(replay, seq, &event, NULL), ==, TD_OK);
    g_assert_cmpint(td_replay_seek(replay, seq, NULL), ==, TD_OK);
    const td_state *state = td_replay_state(replay);
    uint32_t n = td_state_queue(state, event.queue_pop.queue)->n;
    g_autofree td_queue_entry *order = g_new(td_queue_entry, n);
    td_state_queue_order(state, td_replay_catalog(replay), event.queue_pop.queue, order);
    g_assert_cmpuint(n, ==, event.queue_pop.size + 1);
    g_assert_cmpuint(order[0].node, ==, event.queue_pop.node);
    n_choices += n > 1;
  }
  g_assert_cmpuint(n_choices, >, 50);
  td_replay_close(replay);
}

static void
assert_order(td_replay *replay, uint64_t position, const uint32_t *nodes, uint32_t n) {
  td_queue_entry order[4];
  g_assert_cmpint(td_replay_seek(replay, position, NULL), ==, TD_OK);
  const td_state *state = td_replay_state(replay);
  g_assert_cmpuint(td_state_queue(state, 0)->n, ==, n);
  td_state_queue_order(state, td_replay_catalog(replay), 0, order);
  for (uint32_t i = 0; i < n; i++)
    g_assert_cmpuint(order[i].node, ==, nodes[i]);
}

static uint64_t
seq_of(td_replay *replay, td_event_kind kind) {
  td_any_event event;
  uint64_t seq = 0;
  while (td_replay_event(replay, seq, &event, NULL) == TD_OK && event.event.kind != kind)
    seq++;
  return seq;
}

/* Of tasks of several passes, those of the deeper one go first, whatever their numbers. The task of
 * a pass that is over goes before all that it is compared with: a heap is not sorted again when a
 * pass ends, so its first task stays. */
static void
test_depths(void) {
  g_autofree char *path = tape_path("depths");
  td_tape_script script = {0};
  td_replay *replay;
  TELL(&script, queue_new, .queue = 0, .device = TD_DEVICE_CPU);
  for (uint32_t node = 0; node < 3; node++)
    TELL(&script, node_new, .node = node, .sequence_nr = 9 - node, .device = TD_DEVICE_CPU);
  for (uint32_t pass = 0; pass < 3; pass++)
    TELL(&script, graph_task_begin, .graph_task = pass, .depth = pass == 1);
  for (uint32_t node = 0; node < 3; node++)
    TELL(&script, queue_push, .queue = 0, .node = node, .graph_task = node, .size = node + 1);
  TELL(&script, graph_task_end, .graph_task = 2, .status = TD_task_status_error);
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, NULL), ==, TD_OK);
  uint64_t end = seq_of(replay, TD_EVENT_graph_task_end);
  assert_order(replay, end, (const uint32_t[]){1, 0, 2}, 3);
  assert_order(replay, end + 1, (const uint32_t[]){1, 2, 0}, 3);
  td_replay_close(replay);
  td_tape_script_fini(&script);
  g_unlink(path);
}

static void
number_late(td_tape_script *script) {
  for (size_t i = 0; i < script->n; i++) {
    td_any_event *any = &script->events[i];
    if (any->event.kind != TD_EVENT_node_free) continue;
    uint32_t node = any->node_free.node;
    any->node_sequence_nr =
        (td_event_node_sequence_nr){.event = any->event, .node = node, .sequence_nr = node % 7};
    any->event.kind = TD_EVENT_node_sequence_nr;
    any->event.size = sizeof any->node_sequence_nr;
  }
}

static td_any_event *
last_of(td_tape_script *script, td_event_kind kind) {
  size_t i = script->n;
  while (i && script->events[i - 1].event.kind != kind)
    i--;
  g_assert_cmpuint(i, >, 0);
  script->events[script->n - 1] = script->events[i - 1];
  return &script->events[script->n - 1];
}

static void
order_late(td_tape_script *script) {
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == TD_EVENT_queue_new)
      script->events[i].queue_new.order = TD_queue_order_fifo;
  last_of(script, TD_EVENT_queue_new)->queue_new.order = TD_queue_order_heap;
}

static void
deepen_late(td_tape_script *script) {
  last_of(script, TD_EVENT_graph_task_begin)->graph_task_begin.depth = 2;
}

static void
select_late(td_tape_script *script) {
  last_of(script, TD_EVENT_graph_task_begin)->graph_task_begin.n_outputs = 2;
}

static void
count_cb(const td_any_event *event, uint64_t seq, void *data) {
  uint64_t *n_heard = data;
  g_assert_cmpuint(seq, ==, *n_heard);
  ++*n_heard;
}

/* Who listens hears each event once, in order, also if the tape is passed over twice. */
static td_replay *
open_along(const char *path) {
  td_tape *tape;
  td_replay *replay;
  uint64_t n_heard = 0;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  td_segment whole = td_tape_whole(tape);
  g_assert_cmpint(td_replay_new_along(tape, &whole, NULL, count_cb, &n_heard, &replay, NULL), ==,
                  TD_OK);
  g_assert_cmpuint(n_heard, ==, whole.end);
  return replay;
}

/* The end of the tape tells what the order of tasks and their states followed from. */
static void
test_late(const void *data) {
  void (*const *bend)(td_tape_script * script) = data;
  g_autofree char *path = tape_path("late");
  td_tape_plan plan = {.n_nodes = 4500, .n_threads = 2, .n_passes = 1, .seed = 6};
  GRand *random = g_rand_new_with_seed(2);
  td_tape_script script;
  td_tape_script_make(&script, &plan);
  (*bend)(&script);
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  td_replay *replay = open_along(path);
  GPtrArray *states = states_by_replay(replay, random, 700);
  for (guint position = 0; position < states->len; position++) {
    if (!states->pdata[position]) continue;
    g_assert_cmpint(td_replay_seek(replay, 0, NULL), ==, TD_OK);
    g_assert_cmpint(td_replay_seek(replay, position, NULL), ==, TD_OK);
    assert_bytes(replay, states->pdata[position]);
  }
  g_ptr_array_unref(states);
  td_replay_close(replay);
  td_tape_script_fini(&script);
  g_rand_free(random);
  g_unlink(path);
}

/* Events taken out, put twice and renumbered: no crash, the same state on every way, and trouble is
 * told. */
/* The catalog knows the greatest length of each queue before the replay has seen it. */
static void
test_longest_queues(void) {
  const td_tape_plan plan = {.n_nodes = 120, .n_threads = 3, .n_passes = 2, .seed = 4};
  td_replay *replay = open_plan(&plan);
  const td_catalog *catalog = td_replay_catalog(replay);
  g_autofree uint32_t *longest = g_new0(uint32_t, catalog->n_queues);
  do
    for (uint32_t i = 0; i < catalog->n_queues; i++)
      longest[i] = MAX(longest[i], td_state_queue(td_replay_state(replay), i)->n);
  while (td_replay_forward(replay, NULL) == TD_OK);
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    g_assert_cmpuint(catalog->queues[i].max_size, ==, longest[i]);
  g_assert_cmpuint(longest[0], >, 1);
  td_replay_close(replay);
}

static void
test_contradictions(void) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 3, .n_passes = 2, .seed = 3};
  GRand *random = g_rand_new_with_seed(1);
  uint64_t n_trouble = 0;
  for (uint32_t round = 0; round < 20; round++) {
    g_autofree char *path = tape_path("bent");
    td_tape_script script;
    td_replay *replay;
    td_tape_script_make(&script, &plan);
    for (uint32_t i = 0; i < 20; i++) {
      size_t from = (size_t)g_rand_int_range(random, 0, (gint32)script.n);
      size_t to = (size_t)g_rand_int_range(random, 0, (gint32)script.n);
      script.events[to] = script.events[from];
    }
    g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
    g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, NULL), ==, TD_OK);
    n_trouble += td_replay_contradictions(replay).n;
    GPtrArray *states = states_by_replay(replay, random, 10);
    assert_undo_equals(replay, states);
    assert_seek_equals(replay, states, random, 50);
    g_ptr_array_unref(states);
    td_replay_close(replay);
    td_tape_script_fini(&script);
    g_unlink(path);
  }
  g_assert_cmpuint(n_trouble, >, 20);
  g_rand_free(random);
}

static void
open_and_walk(const char *path) {
  td_error error = {0};
  td_replay *replay;
  if (td_replay_open(path, NULL, NULL, &replay, &error) == TD_OK) {
    td_replay_seek(replay, td_replay_end(replay), NULL);
    td_replay_seek(replay, td_replay_end(replay) / 2, NULL);
    td_replay_close(replay);
  } else {
    g_assert_nonnull(error.message);
  }
  td_error_clear(&error);
}

/* Cut anywhere, or with a bit turned anywhere: opens, or says why not. */
static void
test_damage(void) {
  g_autofree char *path = tape_path("damaged"), *whole = NULL;
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 1, .seed = 2};
  gsize length;
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  g_assert_true(g_file_get_contents(path, &whole, &length, NULL));
  for (gsize cut = 0; cut < length; cut += 1 + length / 700) {
    g_assert_true(
        g_file_set_contents_full(path, whole, (gssize)cut, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    open_and_walk(path);
  }
  for (gsize at = 0; at < length; at += 1 + length / 700) {
    whole[at] ^= (char)(1 << at % 8);
    g_assert_true(g_file_set_contents_full(path, whole, (gssize)length, G_FILE_SET_CONTENTS_NONE,
                                           0600, NULL));
    open_and_walk(path);
    whole[at] ^= (char)(1 << at % 8);
  }
  g_unlink(path);
}

static bool
refuse(double share, void *data) {
  return false;
}

static void
test_cancel(void) {
  g_autofree char *path = tape_path("cancelled");
  td_tape_plan plan = {.n_nodes = 10, .n_threads = 1, .n_passes = 1, .seed = 2};
  td_replay *replay = NULL;
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_replay_open(path, refuse, NULL, &replay, NULL), ==, TD_INVALID);
  g_assert_null(replay);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  static const td_tape_plan plans[] = {
      {.n_nodes = 2, .n_threads = 1, .n_passes = 1, .seed = 1},
      {.n_nodes = 40, .n_threads = 1, .n_passes = 2, .seed = 2, .n_anomalies = 2},
      {.n_nodes = 60, .n_threads = 4, .n_passes = 3, .seed = 3, .n_anomalies = 2},
      {.n_nodes = 1000, .n_threads = 3, .n_passes = 2, .seed = 4},
  };
  static void (*const bends[])(td_tape_script * script) = {number_late, order_late, deepen_late,
                                                           select_late};
  g_test_init(&argc, &argv, NULL);
  for (size_t i = 0; i < TD_N_ELEMENTS(plans); i++) {
    g_autofree char *name = g_strdup_printf("/replay/seek-replay-undo/%u-nodes-%u-threads",
                                            plans[i].n_nodes, plans[i].n_threads);
    g_test_add_data_func(name, &plans[i], test_three_ways);
  }
  g_test_add_data_func("/replay/late-numbers", &bends[0], test_late);
  g_test_add_data_func("/replay/late-orders", &bends[1], test_late);
  g_test_add_data_func("/replay/late-depths", &bends[2], test_late);
  g_test_add_data_func("/replay/late-selections", &bends[3], test_late);
  g_test_add_func("/replay/thinned-checkpoints", test_thinned);
  g_test_add_func("/replay/end-state", test_end_state);
  g_test_add_func("/replay/foretells-pops", test_foretells_pops);
  g_test_add_func("/replay/depths", test_depths);
  g_test_add_func("/replay/longest-queues", test_longest_queues);
  g_test_add_func("/replay/contradictions", test_contradictions);
  g_test_add_func("/replay/damage", test_damage);
  g_test_add_func("/replay/cancel", test_cancel);
  return g_test_run();
}
