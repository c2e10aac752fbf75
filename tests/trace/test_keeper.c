/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The flight recorder's keeper. A tape of random training is written as a recorder writes it, and
 * the keeper follows. At every moment the file must be a tape: what lasts of the events that went,
 * and after it all newer events. What lasts is found a second time here, by plain search. */
#include "engine/events/ring.h"
#include "engine/profile/check.h"
#include "engine/trace/compact.h"
#include "engine/trace/directory.h"
#include "engine/trace/keeper.h"
#include "engine/trace/tape.h"
#include "engine/trace/writer.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/tape_simulator.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_THREADS_MAX 4
#define NS_APART 2000000
/* The recorder empties all rings after 50 ms. */
#define EVENTS_PER_ROUND 25

typedef struct made_thread {
  td_encoder encoder;
  uint64_t n_written;
} made_thread;

typedef struct making {
  char *path;
  td_writer *writer;
  made_thread threads[N_THREADS_MAX];
  GArray *log; /* of td_any_event: all that was told, in order */
  guint n_on_disk;
  uint64_t now;
  td_keeper *keeper;
  td_keep_limit limit;
  td_keeper_news news;
  GRand *random;
  guint n_looks, n_shortened;
  blkcnt_t most_blocks;
} making;

static void
flush_all(making *self) {
  guint first = (guint)g_rand_int_range(self->random, 0, N_THREADS_MAX);
  for (guint i = 0; i < N_THREADS_MAX; i++) {
    guint t = (first + i) % N_THREADS_MAX;
    made_thread *thread = &self->threads[t];
    if (thread->encoder.n_events == 0) continue;
    td_writer_events(self->writer, &thread->encoder, t, thread->n_written);
    thread->n_written += thread->encoder.n_events;
    td_encoder_begin(&thread->encoder);
  }
  self->n_on_disk = self->log->len;
}

static const td_any_event *
log_at(const making *self, guint i) {
  return &g_array_index(self->log, td_any_event, i);
}

