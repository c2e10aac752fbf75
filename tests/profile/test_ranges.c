/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tables of a range of time. The ranges of a partition say together what the whole tape says: see
 * Note [Cut at the borders]. Tapes given as arguments are tried after a made one. */
#include "engine/profile/report/contention.h"
#include "engine/profile/report/idle.h"
#include "engine/profile/report/memory.h"
#include "engine/profile/report/report.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define N_RANGES 7
/* What comes from shares of threads is rounded once in each range. */
#define ROUNDED_NS N_RANGES
#define SHARED "all: unattributed" /* queues share it */

typedef struct fixture {
  td_tape *tape;
  uint64_t borders[N_RANGES + 1];
} fixture;

/* A sum of a row of a table, by its name. */
static void
add(GHashTable *sums, const char *row, const char *what, uint64_t value) {
  char *key = g_strdup_printf("%s: %s", row, what);
  uint64_t *sum = g_hash_table_lookup(sums, key);
  if (sum) {
    *sum += value;
    g_free(key);
  } else {
    g_hash_table_insert(sums, key, g_memdup2(&value, sizeof value));
  }
}

static GHashTable *
sums_new(void) {
  return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void
check_same(GHashTable *whole, GHashTable *parts, uint64_t rounded) {
  GHashTableIter iter;
  gpointer key, value;
  g_hash_table_iter_init(&iter, parts);
  while (g_hash_table_iter_next(&iter, &key, &value)) {
    const uint64_t *sum = g_hash_table_lookup(whole, key);
    uint64_t all = sum ? *sum : 0, part = *(uint64_t *)value;
    if (MAX(all, part) - MIN(all, part) > (strcmp(key, SHARED) == 0 ? ROUNDED_NS : rounded))
      g_error("%s is %" G_GUINT64_FORMAT " in ranges, and %" G_GUINT64_FORMAT " at all times",
              (char *)key, part, all);
  }
  g_hash_table_iter_init(&iter, whole);
  while (g_hash_table_iter_next(&iter, &key, &value))
    if (*(uint64_t *)value > rounded && !g_hash_table_contains(parts, key))
      g_error("%s is in no range", (char *)key);
}

/* ---- tables as sums ---- */

typedef void (*sum_table)(td_tape *tape, const td_range *range, uint32_t choice, GHashTable *sums);

static void
sum_report(td_tape *tape, const td_range *range, uint32_t by, GHashTable *sums) {
  td_report_wish wish = {.by = (td_report_by)by, .graph_task = TD_NONE, .range = *range};
  td_report report;
  g_assert_cmpint(td_report_make(tape, &wish, &report, NULL), ==, TD_OK);
  add(sums, "all", "wall", report.wall);
  add(sums, "all", "unattributed", report.unattributed);
  for (uint32_t i = 0; i < report.n_rows; i++) {
    const td_report_row *row = &report.rows[i];
    add(sums, row->key, "calls", row->n);
    add(sums, row->key, "self", row->self);
    add(sums, row->key, "total", row->total);
    for (int part = 0; part < TD_N_LIFE_PARTS; part++)
      add(sums, row->key, td_life_part_name((td_life_part)part), row->parts[part]);
  }
  td_report_fini(&report);
}

static void
sum_contention(td_tape *tape, const td_range *range, uint32_t choice, GHashTable *sums) {
  td_contention contention;
  g_assert_cmpint(td_contention_make(tape, TD_NONE, range, &contention, NULL), ==, TD_OK);
  for (uint32_t i = 0; i < contention.n_queues; i++) {
    const td_contended_queue *queue = &contention.queues[i];
    add(sums, queue->name, "pushes", queue->n_pushes);
    add(sums, queue->name, "pops", queue->n_pops);
    add(sums, queue->name, "lay", queue->lay.sum);
    add(sums, queue->name, "slept", queue->slept.sum);
  }
  for (uint32_t i = 0; i < contention.locks.n_locks; i++)
    add(sums, contention.locks.locks[i].name, "waited", contention.locks.locks[i].waits.sum);
  for (uint32_t i = 0; i < contention.locks.n_blames; i++) {
    const td_lock_blame *blame = &contention.locks.blames[i];
    char *who = g_strdup_printf("%s by %s at %s", blame->waiter, blame->holder, blame->node);
    add(sums, who, contention.locks.locks[blame->lock].name, blame->ns);
    g_free(who);
  }
  td_contention_fini(&contention);
}

static void
sum_idle(td_tape *tape, const td_range *range, uint32_t choice, GHashTable *sums) {
  td_idle idle;
  if (td_idle_make(tape, TD_NONE, range, &idle, NULL) == TD_OK) add(sums, "all", "wall", idle.wall);
  for (uint32_t i = 0; i < idle.n_threads; i++)
    for (int part = 0; part < TD_N_IDLE_PARTS; part++) {
      char *name = g_strdup_printf("%d", part);
      if (part != TD_IDLE_outside)
        add(sums, idle.threads[i].name, name, idle.threads[i].parts[part]);
      g_free(name);
    }
  td_idle_fini(&idle);
}

/* ---- partitions ---- */

static void
check_partition(fixture *self, sum_table table, uint32_t choice, uint64_t rounded) {
  GHashTable *whole = sums_new(), *parts = sums_new();
  table(self->tape, &(td_range){0}, choice, whole);
  for (int i = 0; i < N_RANGES; i++) {
    const td_range range = {true, self->borders[i], self->borders[i + 1]};
    table(self->tape, &range, choice, parts);
  }
  check_same(whole, parts, rounded);
  g_assert_cmpuint(g_hash_table_size(whole), >, 0);
  g_hash_table_unref(whole);
  g_hash_table_unref(parts);
}

static int
compare_times(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Borders are times of events, the times just beside them, and any others. */
static void
choose_borders(fixture *self, GRand *random) {
  const td_tape_info *info = td_tape_info_get(self->tape);
  td_report_wish wish = {.by = TD_REPORT_BY_node, .graph_task = TD_NONE};
  td_report report;
  g_assert_cmpint(td_report_make(self->tape, &wish, &report, NULL), ==, TD_OK);
  self->borders[0] = 0;
  for (int i = 1; i < N_RANGES; i++) {
    const td_report_row *row =
        &report.rows[g_rand_int_range(random, 0, (gint32)MAX(report.n_rows, 1))];
    self->borders[i] = i % 2 && report.n_rows
                           ? row->longest.begin_ns + (uint64_t)g_rand_int_range(random, 0, 2)
                           : (uint64_t)(g_rand_double(random) * (double)info->duration_ns);
  }
  self->borders[N_RANGES] = UINT64_MAX;
  qsort(self->borders, N_RANGES + 1, sizeof *self->borders, compare_times);
  td_report_fini(&report);
}

static uint64_t
saved_in(const td_memory_moment *moment) {
  return moment->level.bytes[TD_HELD_saved] + moment->level.bytes[TD_HELD_kept];
}

/* The most of all ranges is the most of the tape. */
static void
check_memory(fixture *self) {
  td_memory *memory = g_new(td_memory, 1);
  uint64_t peak, left, most = 0, most_left = 0;
  g_assert_cmpint(td_memory_make(self->tape, TD_NONE, NULL, memory, NULL), ==, TD_OK);
  peak = td_memory_total(&memory->peak.level);
  left = saved_in(&memory->retained);
  td_memory_fini(memory);
  for (int i = 0; i < N_RANGES; i++) {
    const td_range range = {true, self->borders[i], self->borders[i + 1]};
    g_assert_cmpint(td_memory_make(self->tape, TD_NONE, &range, memory, NULL), ==, TD_OK);
    most = MAX(most, td_memory_total(&memory->peak.level));
    most_left = MAX(most_left, saved_in(&memory->retained));
    if (memory->peak.seq != UINT64_MAX && range.from_ns < range.to_ns)
      g_assert_true(td_range_has(&range, memory->peak.ns));
    td_memory_fini(memory);
  }
  g_assert_cmpuint(most, ==, peak);
  g_assert_cmpuint(most_left, ==, left);
  g_free(memory);
}

static void
check_tape(const char *path) {
  fixture self;
  GRand *random = g_rand_new_with_seed(7);
  g_assert_cmpint(td_tape_open(path, &self.tape, NULL), ==, TD_OK);
  for (int round = 0; round < 5; round++) {
    choose_borders(&self, random);
    for (uint32_t by = 0; by < TD_N_REPORT_BYS; by++)
      check_partition(&self, sum_report, by, 0);
    check_partition(&self, sum_contention, 0, 0);
    check_partition(&self, sum_idle, 0, ROUNDED_NS);
    check_memory(&self);
  }
  g_rand_free(random);
  td_tape_close(self.tape);
}

static char *
make_tape(void) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 2, .n_passes = 6, .trains = true, .seed = 3};
  char *path = g_strdup_printf("%s/tapedeck-ranges-%d.tape", g_get_tmp_dir(), (int)getpid());
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  return path;
}

