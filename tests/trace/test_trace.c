/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From emission to the merged order of a tape: nothing lost silently, and the order of events about
 * shared state is the order in which its lock was held. */
#include "engine/base/alloc.h"
#include "engine/events/lock.h"
#include "engine/trace/maker.h"
#include "engine/trace/recorder.h"
#include "engine/trace/tape.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static td_error no_error;

static char *
new_path(void) {
  char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-trace-XXXXXX", NULL);
  int fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  return path;
}

static td_recorder *
start(const char *path, td_ring_policy policy, size_t ring_bytes) {
  td_recorder_options options = {.engine = "test",
                                 .version = "1",
                                 .source = "test_trace",
                                 .policy = policy,
                                 .ring_bytes = ring_bytes};
  td_recorder *recorder;
  g_assert_cmpint(td_recorder_start(path, true, &options, &recorder, &no_error), ==, TD_OK);
  return recorder;
}

static td_tape *
stop(td_recorder *recorder, char *path) {
  g_assert_cmpint(td_recorder_stop(recorder, 0, &no_error), ==, TD_OK);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
  g_assert_true(td_tape_info_get(tape)->complete);
  g_assert_null(td_tape_info_get(tape)->damage);
  g_unlink(path);
  g_free(path);
  return tape;
}

static td_any_event
event_at(td_tape *tape, uint64_t seq) {
  td_any_event event;
  g_assert_cmpint(td_tape_get(tape, seq, &event, &no_error), ==, TD_OK);
  return event;
}

static void
assert_same_event(td_tape *tape, uint64_t seq, const td_any_event *expected) {
  td_any_event event = event_at(tape, seq);
  g_assert_cmpmem(&event, event.event.size, expected, expected->event.size);
}

#define TURNS 40000
#define N_THREADS 4

typedef struct shared_counter {
  td_lock lock;
  uint32_t value; /* guarded by lock */
} shared_counter;

static void *
count_cb(void *data) {
  shared_counter *counter = data;
  for (int i = 0; i < TURNS; i++) {
    td_lock_acquire(&counter->lock);
    uint32_t value = counter->value++;
    TD_EMIT_AT(td_lock_stamp(&counter->lock), step, .iteration = value);
    td_lock_release(&counter->lock);
    TD_EMIT_BORROWED(outstanding, .graph_task = 0, .value = value);
  }
  return NULL;
}

/* See Note [Stamps under a lock]. */
static void
test_order_is_lock_order(void) {
  char *path = new_path();
  td_recorder *recorder = start(path, TD_RING_BLOCK, 0);
  shared_counter counter = {0};
  td_lock_init(&counter.lock, TD_lock_kind_queue, 0);
  pthread_t threads[N_THREADS];
  for (int i = 0; i < N_THREADS; i++)
    g_assert_cmpint(pthread_create(&threads[i], NULL, count_cb, &counter), ==, 0);
  for (int i = 0; i < N_THREADS; i++)
    pthread_join(threads[i], NULL);
  td_lock_fini(&counter.lock);
  td_tape *tape = stop(recorder, path);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_step], ==, N_THREADS * TURNS);
  uint32_t expected = 0;
  uint64_t time = 0;
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    td_any_event event = event_at(tape, seq);
    g_assert_cmpuint(event.event.time, >=, time);
    time = event.event.time;
    if (event.event.kind == TD_EVENT_step) g_assert_cmpuint(event.step.iteration, ==, expected++);
  }
  td_tape_close(tape);
}

/* Numbers by position and positions by time agree, in whatever order one asks. The flushes make
 * chunks, so that one chunk is decoded into the memory of another. */
