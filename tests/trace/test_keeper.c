/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The flight recorder's keeper. */
#include "engine/profile/check/check.h"
#include "engine/trace/compact.h"
#include "engine/trace/directory.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/trace/kept_tape.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* td_kept_tell, and each step leaves nodes that are never freed. */
static void
tell_and_leak(const td_any_event *told, void *data) {
  td_kept *self = data;
  td_kept_tell(told, data);
  if (told->event.kind != TD_EVENT_step) return;
  for (guint i = 0; i < 60; i++) {
    td_any_event event = {.node_new = {.event = {.kind = TD_EVENT_node_new,
                                                 .size = sizeof event.node_new,
                                                 .thread = told->event.thread},
                                       .node = 1000000 + self->log->len,
                                       .sequence_nr = g_rand_int(self->random)}};
    td_kept_tell(&event, self);
  }
}

/* A pass that hangs for ever, in a thread of its own. */
static void
tell_hanging(const td_any_event *told, void *data) {
  td_kept *self = data;
  td_any_event event = {.graph_task_begin = {.event = {.kind = TD_EVENT_graph_task_begin,
                                                       .size = sizeof event.graph_task_begin,
                                                       .thread = TD_KEPT_THREADS - 1},
                                             .graph_task = 1000000}};
  if (self->log->len == 0) td_kept_tell(&event, self);
  td_kept_tell(told, data);
}

static void
test_steps(void) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    td_tape_plan plan = {.n_nodes = 30,
                         .n_threads = 1 + (uint32_t)seed % 3,
                         .n_passes = 60,
                         .trains = seed % 3 != 0,
                         .seed = seed};
    td_kept made;
    td_kept_make(&made, &plan, (td_keep_limit){.steps = 7});
    td_kept_finish(&made);
    td_kept_judge(&made, made.path);
    td_kept_check_compact(&made, 7);
    g_assert_cmpuint(made.n_shortened, >, 3);
    g_assert_cmpuint(made.news.n_steps_gone, ==, 53);
    td_kept_fini(&made);
  }
}

/* What came before the recorder began to keep goes at once, and only if enough came after it. */
static void
test_late(void) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    td_tape_plan plan = {.n_nodes = 30,
                         .n_threads = 1 + (uint32_t)seed % 3,
                         .n_passes = 60,
                         .trains = seed % 3 != 0,
                         .seed = seed};
    const td_keep_limit limits[] = {{.steps = 7}, {.bytes = 20000}, {.ns = 2000000000}};
    td_kept made;
    td_kept_make_late(&made, &plan, limits[seed % 3], 1 + (guint)seed * 2000);
    td_kept_finish(&made);
    td_kept_judge(&made, made.path);
    td_kept_check_compact(&made, limits[seed % 3].steps);
    g_assert_cmpuint(made.n_shortened, >, 2);
    g_assert_cmpuint(made.news.n_steps_gone, >, 20);
    td_kept_fini(&made);
    td_kept_make_late(&made, &plan, (td_keep_limit){.steps = 50}, 20000);
    td_kept_finish(&made);
    td_kept_judge(&made, made.path);
    g_assert_cmpuint(made.n_shortened, ==, 0);
    td_kept_fini(&made);
  }
}

/* The disk holds no more than twice the limit and two keyframes, however long the recording is. */
static void
test_bytes(void) {
  td_tape_plan plan = {.n_nodes = 60, .n_threads = 3, .n_passes = 200, .trains = true, .seed = 11};
  td_kept made;
  td_kept_make(&made, &plan, (td_keep_limit){.bytes = 60000});
  uint64_t n_bytes = 0;
  td_kept_finish(&made);
  td_kept_judge(&made, made.path);
  td_kept_check_compact(&made, 0);
  n_bytes = (uint64_t)made.most_blocks * 512;
  g_test_message("%u events, at most %" G_GUINT64_FORMAT " bytes", made.log->len, n_bytes);
  g_assert_cmpuint(n_bytes, <, 200000);
  g_assert_cmpuint(made.news.n_events_gone, >, made.log->len / 2);
  td_kept_fini(&made);
}

static void
test_time(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 80, .trains = true, .seed = 5};
  td_kept made;
  td_kept_make(&made, &plan, (td_keep_limit){.ns = 2000000000});
  td_kept_finish(&made);
  td_kept_judge(&made, made.path);
  td_kept_check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_events_gone, >, 0);
  td_kept_fini(&made);
}