/* Also of a tape that is cut into segments. */
static void
test_partition(void) {
  char *path = make_tape();
  check_tape(path);
  g_assert_cmpint(td_segments_add(path, 500, NULL), ==, TD_OK);
  check_tape(path);
  g_unlink(path);
  g_free(path);
}

/* Threads lack cores in the middle of parts and sleeps, for longer than these, and the recorder
 * works in functions. */
static char *
make_tape_without_cores(uint32_t seed, bool is_bent) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 4, .n_passes = 6, .trains = true, .seed = seed};
  td_tape_script plain, script = {.n_threads = plan.n_threads};
  GRand *random = g_rand_new_with_seed(seed);
  uint64_t bends = seed;
  char *path = g_strdup_printf("%s/tapedeck-cores-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_tape_script_make(&plain, &plan);
  TELL(&script, core_wait, .waited = 0);
  for (size_t i = 0; i < plain.n; i++) {
    uint32_t thread = plain.events[i].event.thread;
    int choice = i > 200 ? g_rand_int_range(random, 0, 8) : 2;
    uint64_t ns = (uint64_t)g_rand_int_range(random, 1, 4000);
    if (is_bent && ns < 400) ns = UINT64_MAX - ns;
    if (choice == 0) TELL(&script, core_wait, .waited = ns);
    bool in_function = plain.events[i].event.kind == TD_EVENT_node_end;
    if (in_function && choice) TELL(&script, recorder_took, .took = ns / 8);
    if (in_function || !choice) script.events[script.n - 1].event.thread = thread;
    td_tape_script_tell(&script, plain.events[i], plain.events[i].event.kind);
    script.events[script.n - 1].event = plain.events[i].event;
  }
  if (is_bent) td_tape_script_bend(&script, &bends);
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  td_tape_script_fini(&plain);
  td_tape_script_fini(&script);
  g_rand_free(random);
  return path;
}

