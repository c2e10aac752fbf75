/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several tapes as one: nothing lost, nothing doubled, no two things under one number, and every
 * reader takes the result for any other tape. */
#include "engine/base/alloc.h"
#include "engine/profile/check.h"
#include "engine/replay/replay.h"
#include "engine/trace/format.h"
#include "engine/trace/join.h"
#include "engine/trace/renumber.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define N_PARTS 3
#define WALL_NS UINT64_C(1700000000000000000)

static td_error no_error;

static char *
path_of(const char *name) {
  return g_strdup_printf("%s/tapedeck-join-%d-%s.tape", g_get_tmp_dir(), (int)getpid(), name);
}

/* Moves a tape in time: its header says that it began at these moments. */
static void
set_clocks(const char *path, uint64_t monotonic_ns, uint64_t wall_ns) {
  td_tape_header header;
  FILE *file = fopen(path, "r+b");
  g_assert_cmpuint(fread(&header, sizeof header, 1, file), ==, 1);
  header.start_monotonic_ns = monotonic_ns;
  header.start_wall_ns = wall_ns;
  header.checksum = td_format_checksum(&header, offsetof(td_tape_header, checksum));
  rewind(file);
  g_assert_cmpuint(fwrite(&header, sizeof header, 1, file), ==, 1);
  fclose(file);
}

static td_tape *
open_tape(const char *path) {
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
  return tape;
}

/* A tape whose clocks can be set: joined from one, its ticks are nanoseconds. */
static void
make_part(const td_tape_plan *plan, const char *path) {
  g_autofree char *raw = path_of("raw");
  const char *paths[] = {raw};
  g_assert_cmpint(td_tape_make(plan, raw, &no_error), ==, TD_OK);
  g_assert_cmpint(td_join(paths, 1, path, true, &no_error), ==, TD_OK);
  g_unlink(raw);
}

/* Parts that ran at the same time: two on one machine, whose wall clock was set by 400 ns between,
 * and one on another. */
static void
make_parts(char *paths[N_PARTS]) {
  static const td_tape_plan plans[N_PARTS] = {
      {.n_nodes = 300, .n_threads = 3, .n_passes = 3, .seed = 1, .trains = true},
      {.n_nodes = 200, .n_threads = 2, .n_passes = 4, .seed = 2, .n_anomalies = 2},
      {.n_nodes = 500, .n_threads = 1, .n_passes = 2, .seed = 3},
  };
  for (int i = 0; i < N_PARTS; i++) {
    paths[i] = path_of((const char *[]){"a", "b", "c"}[i]);
    make_part(&plans[i], paths[i]);
  }
  set_clocks(paths[0], 7000000, WALL_NS + 5000);
  set_clocks(paths[1], 7010000, WALL_NS + 15400);
  set_clocks(paths[2], UINT64_C(90000000000000), WALL_NS);
}

static void
remove_parts(char *paths[N_PARTS]) {
  for (int i = 0; i < N_PARTS; i++) {
    g_unlink(paths[i]);
    g_free(paths[i]);
  }
}

static char *
join_parts(char *paths[N_PARTS]) {
  char *path = path_of("joined");
  td_status status = td_join((const char *const *)paths, N_PARTS, path, true, &no_error);
  if (status) g_test_message("%s", td_error_text(&no_error));
  g_assert_cmpint(status, ==, TD_OK);
  return path;
}

/* Which field of an event is an id in which table: as events.def says, and this test's own. */
static int
table_of(const td_any_event *event, const td_field *field) {
  switch (field->type) {
  case TD_FIELD_NODE:
    return TD_ID_NODE;
  case TD_FIELD_THREAD:
    return TD_ID_THREAD;
  case TD_FIELD_QUEUE:
    return TD_ID_QUEUE;
  case TD_FIELD_GRAPH_TASK:
    return TD_ID_GRAPH_TASK;
  case TD_FIELD_DEVICE:
    return TD_ID_DEVICE;
  case TD_FIELD_STRING:
    return TD_ID_STRING;
  default:
    if (event->event.kind == TD_EVENT_string && strcmp(field->name, "id") == 0) return TD_ID_STRING;
    if (strcmp(field->name, "process") == 0) return TD_ID_PROCESS;
    if (strcmp(field->name, "object") != 0) return -1;
    return (int[]){TD_ID_QUEUE, TD_ID_GRAPH_TASK, TD_ID_NODE}[event->lock_wait.lock];
  }
}

/* Old to new, and back: a key is (part, table, old) or (table, new). */
typedef struct bijection {
  GHashTable *forth, *back; /* (owned) text to text */
} bijection;

static void
assert_same(GHashTable *table, char *key, char *value) {
  const char *known = g_hash_table_lookup(table, key);
  if (known) g_assert_cmpstr(known, ==, value);
  g_hash_table_replace(table, key, value);
}

