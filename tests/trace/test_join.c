/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several tapes as one: nothing lost, nothing doubled, no two things under one number, and every
 * reader takes the result for any other tape. */
#include "engine/base/alloc.h"
#include "engine/events/ring.h"
#include "engine/profile/check/check.h"
#include "engine/replay/catalog_collect.h"
#include "engine/replay/replay.h"
#include "engine/trace/format.h"
#include "engine/trace/join.h"
#include "engine/trace/maker.h"
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

/* Ids differ between a part and the joined tape, so events are compared by what they name: a thing
 * is called by the order in which its process declared it. */
typedef struct who {
  td_tape *tape;
  GHashTable *nodes, *queues, *graph_tasks, *threads; /* (owned) id to 1 + order */
} who;

static who
who_new(td_tape *tape) {
  return (who){tape, g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL),
               g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL)};
}

static void
who_fini(who *who) {
  g_hash_table_unref(who->nodes);
  g_hash_table_unref(who->queues);
  g_hash_table_unref(who->graph_tasks);
  g_hash_table_unref(who->threads);
}

static void
declare(GHashTable *ids, uint32_t id) {
  gpointer key = GUINT_TO_POINTER(id), order = GUINT_TO_POINTER(g_hash_table_size(ids) + 1);
  if (!g_hash_table_contains(ids, key)) g_hash_table_insert(ids, key, order);
}

static guint
order_of(GHashTable *ids, uint32_t id) {
  return GPOINTER_TO_UINT(g_hash_table_lookup(ids, GUINT_TO_POINTER(id)));
}

static void
learn(who *who, const td_any_event *event) {
  if (event->event.kind == TD_EVENT_node_new) declare(who->nodes, event->node_new.node);
  if (event->event.kind == TD_EVENT_queue_new) declare(who->queues, event->queue_new.queue);
  if (event->event.kind == TD_EVENT_thread_new) declare(who->threads, event->thread_new.id);
  if (event->event.kind == TD_EVENT_graph_task_begin)
    declare(who->graph_tasks, event->graph_task_begin.graph_task);
}

/* No two processes declare a thing under one number. */
static void
assert_disjoint(GHashTable *declared, GHashTable *ids) {
  GHashTableIter iter;
  gpointer id;
  g_hash_table_iter_init(&iter, ids);
  while (g_hash_table_iter_next(&iter, &id, NULL))
    g_assert_true(g_hash_table_add(declared, id));
}