static void
note_violation(const td_violation *violation, void *data) {
  if (strstr(violation->text, "the tape is damaged: the recording was not ended")) return;
  g_test_message("%s", violation->text);
  g_test_fail();
}

static gboolean
has_cut_pass(td_tape *tape) {
  for (uint64_t i = 0; i < td_tape_info_get(tape)->n_events; i++) {
    uint16_t kind = td_tape_peek(tape, i)->event.kind;
    if (kind == TD_EVENT_graph_task_begin) return FALSE;
    if (kind == TD_EVENT_node_end) return TRUE;
  }
  return FALSE;
}

static guint n_cut_passes, n_steps_told;

static void
check_now(td_kept *self) {
  td_error error = {0};
  uint64_t n_violations;
  td_tape *tape = td_kept_open(self->path);
  assert_ok(td_check_run(tape, note_violation, NULL, &n_violations, &error), &error);
  n_cut_passes += has_cut_pass(tape);
  td_tape_close(tape);
}

static void
tell_and_check(const td_any_event *told, void *data) {
  td_kept *self = data;
  td_kept_tell(told, data);
  if (self->log->len % 500 == 0 && self->keeper) check_now(self);
}

/* Much more than the limit comes in half a second, and the keeper may cut nothing of it. */
static void
tell_fast(const td_any_event *told, void *data) {
  ((td_kept *)data)->ns_apart = 20000;
  tell_and_check(told, data);
}

/* There is a moment soon, so no pass is cut in two. */
static void
test_fast_passes(void) {
  const td_keep_limit limits[] = {{.steps = 7}, {.ns = 20000000}, {.bytes = 20000}};
  for (gsize i = 0; i < G_N_ELEMENTS(limits); i++) {
    td_tape_plan plan = {
        .n_nodes = 30, .n_threads = 1, .n_passes = 100, .trains = true, .seed = 3 + i};
    td_kept made;
    n_cut_passes = 0;
    td_kept_make_with(&made, &plan, limits[i], tell_fast);
    g_assert_cmpuint(n_cut_passes, ==, 0);
    g_assert_cmpuint(made.news.n_events_gone, >, made.log->len / 4);
    td_kept_finish(&made);
    td_kept_judge(&made, made.path);
    td_kept_fini(&made);
  }
}

/* Steps of four passes, which each step event begins. Whatever is gone, it is whole steps. */
static void
tell_long_steps(const td_any_event *told, void *data) {
  td_kept *self = data;
  self->ns_apart = 20000;
  if (told->event.kind == TD_EVENT_step && n_steps_told++ % 4) return;
  td_kept_tell(told, self);
  g_assert_cmpuint(self->news.n_passes_gone % 4, ==, 0);
}

static void
test_whole_steps(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 1, .n_passes = 400, .trains = true, .seed = 3};
  td_kept made;
  n_steps_told = 0;
  td_kept_make_with(&made, &plan, (td_keep_limit){.steps = 7}, tell_long_steps);
  g_assert_cmpuint(made.news.n_steps_gone, >, 20);
  td_kept_finish(&made);
  td_kept_judge(&made, made.path);
  g_assert_cmpuint(made.news.n_steps, ==, 7);
  td_kept_fini(&made);
}

/* If there is no moment without a pass, the tape stays bounded nevertheless. */
static void
test_hanging_pass(void) {
  const td_keep_limit limits[] = {{.steps = 7}, {.ns = 2000000000}, {.bytes = 20000}};
  for (gsize i = 0; i < G_N_ELEMENTS(limits); i++) {
    td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 80, .trains = true, .seed = 5};
    td_kept made;
    td_kept_make_with(&made, &plan, limits[i], tell_hanging);
    g_assert_cmpuint(made.news.n_events_gone, >, made.log->len / 3);
    td_kept_finish(&made);
    td_kept_judge(&made, made.path);
    if (limits[i].steps) g_assert_cmpuint(made.news.n_steps, ==, limits[i].steps);
    td_kept_fini(&made);
  }
}

static uint64_t
count_passes(const char *path) {
  td_tape *tape = td_kept_open(path);
  uint64_t n = td_tape_info_get(tape)->n_by_kind[TD_EVENT_graph_task_begin];
  td_tape_close(tape);
  return n;
}