static void
test_random_access(void) {
  char *path = new_path();
  td_recorder *recorder = start(path, TD_RING_BLOCK, 0);
  for (uint32_t i = 0; i < 50000; i++) {
    TD_EMIT(outstanding, .graph_task = i % 7, .value = i);
    if (i % 10000 == 9999) td_recorder_flush(recorder);
  }
  td_tape *tape = stop(recorder, path);
  const td_tape_info *info = td_tape_info_get(tape);
  td_any_event *all = TD_NEW_N(td_any_event, info->n_events);
  for (uint64_t seq = 0; seq < info->n_events; seq++)
    all[seq] = event_at(tape, seq);
  for (uint64_t seq = info->n_events; seq-- > 0;)
    assert_same_event(tape, seq, &all[seq]);
  for (int i = 0; i < 3000; i++) {
    uint64_t seq = (uint64_t)g_test_rand_int_range(0, (gint32)info->n_events);
    td_any_event event = event_at(tape, seq);
    assert_same_event(tape, seq, &all[seq]);
    uint64_t last = td_tape_seq_at(tape, event.event.time);
    g_assert_cmpuint(all[last].event.time, ==, event.event.time);
    if (last + 1 < info->n_events) g_assert_cmpuint(all[last + 1].event.time, >, event.event.time);
  }
  td_any_event event;
  td_error error = {0};
  g_assert_cmpint(td_tape_get(tape, info->n_events, &event, &error), ==, TD_OUT_OF_RANGE);
  td_error_clear(&error);
  free(all);
  td_tape_close(tape);
}

static void *
flood_cb(void *data) {
  for (uint32_t i = 0; i < 300000; i++)
    TD_EMIT(step, .iteration = i);
  return NULL;
}

/* A thread with a new ring, so that its size is what this recording asks for. */
static void
flood(void) {
  pthread_t thread;
  g_assert_cmpint(pthread_create(&thread, NULL, flood_cb, NULL), ==, 0);
  pthread_join(thread, NULL);
}

/* What a small ring cannot hold is dropped and counted, or waited for: kept and dropped add up. */
static void
test_policy(gconstpointer data) {
  td_ring_policy policy = GPOINTER_TO_INT(data);
  char *path = new_path();
  td_recorder *recorder = start(path, policy, 65536);
  flood();
  td_tape *tape = stop(recorder, path);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_step] + info->n_dropped, >=, 300000);
  if (policy == TD_RING_BLOCK) g_assert_cmpuint(info->n_by_kind[TD_EVENT_step], ==, 300000);
  if (policy == TD_RING_BLOCK) g_assert_cmpuint(info->n_dropped, ==, 0);
  td_tape_close(tape);
}

/* Strings and threads that an earlier recording told are told again. */
static void
test_second_recording(void) {
  uint32_t name = td_intern("known before");
  for (int i = 0; i < 2; i++) {
    char *path = new_path();
    td_recorder *recorder = start(path, TD_RING_BLOCK, 0);
    TD_EMIT(mark, .text = name);
    td_tape *tape = stop(recorder, path);
    g_assert_cmpstr(td_tape_string(tape, name), ==, "known before");
    g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_thread_new], >=, 1);
    g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_mark], ==, 1);
    td_tape_close(tape);
  }
}

/* A thread that tells something in two recordings, each time at a time that it borrows. */
static void *
borrow_cb(void *data) {
  pthread_barrier_t *turns = data;
  for (uint32_t i = 0; i < 2; i++) {
    pthread_barrier_wait(turns);
    TD_EMIT_BORROWED(step, .iteration = i);
    pthread_barrier_wait(turns);
  }
  return NULL;
}

/* The first event of a thread in a recording has no event before it to borrow a time from. */
static void
test_borrowed_first(void) {
  pthread_barrier_t turns;
  pthread_t thread;
  pthread_barrier_init(&turns, NULL, 2);
  g_assert_cmpint(pthread_create(&thread, NULL, borrow_cb, &turns), ==, 0);
  for (int i = 0; i < 2; i++) {
    char *path = new_path();
    td_recorder *recorder = start(path, TD_RING_BLOCK, 0);
    pthread_barrier_wait(&turns);
    pthread_barrier_wait(&turns);
    td_tape *tape = stop(recorder, path);
    g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_step], ==, 1);
    td_tape_close(tape);
  }
  pthread_join(thread, NULL);
  pthread_barrier_destroy(&turns);
}