static td_tape *
open_tape(const char *path) {
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
lasts(const making *self, guint i, guint end) {
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
static void
judge(making *self, const char *path) {
  td_tape *tape = open_tape(path);
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
  uint64_t base = cut < self->n_on_disk ? log_at(self, cut)->event.time : 0, base_ns = 0;
  for (guint i = cut; i < self->n_on_disk; i++, at++) {
    const td_any_event *event = td_tape_peek(tape, at);
    assert_same(event, log_at(self, i));
    if (i == cut) base_ns = event->event.time;
    g_assert_cmpuint(event->event.time, >=, last_ns);
    g_assert_cmpuint(event->event.time - base_ns, ==, log_at(self, i)->event.time - base);
    last_ns = event->event.time;
  }
  g_assert_cmpuint(at, ==, n);
  self->n_looks++;
  td_tape_close(tape);
}

/* ---- a recording ---- */

static void
follow(making *self, bool is_last) {
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
tell(const td_any_event *told, void *data) {
  making *self = data;
  td_any_event event = *told;
  self->now += (guint)g_rand_int_range(self->random, 1, 2 * NS_APART);
  event.event.time = self->now;
  g_assert_true(td_encoder_add(&self->threads[event.event.thread].encoder, &event.event));
  g_array_append_val(self->log, event);
  if (self->log->len % EVENTS_PER_ROUND) return;
  flush_all(self);
  if (g_rand_int_range(self->random, 0, 3)) follow(self, false);
  if (g_rand_int_range(self->random, 0, 40) == 0) judge(self, self->path);
}

/* The same, and each step leaves nodes that are never freed. */
static void
tell_and_leak(const td_any_event *told, void *data) {
  making *self = data;
  tell(told, data);
  if (told->event.kind != TD_EVENT_step) return;
  for (guint i = 0; i < 60; i++) {
    td_any_event event = {.node_new = {.event = {.kind = TD_EVENT_node_new,
                                                 .size = sizeof event.node_new,
                                                 .thread = told->event.thread},
                                       .node = 1000000 + self->log->len,
                                       .sequence_nr = g_rand_int(self->random)}};
    tell(&event, self);
  }
}

/* A pass that hangs for ever, in a thread of its own. */
static void
tell_hanging(const td_any_event *told, void *data) {
  making *self = data;
  td_any_event event = {.graph_task_begin = {.event = {.kind = TD_EVENT_graph_task_begin,
                                                       .size = sizeof event.graph_task_begin,
                                                       .thread = N_THREADS_MAX - 1},
                                             .graph_task = 1000000}};
  if (self->log->len == 0) tell(&event, self);
  tell(told, data);
}

static void
make_with(making *self, const td_tape_plan *plan, td_keep_limit limit, td_tape_sink sink) {
  td_error error = {0};
  *self = (making){.limit = limit, .random = g_rand_new_with_seed((guint32)plan->seed)};
  self->path = g_build_filename(g_get_tmp_dir(), "tapedeck-keeper-XXXXXX", NULL);
  close(g_mkstemp(self->path));
  self->log = g_array_new(FALSE, FALSE, sizeof(td_any_event));
  for (guint t = 0; t < N_THREADS_MAX; t++)
    td_encoder_init(&self->threads[t].encoder);
  assert_ok(td_writer_open_made(self->path, true, TD_RING_BLOCK, 1000, &self->writer, &error),
            &error);
  td_writer_reserve(self->writer, TD_GAP_RESERVE);
  td_tape_simulate(plan, sink, self);
}

static void
make(making *self, const td_tape_plan *plan, td_keep_limit limit) {
  make_with(self, plan, limit, tell);
}

static void
finish(making *self) {
  td_error error = {0};
  flush_all(self);
  assert_ok(td_writer_close(self->writer, &error), &error);
  follow(self, true);
}

static void
making_fini(making *self) {
  if (self->keeper) td_keeper_close(self->keeper);
  for (guint t = 0; t < N_THREADS_MAX; t++)
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

static void
check_compact(making *self, uint64_t n_steps) {
  td_error error = {0};
  g_autofree char *compact = g_strconcat(self->path, ".compact", NULL);
  assert_ok(td_compact(self->path, compact, true, &error), &error);
  judge(self, compact);
  td_tape *tape = open_tape(compact);
  uint64_t n_violations = 0;
  assert_ok(td_check_run(tape, no_violation, NULL, &n_violations, &error), &error);
  g_assert_cmpuint(n_violations, ==, 0);
  g_assert_true(td_tape_info_get(tape)->complete);
  if (n_steps) g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_step], ==, n_steps);
  td_tape_close(tape);
  g_unlink(compact);
}

static void
test_steps(void) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    td_tape_plan plan = {.n_nodes = 30,
                         .n_threads = 1 + (uint32_t)seed % 3,
                         .n_passes = 60,
                         .trains = seed % 3 != 0,
                         .seed = seed};
    making made;
    make(&made, &plan, (td_keep_limit){.steps = 7});
    finish(&made);
    judge(&made, made.path);
    check_compact(&made, 7);
    g_assert_cmpuint(made.n_shortened, >, 3);
    g_assert_cmpuint(made.news.n_steps_gone, ==, 53);
    making_fini(&made);
  }
}

/* The disk holds no more than twice the limit and two keyframes, however long the recording is. */
static void
test_bytes(void) {
  td_tape_plan plan = {.n_nodes = 60, .n_threads = 3, .n_passes = 200, .trains = true, .seed = 11};
  making made;
  make(&made, &plan, (td_keep_limit){.bytes = 60000});
  uint64_t n_bytes = 0;
  finish(&made);
  judge(&made, made.path);
  check_compact(&made, 0);
  n_bytes = (uint64_t)made.most_blocks * 512;
  g_test_message("%u events, at most %" G_GUINT64_FORMAT " bytes", made.log->len, n_bytes);
  g_assert_cmpuint(n_bytes, <, 200000);
  g_assert_cmpuint(made.news.n_events_gone, >, made.log->len / 2);
  making_fini(&made);
}

static void
test_time(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 80, .trains = true, .seed = 5};
  making made;
  make(&made, &plan, (td_keep_limit){.ns = 2000000000});
  finish(&made);
  judge(&made, made.path);
  check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_events_gone, >, 0);
  making_fini(&made);
}

/* If there is no moment without a pass, the tape stays bounded nevertheless. */
static void
test_hanging_pass(void) {
  const td_keep_limit limits[] = {{.steps = 7}, {.ns = 2000000000}, {.bytes = 20000}};
  for (gsize i = 0; i < G_N_ELEMENTS(limits); i++) {
    td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 80, .trains = true, .seed = 5};
    making made;
    make_with(&made, &plan, limits[i], tell_hanging);
    g_assert_cmpuint(made.news.n_events_gone, >, made.log->len / 3);
    finish(&made);
    judge(&made, made.path);
    if (limits[i].steps) g_assert_cmpuint(made.news.n_steps, ==, limits[i].steps);
    making_fini(&made);
  }
}