/* What lives grows beyond the limit. The latest passes stay nevertheless. */
static void
test_large_keyframe(void) {
  td_tape_plan plan = {.n_nodes = 20, .n_threads = 2, .n_passes = 40, .trains = true, .seed = 7};
  td_kept made;
  td_kept_make_with(&made, &plan, (td_keep_limit){.bytes = 5000}, tell_and_leak);
  td_kept_finish(&made);
  td_kept_judge(&made, made.path);
  td_kept_check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_passes_gone, >, 20);
  g_assert_cmpuint(count_passes(made.path), >, 0);
  td_kept_fini(&made);
}

/* A pass that takes most of the limit goes as a whole. */
static void
test_large_passes(void) {
  td_tape_plan plan = {.n_nodes = 300, .n_threads = 2, .n_passes = 4, .trains = true, .seed = 8};
  td_kept made;
  td_kept_make(&made, &plan, (td_keep_limit){.bytes = 1000000});
  td_kept_finish(&made);
  GStatBuf info;
  g_assert_cmpint(g_stat(made.path, &info), ==, 0);
  uint64_t n_bytes = (uint64_t)info.st_size - TD_GAP_RESERVE, limit = n_bytes * 45 / 100;
  td_kept_fini(&made);

  td_kept_make(&made, &plan, (td_keep_limit){.bytes = limit});
  td_kept_finish(&made);
  td_kept_judge(&made, made.path);
  td_kept_check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_passes_gone, ==, 3);
  g_assert_cmpuint(count_passes(made.path), ==, 1);
  td_kept_fini(&made);
}

/* A pass that is larger than the limit is cut in two, and what is left of it breaks no rule. */
static void
test_cut_passes(void) {
  for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
    td_tape_plan plan = {
        .n_nodes = 600, .n_threads = n_threads, .n_passes = 3, .trains = true, .seed = n_threads};
    td_kept made;
    n_cut_passes = 0;
    td_kept_make_with(&made, &plan, (td_keep_limit){.bytes = 20000}, tell_and_check);
    g_assert_cmpuint(n_cut_passes, >, 3);
    td_kept_finish(&made);
    td_kept_judge(&made, made.path);
    td_kept_check_compact(&made, 0);
    td_kept_fini(&made);
  }
}

/* After the last pass the program did nothing for long. That pass stays. */
static void
test_idle(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 10, .trains = true, .seed = 4};
  td_kept made;
  td_kept_make(&made, &plan, (td_keep_limit){.ns = 2000000000});
  for (guint i = 0; i < 20; i++) {
    td_any_event event = {
        .node_new = {.event = {.kind = TD_EVENT_node_new, .size = sizeof event.node_new},
                     .node = 1000000 + i}};
    made.now += 1000000000;
    td_kept_tell(&event, &made);
    td_kept_flush(&made);
    td_kept_follow(&made, false);
  }
  td_kept_finish(&made);
  td_kept_judge(&made, made.path);
  td_kept_check_compact(&made, 0);
  g_assert_cmpuint(made.news.n_passes_gone, ==, 9);
  g_assert_cmpuint(count_passes(made.path), ==, 1);
  td_kept_fini(&made);
}

/* The beginning of a pass over a regular graph may be small beyond belief. The keeper and a dump
 * believe it, because it is no stranger's. */
static void
test_regular_tape(void) {
  td_kept made;
  td_error error = {0};
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 1, .n_passes = 1, .seed = 5};
  td_kept_make(&made, &plan, (td_keep_limit){.steps = 7});
  td_kept_flush(&made);
  td_any_event event = {
      .dependency = {.event = {.kind = TD_EVENT_dependency, .size = sizeof event.dependency},
                     .count = 1}};
  for (guint i = 0; i < 8000000; i++) { /* 32 MiB are always read */
    event.event.time = made.now + i;
    event.dependency.node = 1000 + i;
    if (!td_encoder_add(&made.threads[0].encoder, &event.event)) td_kept_flush(&made);
  }
  td_kept_flush(&made);
  td_tape *tape;
  g_assert_cmpint(td_tape_open(made.path, &tape, &error), ==, TD_UNSUPPORTED);
  td_error_clear(&error);
  g_autofree char *compact = g_strconcat(made.path, ".compact", NULL);
  assert_ok(td_compact(made.path, compact, true, &error), &error);
  g_unlink(compact);
  td_keeper_close(made.keeper);
  made.keeper = NULL;
  td_kept_follow(&made, false);
  td_writer_abandon(made.writer);
  td_kept_fini(&made);
}

