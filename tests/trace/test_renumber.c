/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Renumbering: two processes number everything alike, and on their joined tape each name still
 * leads to what belongs to its process. */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/replay/catalog_collect.h"
#include "engine/trace/join.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static td_error no_error;

static char *
path_of(const char *name) {
  return g_strdup_printf("%s/tapedeck-renumber-%d-%s.tape", g_get_tmp_dir(), (int)getpid(), name);
}

static uint32_t
named(const char *process, const char *what) {
  g_autofree char *text = g_strdup_printf("%s of %s", what, process);
  return td_intern(text);
}

/* Node 0 saves tensor 7, an operation writes into it; stream 1 waits for event 5 of stream 0; locks
 * of queue 0, graph task 0 and node 0. Numbers of the whole process begin at `base`. */
static void
make_twin(const char *process, uint32_t base, const char *path) {
  td_tape_script script = {.n_threads = 1};
  TELL(&script, device_new, .device = 0, .name = named(process, "device"));
  TELL(&script, stream_new, .device = 0, .stream = 1);
  TELL(&script, queue_new, .queue = 0, .device = 0, .graph_task = TD_NONE, .owner = TD_NONE);
  TELL(&script, node_new, .node = base, .name = named(process, "node"), .device = 0,
       .stack = named(process, "stack"));
  TELL(&script, input_metadata, .node = base, .shape = named(process, "shape"),
       .device = TD_DEVICE_META);
  TELL(&script, saved_tensor, .node = base, .counter = base + 7, .version = 1);
  TELL(&script, tensor_write, .counter = base + 7, .version = 2,
       .operation = named(process, "write"), .node = TD_NONE, .stack = named(process, "line"));
  TELL(&script, graph_task_begin, .graph_task = base, .root = base);
  TELL(&script, stream_record, .device = 0, .stream = 0, .stream_event = base + 5, .node = base);
  TELL(&script, stream_wait, .device = 0, .stream = 1, .stream_event = base + 5, .node = base);
  TELL(&script, lock_wait, .lock = TD_lock_kind_queue, .object = 0);
  TELL(&script, lock_wait, .lock = TD_lock_kind_graph_task, .object = base);
  TELL(&script, lock_wait, .lock = TD_lock_kind_node, .object = base);
  TELL(&script, version_conflict, .node = base, .graph_task = base, .counter = base + 7, .saved = 1,
       .found = 2);
  g_assert_cmpint(td_tape_script_write(&script, path, &no_error), ==, TD_OK);
  td_tape_script_fini(&script);
}

/* Counters and stream events that the tape names, with the processes that name them. */
typedef struct twins {
  td_tape *tape;
  td_catalog *catalog;
  uint32_t counters[2], stream_events[2];
} twins;

static void
assert_of(uint32_t process, const char *what, const char *text) {
  g_autofree char *expected = g_strdup_printf("%s of %s", what, process ? "right" : "left");
  g_assert_cmpstr(text, ==, expected);
}

static void
assert_lock(const twins *twins, uint32_t process, const td_event_lock_wait *lock) {
  const td_catalog *catalog = twins->catalog;
  uint32_t id = lock->object;
  if (lock->lock == TD_lock_kind_node)
    assert_of(process, "node", td_catalog_node_get(catalog, id)->name);
  if (lock->lock == TD_lock_kind_graph_task)
    assert_of(process, "node",
              td_catalog_node_get(catalog, td_catalog_graph_task_get(catalog, id)->root)->name);
  if (lock->lock == TD_lock_kind_queue)
    g_assert_true(g_str_has_suffix(td_catalog_device_name(catalog, catalog->queues[id].device),
                                   process ? "device of right" : "device of left"));
}

static void
assert_twin_event(twins *twins, uint32_t process, const td_any_event *event) {
  td_tape *tape = twins->tape;
  switch (event->event.kind) {
  case TD_EVENT_node_new:
    assert_of(process, "stack", td_tape_string(tape, event->node_new.stack));
    break;
  case TD_EVENT_input_metadata:
    assert_of(process, "shape", td_tape_string(tape, event->input_metadata.shape));
    g_assert_cmpint(event->input_metadata.device, ==, TD_DEVICE_META);
    break;
  case TD_EVENT_tensor_write:
    assert_of(process, "write", td_tape_string(tape, event->tensor_write.operation));
    assert_of(process, "line", td_tape_string(tape, event->tensor_write.stack));
    twins->counters[process] = event->tensor_write.counter;
    break;
  case TD_EVENT_stream_record:
    twins->stream_events[process] = event->stream_record.stream_event;
    break;
  case TD_EVENT_lock_wait:
    assert_lock(twins, process, &event->lock_wait);
    break;
  default:
    break;
  }
}

/* What names a counter or a stream event names that of its own process. */
static void
assert_shared_numbers(twins *twins, uint32_t process, const td_any_event *event) {
  if (event->event.kind == TD_EVENT_saved_tensor)
    g_assert_cmpuint(event->saved_tensor.counter, ==, twins->counters[process]);
  if (event->event.kind == TD_EVENT_version_conflict)
    g_assert_cmpuint(event->version_conflict.counter, ==, twins->counters[process]);
  if (event->event.kind == TD_EVENT_stream_wait)
    g_assert_cmpuint(event->stream_wait.stream_event, ==, twins->stream_events[process]);
}

static void
for_each_twin_event(twins *twins, void (*visit)(struct twins *, uint32_t, const td_any_event *)) {
  td_any_event event;
  for (uint64_t seq = 0; td_tape_get(twins->tape, seq, &event, NULL) == TD_OK; seq++)
    visit(twins, twins->catalog->threads[event.event.thread].process, &event);
}

static void
check_twins(uint32_t base) {
  g_autofree char *left = path_of("left"), *right = path_of("right"), *path = path_of("joined");
  const char *paths[] = {left, right};
  make_twin("left", base, left);
  make_twin("right", base, right);
  g_assert_cmpint(td_join(paths, 2, path, true, &no_error), ==, TD_OK);
  twins twins = {0};
  g_assert_cmpint(td_tape_open(path, &twins.tape, &no_error), ==, TD_OK);
  g_assert_cmpint(td_catalog_collect_whole(twins.tape, &twins.catalog, &no_error), ==, TD_OK);
  for_each_twin_event(&twins, assert_twin_event);
  for_each_twin_event(&twins, assert_shared_numbers);
  g_assert_cmpuint(twins.counters[0], !=, twins.counters[1]);
  g_assert_cmpuint(twins.stream_events[0], !=, twins.stream_events[1]);
  td_catalog_free(twins.catalog);
  td_tape_close(twins.tape);
  g_unlink(left);
  g_unlink(right);
  g_unlink(path);
}

static void
test_twins(void) {
  check_twins(0);
}

/* Both have run for days, and their flight recorders kept the end. */
static void
test_old_twins(void) {
  check_twins(3000000000u);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trace/renumber/twins", test_twins);
  g_test_add_func("/trace/renumber/old_twins", test_old_twins);
  return g_test_run();
}