static void
assert_pair(bijection *ids, int part, int table, uint32_t old, uint32_t new) {
  if (old == TD_NONE || (table == TD_ID_STRING && old == 0)) {
    g_assert_cmpuint(new, ==, old);
    return;
  }
  assert_same(ids->forth, g_strdup_printf("%d %d %u", part, table, old),
              g_strdup_printf("%u", new));
  assert_same(ids->back, g_strdup_printf("%d %u", table, new), g_strdup_printf("%d %u", part, old));
}

static void
assert_fields(bijection *ids, int part, const td_any_event *old, const td_any_event *new) {
  const td_event_type *type = td_event_type_get(old->event.kind);
  g_assert_cmpuint(new->event.kind, ==, old->event.kind);
  assert_pair(ids, part, TD_ID_THREAD, old->event.thread, new->event.thread);
  for (uint16_t i = 0; i < type->n_fields; i++) {
    uint64_t before = td_event_field_get(&old->event, &type->fields[i]);
    uint64_t after = td_event_field_get(&new->event, &type->fields[i]);
    int table = table_of(old, &type->fields[i]);
    bool renamed =
        old->event.kind == TD_EVENT_device_new && strcmp(type->fields[i].name, "name") == 0;
    if (renamed && old->device_new.device >= 0) continue;
    if (table < 0)
      g_assert_cmpuint(after, ==, before);
    else
      assert_pair(ids, part, table, (uint32_t)before, (uint32_t)after);
  }
}

/* What joining adds: who the processes are, and names of its own. */
static bool
is_added(td_tape *tape, const td_any_event *event) {
  if (event->event.kind == TD_EVENT_process_new) return true;
  if (event->event.kind != TD_EVENT_string) return false;
  const char *text = td_tape_string(tape, event->string.id);
  return g_str_has_prefix(text, "process ") || g_str_has_prefix(text, "tapedeck-join-");
}

/* The next event from *seq on that was not added. */
static bool
take(td_tape *tape, uint64_t *seq, td_any_event *event) {
  while (td_tape_get(tape, *seq, event, NULL) == TD_OK) {
    ++*seq;
    if (!is_added(tape, event)) return true;
  }
  return false;
}

static void
assert_part(td_tape *joined, const td_graph *graph, td_tape *part, int number, bijection *ids) {
  uint64_t in_part = 0, in_joined = 0, n = 0, offset = 0;
  td_any_event old, new;
  while (take(joined, &in_joined, &new)) {
    if (graph->threads[new.event.thread].process != (uint32_t)number) continue;
    g_assert_true(take(part, &in_part, &old));
    if (n++ == 0) offset = new.event.time - old.event.time;
    g_assert_cmpuint(new.event.time - old.event.time, ==, offset);
    assert_fields(ids, number, &old, &new);
    if (old.event.kind == TD_EVENT_string)
      g_assert_cmpstr(td_tape_string(part, old.string.id), ==,
                      td_tape_string(joined, new.string.id));
  }
  g_assert_false(take(part, &in_part, &old));
  g_assert_cmpuint(n, >, 1000);
}

static void
test_every_event_once(void) {
  char *paths[N_PARTS];
  make_parts(paths);
  g_autofree char *path = join_parts(paths);
  td_tape *joined = open_tape(path);
  td_graph *graph;
  bijection ids = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                   g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
  g_assert_null(td_tape_info_get(joined)->damage);
  g_assert_cmpint(td_graph_collect(joined, &graph, &no_error), ==, TD_OK);
  g_assert_cmpuint(graph->n_processes, ==, N_PARTS);
  for (int i = 0; i < N_PARTS; i++) {
    td_tape *part = open_tape(paths[i]);
    assert_part(joined, graph, part, i, &ids);
    td_tape_close(part);
  }
  g_hash_table_unref(ids.forth);
  g_hash_table_unref(ids.back);
  td_graph_free(graph);
  td_tape_close(joined);
  g_unlink(path);
  remove_parts(paths);
}

/* Events of the parts alternate, and each process says how sure its times are. */
static void
test_clocks(void) {
  char *paths[N_PARTS];
  make_parts(paths);
  g_autofree char *path = join_parts(paths);
  td_tape *joined = open_tape(path);
  td_graph *graph;
  g_assert_cmpint(td_graph_collect(joined, &graph, &no_error), ==, TD_OK);
  g_assert_cmpuint(graph->processes[0].clock_error_ns, ==, 0);
  g_assert_cmpuint(graph->processes[1].clock_error_ns, ==, 400);
  g_assert_cmpuint(graph->processes[2].clock_error_ns, ==, UINT64_MAX);
  g_assert_cmpuint(td_tape_info_get(joined)->started_ns, ==, WALL_NS);
  uint32_t n_changes = 0, last = 0;
  for (uint64_t seq = 0; seq < td_tape_info_get(joined)->n_events; seq++) {
    uint32_t process = graph->threads[td_tape_peek(joined, seq)->event.thread].process;
    n_changes += process != last;
    last = process;
  }
  g_assert_cmpuint(n_changes, >, 2);
  td_graph_free(graph);
  td_tape_close(joined);
  g_unlink(path);
  remove_parts(paths);
}