static uint64_t
count_passes(const char *path) {
  td_tape *tape = open_tape(path);
  uint64_t n = td_tape_info_get(tape)->n_by_kind[TD_EVENT_graph_task_begin];
  td_tape_close(tape);
  return n;
}

/* What lives grows beyond the limit. The latest passes stay nevertheless. */
static void
test_large_keyframe(void) {
  td_tape_plan plan = {.n_nodes = 20, .n_threads = 2, .n_passes = 40, .trains = true, .seed = 7};
  making made;
  make_with(&made, &plan, (td_keep_limit){.bytes = 5000}, tell_and_leak);
  finish(&made);
  judge(&made, made.path);
  check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_passes_gone, >, 20);
  g_assert_cmpuint(count_passes(made.path), >, 0);
  making_fini(&made);
}

/* A pass that takes most of the limit goes as a whole. */
static void
test_large_passes(void) {
  td_tape_plan plan = {.n_nodes = 300, .n_threads = 2, .n_passes = 4, .trains = true, .seed = 8};
  making made;
  make(&made, &plan, (td_keep_limit){.bytes = 1000000});
  finish(&made);
  GStatBuf info;
  g_assert_cmpint(g_stat(made.path, &info), ==, 0);
  uint64_t n_bytes = (uint64_t)info.st_size - TD_GAP_RESERVE, limit = n_bytes * 45 / 100;
  making_fini(&made);

  make(&made, &plan, (td_keep_limit){.bytes = limit});
  finish(&made);
  judge(&made, made.path);
  check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_passes_gone, ==, 3);
  g_assert_cmpuint(count_passes(made.path), ==, 1);
  making_fini(&made);
}

/* After the last pass the program did nothing for long. That pass stays. */
static void
test_idle(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 10, .trains = true, .seed = 4};
  making made;
  make(&made, &plan, (td_keep_limit){.ns = 2000000000});
  for (guint i = 0; i < 20; i++) {
    td_any_event event = {
        .node_new = {.event = {.kind = TD_EVENT_node_new, .size = sizeof event.node_new},
                     .node = 1000000 + i}};
    made.now += 1000000000;
    tell(&event, &made);
    flush_all(&made);
    follow(&made, false);
  }
  finish(&made);
  judge(&made, made.path);
  check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_passes_gone, ==, 9);
  g_assert_cmpuint(count_passes(made.path), ==, 1);
  making_fini(&made);
}

/* The beginning of a pass over a regular graph may be small beyond belief. The keeper and a dump
 * believe it, because it is no stranger's. */
static void
test_regular_tape(void) {
  making made;
  td_error error = {0};
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 1, .n_passes = 1, .seed = 5};
  make(&made, &plan, (td_keep_limit){.steps = 7});
  flush_all(&made);
  td_any_event event = {
      .dependency = {.event = {.kind = TD_EVENT_dependency, .size = sizeof event.dependency},
                     .count = 1}};
  for (guint i = 0; i < 1500000; i++) {
    event.event.time = made.now + i;
    event.dependency.node = 1000 + i;
    if (!td_encoder_add(&made.threads[0].encoder, &event.event)) flush_all(&made);
  }
  flush_all(&made);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(made.path, &tape, &error), ==, TD_UNSUPPORTED);
  td_error_clear(&error);
  g_autofree char *compact = g_strconcat(made.path, ".compact", NULL);
  assert_ok(td_compact(made.path, compact, true, &error), &error);
  g_unlink(compact);
  td_keeper_close(made.keeper);
  made.keeper = NULL;
  follow(&made, false);
  td_writer_abandon(made.writer);
  making_fini(&made);
}

/* Nothing goes that fits. */
static void
test_short(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 5, .seed = 5};
  making made;
  make(&made, &plan, (td_keep_limit){.steps = 50});
  finish(&made);
  check_compact(&made, 5);
  g_assert_cmpuint(made.news.n_events_gone, ==, 0);
  making_fini(&made);
}

/* Writes beyond n_bytes fail, as on a disk that is full. */
static void
limit_files(rlim_t n_bytes) {
  struct rlimit limit;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &limit), ==, 0);
  limit.rlim_cur = MIN(n_bytes, limit.rlim_max);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
}