static uint64_t
no_core_of(const char *path) {
  td_tape *tape;
  td_idle idle;
  uint64_t ns = 0;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_idle_make(tape, TD_NONE, NULL, &idle, NULL), ==, TD_OK);
  for (uint32_t i = 0; i < idle.n_threads; i++)
    ns += idle.threads[i].parts[TD_IDLE_no_core];
  td_idle_fini(&idle);
  td_tape_close(tape);
  return ns;
}

static void
test_without_cores(void) {
  for (uint32_t seed = 1; seed <= 4; seed++) {
    char *path = make_tape_without_cores(seed, false);
    g_assert_cmpuint(no_core_of(path), >, 1000);
    check_tape(path);
    g_unlink(path);
    g_free(path);
  }
}

/* What no recorder tells, and waits longer than the tape: no part is longer than the passes. */
static void
test_bent(void) {
  for (uint32_t seed = 1; seed <= 40; seed++) {
    char *path = make_tape_without_cores(seed, true);
    td_tape *tape;
    td_idle idle;
    g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
    uint64_t end = td_tape_info_get(tape)->duration_ns;
    for (int i = 0; i < 3; i++) {
      const td_range range = {i > 0, i == 1 ? 0 : end / 3, end / 3 * (uint64_t)(1 + i)};
      GHashTable *sums = sums_new();
      g_assert_cmpint(td_idle_make(tape, TD_NONE, &range, &idle, NULL), ==, TD_OK);
      for (uint32_t thread = 0; thread < idle.n_threads; thread++)
        for (int part = 0; part < TD_N_IDLE_PARTS; part++)
          g_assert_cmpuint(idle.threads[thread].parts[part], <=, idle.wall);
      td_idle_fini(&idle);
      sum_report(tape, &range, TD_REPORT_BY_thread, sums);
      sum_contention(tape, &range, 0, sums);
      g_hash_table_unref(sums);
    }
    td_tape_close(tape);
    g_unlink(path);
    g_free(path);
  }
}