/* What an event tells, with names and orders in place of ids: the kinds that passes are made of. */
static char *
spell(const who *who, const td_any_event *event) {
  const char *kind = td_event_type_get(event->event.kind)->name;
  switch (event->event.kind) {
  case TD_EVENT_string:
    return g_strdup_printf("string %s", td_tape_string(who->tape, event->string.id));
  case TD_EVENT_thread_new:
    return g_strdup_printf("thread %s", td_tape_string(who->tape, event->thread_new.name));
  case TD_EVENT_node_new:
    return g_strdup_printf("%s %s", kind, td_tape_string(who->tape, event->node_new.name));
  case TD_EVENT_node_label:
    return g_strdup_printf("node %u is %s", order_of(who->nodes, event->node_label.node),
                           td_tape_string(who->tape, event->node_label.label));
  case TD_EVENT_edge_new:
    return g_strdup_printf("edge %u %u", order_of(who->nodes, event->edge_new.from),
                           order_of(who->nodes, event->edge_new.to));
  case TD_EVENT_graph_task_begin:
    return g_strdup_printf("begin at %u by %u", order_of(who->nodes, event->graph_task_begin.root),
                           order_of(who->threads, event->graph_task_begin.owner));
  case TD_EVENT_queue_push:
    return g_strdup_printf("push %u into %u of %u", order_of(who->nodes, event->queue_push.node),
                           order_of(who->queues, event->queue_push.queue),
                           order_of(who->graph_tasks, event->queue_push.graph_task));
  case TD_EVENT_queue_pop:
    return g_strdup_printf("pop %u from %u of %u", order_of(who->nodes, event->queue_pop.node),
                           order_of(who->queues, event->queue_pop.queue),
                           order_of(who->graph_tasks, event->queue_pop.graph_task));
  case TD_EVENT_buffer_add:
    return g_strdup_printf("add %u to %u", order_of(who->nodes, event->buffer_add.from),
                           order_of(who->nodes, event->buffer_add.node));
  case TD_EVENT_node_begin:
    return g_strdup_printf("%u runs on %u", order_of(who->nodes, event->node_begin.node),
                           order_of(who->threads, event->event.thread));
  default:
    return g_strdup(kind);
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

/* All that one process told, a line each with the time since its first event. `all` gathers what
 * the processes declare. */
static GPtrArray *
spell_process(td_tape *tape, const td_catalog *catalog, uint32_t process, who *all) {
  who who = who_new(tape);
  GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
  td_any_event event;
  uint64_t first_ns = UINT64_MAX;
  for (uint64_t seq = 0; td_tape_get(tape, seq, &event, NULL) == TD_OK; seq++) {
    if (catalog->threads[event.event.thread].process != process || is_added(tape, &event)) continue;
    first_ns = MIN(first_ns, event.event.time);
    learn(&who, &event);
    g_autofree char *text = spell(&who, &event);
    g_ptr_array_add(lines,
                    g_strdup_printf("%" G_GUINT64_FORMAT " %s", event.event.time - first_ns, text));
  }
  if (all) {
    assert_disjoint(all->nodes, who.nodes);
    assert_disjoint(all->queues, who.queues);
    assert_disjoint(all->graph_tasks, who.graph_tasks);
    assert_disjoint(all->threads, who.threads);
  }
  who_fini(&who);
  return lines;
}

static void
assert_part(td_tape *joined, const td_catalog *catalog, const char *path, uint32_t process,
            who *all) {
  td_tape *part = open_tape(path);
  td_catalog *own;
  g_assert_cmpint(td_catalog_collect_whole(part, &own, &no_error), ==, TD_OK);
  g_autoptr(GPtrArray) expected = spell_process(part, own, 0, NULL);
  g_autoptr(GPtrArray) found = spell_process(joined, catalog, process, all);
  g_assert_cmpuint(expected->len, >, 1000);
  g_assert_cmpuint(found->len, ==, expected->len);
  for (guint i = 0; i < found->len; i++)
    g_assert_cmpstr(found->pdata[i], ==, expected->pdata[i]);
  td_catalog_free(own);
  td_tape_close(part);
}

static void
test_every_event_once(void) {
  char *paths[N_PARTS];
  make_parts(paths);
  g_autofree char *path = join_parts(paths);
  td_tape *joined = open_tape(path);
  td_catalog *catalog;
  g_assert_null(td_tape_info_get(joined)->damage);
  g_assert_cmpint(td_catalog_collect_whole(joined, &catalog, &no_error), ==, TD_OK);
  g_assert_cmpuint(catalog->n_processes, ==, N_PARTS);
  who all = who_new(joined);
  for (uint32_t i = 0; i < N_PARTS; i++)
    assert_part(joined, catalog, paths[i], i, &all);
  who_fini(&all);
  td_catalog_free(catalog);
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
  td_catalog *catalog;
  g_assert_cmpint(td_catalog_collect_whole(joined, &catalog, &no_error), ==, TD_OK);
  g_assert_cmpuint(catalog->processes[0].clock_error_ns, ==, 0);
  g_assert_cmpuint(catalog->processes[1].clock_error_ns, ==, 400);
  g_assert_cmpuint(catalog->processes[2].clock_error_ns, ==, UINT64_MAX);
  g_assert_cmpuint(td_tape_info_get(joined)->started_ns, ==, WALL_NS);
  uint32_t n_changes = 0, last = 0;
  for (uint64_t seq = 0; seq < td_tape_info_get(joined)->n_events; seq++) {
    uint32_t process = catalog->threads[td_tape_peek(joined, seq)->event.thread].process;
    n_changes += process != last;
    last = process;
  }
  g_assert_cmpuint(n_changes, >, 2);
  td_catalog_free(catalog);
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
  uint64_t end = td_replay_end(replay);
  g_assert_cmpint(td_replay_seek(replay, end, &no_error), ==, TD_OK);
  g_assert_cmpuint(td_replay_contradictions(replay).n, ==, 0);
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
  td_catalog *catalog;
  g_assert_cmpint(td_catalog_collect_whole(joined, &catalog, &no_error), ==, TD_OK);
  g_assert_cmpuint(catalog->n_processes, ==, N_PARTS + 1);
  g_assert_cmpuint(td_tape_info_get(joined)->n_events, >, td_tape_info_get(part)->n_events);
  td_catalog_free(catalog);
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

/* A tape of one event, as a hostile writer makes it. */
static char *
make_lone(td_any_event event, td_event_kind kind) {
  char *path = path_of("lone");
  td_maker *maker;
  g_assert_cmpint(td_maker_open(path, true, TD_RING_BLOCK, WALL_NS, &maker, &no_error), ==, TD_OK);
  event.event = (td_event){.kind = (uint16_t)kind};
  td_maker_add(maker, event);
  g_assert_cmpint(td_maker_close(maker, &no_error), ==, TD_OK);
  return path;
}

static td_status
join_lone(td_any_event event, td_event_kind kind) {
  g_autofree char *lone = make_lone(event, kind), *path = path_of("joined");
  td_error error = {0};
  td_status status = td_join((const char *const[]){lone}, 1, path, true, &error);
  g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS) == (status == TD_OK));
  td_error_clear(&error);
  g_unlink(lone);
  g_unlink(path);
  return status;
}

/* Ids that no writer gives, in the events that td_join itself looks into. */
static void
test_impossible_ids(void) {
  const uint32_t far = 1u << 30;
  g_assert_cmpint(join_lone((td_any_event){.thread_new = {.id = far}}, TD_EVENT_thread_new), ==,
                  TD_DAMAGED);
  g_assert_cmpint(join_lone((td_any_event){.string = {.id = far}}, TD_EVENT_string), ==,
                  TD_DAMAGED);
  g_assert_cmpint(join_lone((td_any_event){.string = {.id = 0}}, TD_EVENT_string), ==, TD_OK);
}

/* Two tapes of one event each, of which the second may lack its end. Returns what the joined tape
 * says of processes that were gone. */
static td_event_process_gone
join_gone(bool is_cut, uint64_t gone_ns, uint64_t *n) {
  g_autofree char *one = path_of("one"), *two = path_of("two"), *path = path_of("joined");
  const char *paths[] = {one, two};
  td_event_process_gone found = {0};
  for (int i = 0; i < 2; i++) {
    td_maker *maker;
    g_assert_cmpint(td_maker_open(paths[i], true, TD_RING_BLOCK, WALL_NS, &maker, &no_error), ==,
                    TD_OK);
    td_maker_add(maker, (td_any_event){
                            .process_new = {.event = {.kind = TD_EVENT_process_new, .time = 30}}});
    td_status status =
        i && is_cut ? td_maker_cut(maker, &no_error) : td_maker_close(maker, &no_error);
    g_assert_cmpint(status, ==, TD_OK);
  }
  g_assert_cmpint(
      td_join_gone(paths, (const uint64_t[]){gone_ns, gone_ns}, 2, path, true, &no_error), ==,
      TD_OK);
  td_tape *tape = open_tape(path);
  const td_tape_info *info = td_tape_info_get(tape);
  *n = info->n_by_kind[TD_EVENT_process_gone];
  g_assert_cmpint(info->is_cut_off, ==, is_cut);
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event->event.kind == TD_EVENT_process_gone) found = event->process_gone;
  }
  td_tape_close(tape);
  for (int i = 0; i < 2; i++)
    g_unlink(paths[i]);
  g_unlink(path);
  return found;
}

/* Only a part that lacks its end says when its process was gone, and not before its last event. */
static void
test_gone(void) {
  uint64_t n;
  (void)join_gone(false, WALL_NS + 500, &n);
  g_assert_cmpuint(n, ==, 0);
  (void)join_gone(true, 0, &n);
  g_assert_cmpuint(n, ==, 0);
  td_event_process_gone gone = join_gone(true, WALL_NS + 500, &n);
  g_assert_cmpuint(n, ==, 1);
  g_assert_cmpuint(gone.event.time, ==, 500);
  g_assert_cmpuint(gone.process, ==, 1);
  g_assert_cmpuint(join_gone(true, WALL_NS - 500, &n).event.time, ==, 30);
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
  g_test_add_func("/trace/join/impossible-ids", test_impossible_ids);
  g_test_add_func("/trace/join/gone", test_gone);
  g_test_add_func("/trace/join/missing-part", test_missing_part);
  return g_test_run();
}