/* The child of a fork is not recorded, and leaves the tape alone. */
static void
test_fork(void) {
  char *path = new_path();
  td_recorder *recorder = start(path, TD_RING_BLOCK, 0);
  TD_EMIT(step, .iteration = 1);
  pid_t child = fork();
  if (child == 0) {
    TD_EMIT(step, .iteration = 2);
    _exit(td_recording() ? 1 : 0);
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_cmpint(WEXITSTATUS(status), ==, 0);
  td_tape *tape = stop(recorder, path);
  g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_step], ==, 1);
  td_tape_close(tape);
}

/* A disk that fills up: one clear error at the end, and what was written can be read. */
static void
test_full_disk(void) {
  g_autofree char *path = new_path();
  struct rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 16384;
  td_recorder *recorder = start(path, TD_RING_BLOCK, 0);
  TD_EMIT(step, .iteration = 1);
  td_recorder_flush(recorder); /* without an event there would be no tape */
  setrlimit(RLIMIT_FSIZE, &small);
  for (uint32_t i = 0; i < 400000; i++)
    TD_EMIT(outstanding, .graph_task = (uint32_t)g_test_rand_int(), .value = i);
  td_error error = {0};
  td_status status = td_recorder_stop(recorder, 0, &error);
  setrlimit(RLIMIT_FSIZE, &before);
  g_assert_cmpint(status, ==, TD_IO);
  g_assert_nonnull(strstr(td_error_text(&error), "could not be written"));
  td_error_clear(&error);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
  g_assert_false(td_tape_info_get(tape)->complete);
  g_assert_nonnull(td_tape_info_get(tape)->damage);
  td_tape_close(tape);
  g_unlink(path);
}