/* The middle half of the longest call: it has that time, and began before. */
static void
test_inside_a_call(void) {
  char *path = make_tape();
  td_tape *tape;
  td_report report;
  td_report_wish wish = {.by = TD_REPORT_BY_node, .graph_task = TD_NONE};
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_report_make(tape, &wish, &report, NULL), ==, TD_OK);
  td_report_call call = report.rows[0].longest;
  td_report_fini(&report);
  uint64_t quarter = (call.end_ns - call.begin_ns) / 4;
  g_assert_cmpuint(quarter, >, 0);
  wish.range = (td_range){true, call.begin_ns + quarter, call.end_ns - quarter};
  uint64_t length = wish.range.to_ns - wish.range.from_ns;
  g_assert_cmpint(td_report_make(tape, &wish, &report, NULL), ==, TD_OK);
  g_assert_cmpuint(report.n_passes, ==, 1);
  g_assert_cmpuint(report.wall, ==, length);
  g_assert_cmpuint(report.rows[0].longest.node, ==, call.node);
  g_assert_cmpuint(report.rows[0].n, ==, 0);
  g_assert_cmpuint(report.rows[0].self, >, 0);
  g_assert_cmpuint(report.rows[0].self, <=, length);
  td_report_fini(&report);
  td_tape_close(tape);
  g_unlink(path);
  g_free(path);
}

/* A range in which nothing happened has empty tables; a pass outside of it is no error. */
static void
test_nothing(void) {
  char *path = make_tape();
  td_tape *tape;
  td_report report;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  uint64_t end = td_tape_info_get(tape)->duration_ns;
  td_report_wish wish = {.by = TD_REPORT_BY_op, .graph_task = TD_NONE};
  g_assert_cmpint(td_report_make(tape, &wish, &report, NULL), ==, TD_OK);
  td_report_fini(&report);
  wish.range = (td_range){true, end + 1, end + 2};
  g_assert_cmpint(td_report_make(tape, &wish, &report, NULL), ==, TD_OK);
  g_assert_cmpuint(report.n_rows, ==, 0);
  g_assert_cmpuint(report.n_passes, ==, 0);
  td_report_fini(&report);
  wish.graph_task = 987654;
  g_assert_cmpint(td_report_make(tape, &wish, &report, NULL), ==, TD_OUT_OF_RANGE);
  td_report_fini(&report);
  td_tape_close(tape);
  g_unlink(path);
  g_free(path);
}

static bool
goes_on_not(void *data) {
  ++*(int *)data;
  return false;
}

/* Nobody waits for a table that is not wanted any more: the walk ends after a segment. */
static void
test_cancelled(void) {
  char *path = make_tape();
  td_tape *tape;
  td_report report;
  td_error error = {0};
  int n_asked = 0;
  td_report_wish wish = {.by = TD_REPORT_BY_op, .graph_task = TD_NONE};
  g_assert_cmpint(td_segments_add(path, 500, NULL), ==, TD_OK);
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_assert_cmpuint(td_tape_n_segments(tape), >, 1);
  td_tape_set_watch(tape, goes_on_not, &n_asked);
  g_assert_cmpint(td_report_make(tape, &wish, &report, &error), ==, TD_INVALID);
  g_assert_cmpstr(error.message, ==, "cancelled");
  g_assert_cmpint(n_asked, ==, 1);
  td_error_clear(&error);
  td_report_fini(&report);
  td_tape_close(tape);
  g_unlink(path);
  g_free(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    check_tape(argv[i]);
  g_test_add_func("/profile/ranges/partition", test_partition);
  g_test_add_func("/profile/ranges/without-cores", test_without_cores);
  g_test_add_func("/profile/ranges/bent", test_bent);
  g_test_add_func("/profile/ranges/inside-a-call", test_inside_a_call);
  g_test_add_func("/profile/ranges/nothing", test_nothing);
  g_test_add_func("/profile/ranges/cancelled", test_cancelled);
  return g_test_run();
}