/* A keyframe that was not written, or half of one, changes nothing, and a later one is. */
static void
test_no_room(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 40, .trains = true, .seed = 9};
  making made;
  td_error error = {0};
  make(&made, &plan, (td_keep_limit){.steps = 1000});
  flush_all(&made);
  follow(&made, false);
  td_keeper_close(made.keeper);
  made.keeper = NULL;
  made.limit.steps = 3;
  assert_ok(td_keeper_open(made.path, &made.limit, &made.keeper, &error), &error);
  assert_ok(td_keeper_read(made.keeper, &made.news, &error), &error);
  td_directory directory;
  assert_ok(td_directory_open(made.path, &directory, &error), &error);
  rlim_t begin = directory.gap + sizeof(td_chunk_header);
  td_directory_close(&directory);
  signal(SIGXFSZ, SIG_IGN);
  for (rlim_t room = 0; room < 600; room += 50) {
    bool is_done = true;
    limit_files(begin + room);
    td_status status = td_keeper_cut(made.keeper, false, &is_done, &error);
    limit_files(RLIM_INFINITY);
    g_assert_cmpint(status, ==, TD_IO);
    td_error_clear(&error);
    judge(&made, made.path);
  }
  g_assert_cmpuint(made.n_shortened, ==, 0);
  finish(&made);
  check_compact(&made, 3);
  making_fini(&made);
}

static void
write_at(const char *path, off_t offset, const char *bytes, gsize n) {
  FILE *file = g_fopen(path, "r+b");
  g_assert_cmpint(fseeko(file, offset, SEEK_SET), ==, 0);
  g_assert_cmpuint(fwrite(bytes, 1, n, file), ==, n);
  fclose(file);
}

/* Somebody writes into the file. The keeper says so, and the tape can still be read. */
static void
test_damage(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 40, .trains = true, .seed = 3};
  making made;
  td_error error = {0};
  make(&made, &plan, (td_keep_limit){.steps = 1000});
  flush_all(&made);
  follow(&made, false);
  made.limit.steps = 3;
  td_keeper_close(made.keeper);
  assert_ok(td_keeper_open(made.path, &made.limit, &made.keeper, &error), &error);
  td_directory directory;
  assert_ok(td_directory_open(made.path, &directory, &error), &error);
  uint64_t chunk = directory.threads[0].chunks[directory.threads[0].n_chunks / 2].offset;
  td_directory_close(&directory);
  write_at(made.path, (off_t)(chunk + sizeof(td_chunk_header)) + 8, "tapedeck", 8);
  g_assert_cmpint(td_keeper_read(made.keeper, &made.news, &error), ==, TD_DAMAGED);
  td_error_clear(&error);
  td_tape *tape = open_tape(made.path);
  g_assert_nonnull(td_tape_info_get(tape)->damage);
  g_assert_cmpuint(td_tape_info_get(tape)->n_events, >, 0);
  td_tape_close(tape);
  td_writer_abandon(made.writer);
  making_fini(&made);
}

/* A gap may lie: it leads backwards, to itself, or beyond the end. */
static void
test_lying_gaps(void) {
  const uint64_t leads[] = {0, 8, UINT64_MAX, TD_GAP_RESERVE / 2, TD_GAP_RESERVE + 5000};
  for (gsize i = 0; i < G_N_ELEMENTS(leads); i++) {
    td_tape_plan plan = {.n_nodes = 20, .n_threads = 2, .n_passes = 3, .seed = 3};
    making made;
    td_error error = {0};
    make(&made, &plan, (td_keep_limit){.steps = 1000});
    finish(&made);
    td_directory directory;
    g_assert_cmpint(td_directory_open(made.path, &directory, &error), ==, TD_OK);
    td_chunk_header header;
    td_gap gap = {.next = leads[i], .start_ticks = UINT64_MAX, .start_monotonic_ns = UINT64_MAX};
    td_gap_init(&header, &gap);
    write_at(made.path, (off_t)directory.gap, (const char *)&header, sizeof header);
    td_directory_close(&directory);
    td_tape *tape = NULL;
    if (td_tape_open(made.path, &tape, &error) == TD_OK) td_tape_close(tape);
    td_error_clear(&error);
    making_fini(&made);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/keeper/steps", test_steps);
  g_test_add_func("/keeper/bytes", test_bytes);
  g_test_add_func("/keeper/time", test_time);
  g_test_add_func("/keeper/hanging_pass", test_hanging_pass);
  g_test_add_func("/keeper/large_keyframe", test_large_keyframe);
  g_test_add_func("/keeper/large_passes", test_large_passes);
  g_test_add_func("/keeper/idle", test_idle);
  g_test_add_func("/keeper/regular_tape", test_regular_tape);
  g_test_add_func("/keeper/short", test_short);
  g_test_add_func("/keeper/no_room", test_no_room);
  g_test_add_func("/keeper/damage", test_damage);
  g_test_add_func("/keeper/lying_gaps", test_lying_gaps);
  return g_test_run();
}