/* Nothing goes that fits. */
static void
test_short(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 5, .seed = 5};
  td_kept made;
  td_kept_make(&made, &plan, (td_keep_limit){.steps = 50});
  td_kept_finish(&made);
  td_kept_check_compact(&made, 5);
  g_assert_cmpuint(made.news.n_events_gone, ==, 0);
  td_kept_fini(&made);
}

static td_status
try_to_keep(const char *path) {
  td_keeper *keeper;
  td_error error = {0};
  td_status status = td_keeper_open(path, &(td_keep_limit){.steps = 7}, &keeper, &error);
  if (!status) td_keeper_close(keeper);
  td_error_clear(&error);
  return status;
}

/* Whoever looks while the recorder writes the beginning is not told that there is no room. */
static void
test_beginning(void) {
  td_kept made;
  td_tape_plan plan = {.n_nodes = 3, .n_threads = 1, .n_passes = 1, .seed = 5};
  td_kept_make(&made, &plan, (td_keep_limit){.steps = 7});
  td_kept_finish(&made);
  td_directory directory;
  td_error error = {0};
  assert_ok(td_directory_open(made.path, &directory, &error), &error);
  uint64_t n_begin = directory.gap + sizeof(td_chunk_header);
  td_directory_close(&directory);
  g_autofree char *bytes = NULL, *path = g_strconcat(made.path, ".begun", NULL);
  g_assert_true(g_file_get_contents(made.path, &bytes, NULL, NULL));
  for (uint64_t n = 0; n <= n_begin; n++) {
    g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
    td_status status = try_to_keep(path);
    if (n == n_begin)
      g_assert_cmpint(status, ==, TD_OK);
    else
      g_assert_true(status == TD_NOT_A_TAPE || status == TD_DAMAGED);
  }
  g_unlink(path);
  td_kept_fini(&made);
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
  td_kept made;
  td_error error = {0};
  td_kept_make(&made, &plan, (td_keep_limit){.steps = 1000});
  td_kept_flush(&made);
  td_kept_follow(&made, false);
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
    td_kept_judge(&made, made.path);
  }
  g_assert_cmpuint(made.n_shortened, ==, 0);
  td_kept_finish(&made);
  td_kept_check_compact(&made, 3);
  td_kept_fini(&made);
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
  td_kept made;
  td_error error = {0};
  td_kept_make(&made, &plan, (td_keep_limit){.steps = 1000});
  td_kept_flush(&made);
  td_kept_follow(&made, false);
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
  td_tape *tape = td_kept_open(made.path);
  g_assert_nonnull(td_tape_info_get(tape)->damage);
  g_assert_cmpuint(td_tape_info_get(tape)->n_events, >, 0);
  td_tape_close(tape);
  td_writer_abandon(made.writer);
  td_kept_fini(&made);
}

/* A gap may lie: it leads backwards, to itself, or beyond the end. */
static void
test_lying_gaps(void) {
  const uint64_t leads[] = {0, 8, UINT64_MAX, TD_GAP_RESERVE / 2, TD_GAP_RESERVE + 5000};
  for (gsize i = 0; i < G_N_ELEMENTS(leads); i++) {
    td_tape_plan plan = {.n_nodes = 20, .n_threads = 2, .n_passes = 3, .seed = 3};
    td_kept made;
    td_error error = {0};
    td_kept_make(&made, &plan, (td_keep_limit){.steps = 1000});
    td_kept_finish(&made);
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
    td_kept_fini(&made);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/keeper/steps", test_steps);
  g_test_add_func("/keeper/late", test_late);
  g_test_add_func("/keeper/bytes", test_bytes);
  g_test_add_func("/keeper/time", test_time);
  g_test_add_func("/keeper/fast_passes", test_fast_passes);
  g_test_add_func("/keeper/whole_steps", test_whole_steps);
  g_test_add_func("/keeper/hanging_pass", test_hanging_pass);
  g_test_add_func("/keeper/large_keyframe", test_large_keyframe);
  g_test_add_func("/keeper/large_passes", test_large_passes);
  g_test_add_func("/keeper/cut_passes", test_cut_passes);
  g_test_add_func("/keeper/idle", test_idle);
  g_test_add_func("/keeper/regular_tape", test_regular_tape);
  g_test_add_func("/keeper/short", test_short);
  g_test_add_func("/keeper/beginning", test_beginning);
  g_test_add_func("/keeper/no_room", test_no_room);
  g_test_add_func("/keeper/damage", test_damage);
  g_test_add_func("/keeper/lying_gaps", test_lying_gaps);
  return g_test_run();
}