static void
count_violation(const td_violation *violation, void *data) {
  g_test_message("%s: %s", violation->rule, violation->text);
}

static void
test_readers(void) {
  char *paths[N_PARTS];
  make_parts(paths);
  g_autofree char *path = join_parts(paths);
  td_tape *joined = open_tape(path);
  uint64_t n_violations;
  g_assert_cmpint(td_check_run(joined, count_violation, NULL, &n_violations, &no_error), ==, TD_OK);
  g_assert_cmpuint(n_violations, ==, 0);
  td_tape_close(joined);
  td_replay *replay;
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, &no_error), ==, TD_OK);
  uint64_t end = td_replay_length(replay);
  g_assert_cmpint(td_replay_seek(replay, end, &no_error), ==, TD_OK);
  g_assert_cmpuint(td_replay_trouble(replay, NULL), ==, 0);
  td_replay_close(replay);
  g_unlink(path);
  remove_parts(paths);
}

/* A joined tape is a tape: it can be a part too. */
static void
test_join_of_joins(void) {
  char *paths[N_PARTS];
  make_parts(paths);
  g_autofree char *inner = join_parts(paths), *path = path_of("outer");
  const char *both[] = {inner, paths[0]};
  g_assert_cmpint(td_join(both, 2, path, true, &no_error), ==, TD_OK);
  td_tape *joined = open_tape(path), *part = open_tape(inner);
  td_graph *graph;
  g_assert_cmpint(td_graph_collect(joined, &graph, &no_error), ==, TD_OK);
  g_assert_cmpuint(graph->n_processes, ==, N_PARTS + 1);
  g_assert_cmpuint(td_tape_info_get(joined)->n_events, >, td_tape_info_get(part)->n_events);
  td_graph_free(graph);
  td_tape_close(part);
  td_tape_close(joined);
  g_unlink(path);
  g_unlink(inner);
  remove_parts(paths);
}

/* What a killed program leaves joins, as a tape that was not ended; what is damaged within does
 * not. Whatever the bytes are, nothing crashes and no half tape is left behind. */
static void
test_corrupt_parts(void) {
  char *paths[N_PARTS], *whole;
  gsize n_bytes;
  make_parts(paths);
  g_autofree char *path = path_of("joined");
  g_assert_true(g_file_get_contents(paths[1], &whole, &n_bytes, NULL));
  g_autoptr(GRand) random = g_rand_new_with_seed(7);
  unsigned n_refused = 0, n_cut = 0;
  for (int round = 0; round < 120; round++) {
    bool cut = round % 2;
    gsize at = (gsize)g_rand_int_range(random, 0, (gint32)n_bytes);
    g_autofree char *bytes = g_memdup2(whole, n_bytes);
    if (!cut) bytes[at] ^= (char)(1 << g_rand_int_range(random, 0, 8));
    g_assert_true(g_file_set_contents(paths[1], bytes, cut ? (gssize)at : (gssize)n_bytes, NULL));
    td_error error = {0};
    td_status status = td_join((const char *const *)paths, N_PARTS, path, true, &error);
    if (status) {
      g_assert_nonnull(strstr(td_error_text(&error), paths[1]));
      g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
      n_refused++;
    } else {
      td_tape *joined = open_tape(path);
      n_cut += !td_tape_info_get(joined)->complete;
      td_tape_close(joined);
    }
    td_error_clear(&error);
    g_unlink(path);
  }
  g_assert_cmpuint(n_refused, >=, 40);
  g_assert_cmpuint(n_cut, >=, 10);
  g_free(whole);
  remove_parts(paths);
}

static void
test_missing_part(void) {
  g_autofree char *path = path_of("joined");
  const char *paths[] = {"/nonexistent/a.tape", "/nonexistent/b.tape"};
  td_error error = {0};
  g_assert_cmpint(td_join(paths, 2, path, false, &error), ==, TD_IO);
  g_assert_cmpstr(td_error_text(&error), ==, "/nonexistent/a.tape: No such file or directory");
  td_error_clear(&error);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trace/join/every-event-once", test_every_event_once);
  g_test_add_func("/trace/join/clocks", test_clocks);
  g_test_add_func("/trace/join/readers", test_readers);
  g_test_add_func("/trace/join/join-of-joins", test_join_of_joins);
  g_test_add_func("/trace/join/corrupt-parts", test_corrupt_parts);
  g_test_add_func("/trace/join/missing-part", test_missing_part);
  return g_test_run();
}