/* Without room for any event, nothing is left. */
static void
test_no_disk(void) {
  g_autofree char *path = new_path();
  struct rlimit before, none;
  td_error error = {0};
  td_maker *maker;
  getrlimit(RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 0;
  g_assert_cmpint(td_maker_open(path, true, TD_RING_BLOCK, 0, &maker, &no_error), ==, TD_OK);
  TD_MAKE(maker, 0, 5, step, .iteration = 1);
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  td_status status = td_maker_close(maker, &error);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  g_assert_cmpint(status, ==, TD_IO);
  td_error_clear(&error);
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

/* A tape that is recorded anew under a reader stays the old one for the reader. */
static void
test_replaced_under_reader(void) {
  g_autofree char *path = new_path();
  td_recorder *recorder = start(path, TD_RING_BLOCK, 0);
  for (uint32_t i = 0; i < 20000; i++)
    TD_EMIT(step, .iteration = i);
  g_assert_cmpint(td_recorder_stop(recorder, 0, &no_error), ==, TD_OK);
  td_tape *old;
  g_assert_cmpint(td_tape_open(path, &old, &no_error), ==, TD_OK);
  td_tape *new = stop(start(path, TD_RING_BLOCK, 0), g_strdup(path));
  for (uint64_t seq = 0; seq < td_tape_info_get(old)->n_events; seq += 1000)
    event_at(old, seq);
  g_assert_cmpuint(td_tape_info_get(old)->n_by_kind[TD_EVENT_step], ==, 20000);
  g_assert_cmpuint(td_tape_info_get(new)->n_by_kind[TD_EVENT_step], ==, 0);
  td_tape_close(old);
  td_tape_close(new);
}

/* Two recordings do not share a tape, --force or not. */
static void
test_busy(void) {
  char *path = new_path();
  td_recorder *recorder = start(path, TD_RING_BLOCK, 0), *second;
  td_recorder_options options = {.engine = "test", .version = "1", .source = "second"};
  td_error error = {0};
  g_assert_cmpint(td_recorder_start(path, true, &options, &second, &error), ==, TD_IO);
  g_assert_nonnull(strstr(td_error_text(&error), "is being recorded"));
  td_error_clear(&error);
  TD_EMIT(step, .iteration = 1);
  td_tape *tape = stop(recorder, path);
  g_assert_cmpuint(td_tape_info_get(tape)->n_by_kind[TD_EVENT_step], ==, 1);
  td_tape_close(tape);
}

/* Thread 1 is told wholly before thread 0; times are nanoseconds as they are; long texts are cut.
 */
static void
test_maker(void) {
  g_autofree char *path = new_path();
  g_autofree char *long_text = g_strnfill(100000, 'x');
  td_maker *maker;
  g_assert_cmpint(td_maker_open(path, true, 0, 1234567890, &maker, &no_error), ==, TD_OK);
  td_maker_know(maker, TD_knowledge_absent, (td_event_kind[]){TD_EVENT_queue_pop, 0});
  for (uint32_t i = 0; i < TURNS; i++) {
    uint32_t text = td_maker_intern(maker, 1, 2 * i + 1, i % 2 ? "odd" : "even");
    TD_MAKE(maker, 1, 2 * i + 1, mark, .text = text);
  }
  for (uint32_t i = 0; i < TURNS; i++)
    TD_MAKE(maker, 0, 2 * i, step, .iteration = i);
  uint32_t cut = td_maker_intern(maker, 0, 2 * TURNS, long_text);
  g_assert_cmpuint(td_maker_intern(maker, 0, 2 * TURNS, long_text), ==, cut);
  g_assert_cmpint(td_maker_close(maker, &no_error), ==, TD_OK);

  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, &no_error), ==, TD_OK);
  const td_tape_info *info = td_tape_info_get(tape);
  g_assert_true(info->complete && !info->damage);
  g_assert_cmpuint(info->started_ns, ==, 1234567890);
  g_assert_cmpint(info->known[TD_EVENT_queue_pop], ==, TD_knowledge_absent);
  g_assert_cmpuint(info->n_by_kind[TD_EVENT_step], ==, TURNS);
  uint64_t now = 0;
  for (uint64_t seq = 0; seq < info->n_events; seq++) {
    td_any_event event = event_at(tape, seq);
    if (event.event.kind == TD_EVENT_step) {
      now = 2 * (uint64_t)event.step.iteration;
      g_assert_cmpuint(event.event.time, ==, now);
    } else if (event.event.kind == TD_EVENT_mark) {
      g_assert_cmpuint(event.event.time, ==, now + 1);
      g_assert_cmpstr(td_tape_string(tape, event.mark.text), ==, now % 4 ? "odd" : "even");
    }
  }
  g_assert_cmpuint(strlen(td_tape_string(tape, cut)), ==, 60000);
  td_tape_close(tape);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trace/order-is-lock-order", test_order_is_lock_order);
  g_test_add_func("/trace/random-access", test_random_access);
  g_test_add_data_func("/trace/policy/block", GINT_TO_POINTER(TD_RING_BLOCK), test_policy);
  g_test_add_data_func("/trace/policy/drop", GINT_TO_POINTER(TD_RING_DROP), test_policy);
  g_test_add_func("/trace/second-recording", test_second_recording);
  g_test_add_func("/trace/borrowed-first", test_borrowed_first);
  g_test_add_func("/trace/fork", test_fork);
  g_test_add_func("/trace/full-disk", test_full_disk);
  g_test_add_func("/trace/no-disk", test_no_disk);
  g_test_add_func("/trace/replaced-under-reader", test_replaced_under_reader);
  g_test_add_func("/trace/busy", test_busy);
  g_test_add_func("/trace/maker", test_maker);
  return g_test_run();
}
