/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reading: a tape of 10 million events, recorded from the engine on a graph of 200,000 nodes. */
#include "app/bench/figure.h"
#include "app/bench/recording.h"
#include "app/bench/scale.h"

#include "engine/base/alloc.h"
#include "engine/profile/check/check.h"
#include "engine/profile/report/report.h"

#include <glib.h>
#include <string.h>

#define NODES 200000
#define SMALL_NODES 500
#define PASSES 4
#define SEEKS 2000
#define NODES_OF_STEP 200
#define EVENTS_PER_NODE (14 * PASSES)

/* Made for the first figure that wants it, removed with the last. */
static struct {
  bool tried;
  char *trouble; /* (owned) why there is none */
  td_bench_tape tape;
  double read_ms;
} made;

static void
remove_tape(void) {
  td_bench_tape_remove(&made.tape);
}

/* One pass over the file's bytes: no reader can be faster. */
static double
read_file_ms(const char *path) {
  g_autofree char *bytes = NULL;
  gsize n_bytes = 0;
  double begin = td_bench_now();
  if (!g_file_get_contents(path, &bytes, &n_bytes, NULL)) return 0;
  unsigned sum = 0;
  for (gsize i = 0; i < n_bytes; i += 64)
    sum += (unsigned char)bytes[i];
  __asm__ volatile("" : "+r"(sum));
  return (td_bench_now() - begin) * 1e3;
}

static bool
tape_ready(td_measured *measured) {
  if (!made.tried) {
    made.tried = true;
    atexit(remove_tape);
    made.tape = (td_bench_tape){.n_nodes = td_bench_size(NODES, SMALL_NODES), .n_passes = PASSES};
    made.trouble = td_bench_tape_make(&made.tape);
    if (!made.trouble) made.read_ms = read_file_ms(made.tape.recording.path);
  }
  measured->skipped = g_strdup(made.trouble);
  return !made.trouble;
}

void
td_bench_bytes_per_event(td_measured *measured) {
  if (!tape_ready(measured)) return;
  const td_tape_info *info = td_tape_info_get(td_replay_tape(made.tape.replay));
  measured->value = (double)info->file_bytes / (double)info->n_events;
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
    if (info->n_by_kind[kind])
      measured->floor_value += (double)info->n_by_kind[kind] * td_event_type_get(kind)->size;
  measured->floor_value /= (double)info->n_events;
}

void
td_bench_open_10m(td_measured *measured) {
  if (!tape_ready(measured)) return;
  uint64_t n_events = td_replay_end(made.tape.replay);
  measured->value = made.tape.open_ms * 1e7 / (double)n_events;
  measured->floor_value = made.read_ms * 1e7 / (double)n_events;
}

void
td_bench_contents_10m(td_measured *measured) {
  if (!tape_ready(measured)) return;
  double per_10m = 1e7 / (double)td_replay_end(made.tape.replay);
  measured->value = made.tape.contents_ms * per_10m;
  measured->floor_value = made.read_ms * per_10m;
}

void
td_bench_open_contents_10m(td_measured *measured) {
  if (!tape_ready(measured)) return;
  double per_10m = 1e7 / (double)td_replay_end(made.tape.replay), begin = td_bench_now();
  td_tape *tape;
  if (td_tape_open(made.tape.recording.path, &tape, NULL)) {
    measured->skipped = g_strdup("the tape cannot be opened again");
    return;
  }
  measured->value = (td_bench_now() - begin) * 1e3 * per_10m;
  measured->floor_value = made.read_ms * per_10m;
  td_tape_close(tape);
}

static void
decode(td_tape *tape) {
  td_segment whole = td_tape_whole(tape);
  unsigned sum = 0;
  td_tape_begin_pass(tape, &whole);
  for (uint64_t seq = whole.first; seq < whole.end; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    sum += event ? event->event.kind : 0;
  }
  __asm__ volatile("" : "+r"(sum));
  td_tape_end_pass(tape);
}

static void
make_report(td_tape *tape) {
  const td_report_wish wish = {.by = TD_REPORT_BY_op, .graph_task = TD_NONE};
  td_report report;
  td_report_make(tape, &wish, &report, NULL);
  td_report_fini(&report);
}

void
td_bench_report_10m(td_measured *measured) {
  if (!tape_ready(measured)) return;
  td_tape *tape = td_replay_tape(made.tape.replay);
  double per_10m = 1e10 / (double)td_replay_end(made.tape.replay), report, pass;
  measured->value = measured->floor_value = 1e30;
  for (int round = 0; round < 3; round++) {
    TD_BEST_OF(1, pass, decode(tape));
    TD_BEST_OF(1, report, make_report(tape));
    measured->floor_value = TD_MIN(measured->floor_value, pass * per_10m);
    measured->value = TD_MIN(measured->value, report * per_10m);
  }
}

static char *
seek_p99_ms(td_replay *replay, double *value) {
  uint32_t n = td_bench_size(SEEKS, 100);
  double took[SEEKS];
  uint64_t random = 88172645463325252u, length = td_replay_end(replay);
  td_error error = {0};
  td_status status = TD_OK;
  for (uint32_t i = 0; i < n && !status; i++) {
    random ^= random << 13; /* xorshift64 (Marsaglia) */
    random ^= random >> 7;
    random ^= random << 17;
    double begin = td_bench_now();
    status = td_replay_seek(replay, random % (length + 1), &error);
    took[i] = (td_bench_now() - begin) * 1e3;
  }
  *value = td_bench_p99(took, n);
  char *trouble = status ? g_strdup(td_error_text(&error)) : NULL;
  td_error_clear(&error);
  return trouble;
}

void
td_bench_seek_p99(td_measured *measured) {
  if (!tape_ready(measured)) return;
  measured->skipped = seek_p99_ms(made.tape.replay, &measured->value);
  size_t n_bytes = td_bench_size(NODES, SMALL_NODES) * sizeof(td_node_now);
  char *nodes = TD_NEW_N(char, n_bytes), *copy = TD_NEW_N(char, n_bytes);
  double best;
  memset(nodes, 1, n_bytes);
  TD_BEST_OF(5, best, memcpy(copy, nodes, n_bytes));
  free(nodes);
  free(copy);
  measured->floor_value = best * 1e3;
}

char *
td_bench_scale_open(uint32_t n, double *value) {
  td_bench_tape tape = {.n_nodes = n / EVENTS_PER_NODE, .n_passes = PASSES};
  char *trouble = td_bench_tape_make_apart(&tape);
  *value = tape.open_ms;
  td_bench_tape_remove(&tape);
  return trouble;
}

char *
td_bench_scale_open_steps(uint32_t n, double *value) {
  td_bench_tape tape = {.n_nodes = NODES_OF_STEP, .n_passes = n, .trains = true};
  char *trouble = td_bench_tape_make_apart(&tape);
  *value = tape.open_ms;
  td_bench_tape_remove(&tape);
  return trouble;
}

char *
td_bench_scale_seek(uint32_t n, double *value) {
  td_bench_tape tape = {.n_nodes = n, .n_passes = PASSES};
  char *trouble = td_bench_tape_make_apart(&tape);
  if (!trouble) trouble = seek_p99_ms(tape.replay, value);
  td_bench_tape_remove(&tape);
  return trouble;
}

static void
ignore_violation(const td_violation *violation, void *data) {
}

char *
td_bench_scale_check(uint32_t n, double *value) {
  td_bench_tape tape = {.n_nodes = n / EVENTS_PER_NODE, .n_passes = PASSES};
  char *trouble = td_bench_tape_make_apart(&tape);
  td_error error = {0};
  uint64_t n_violations;
  double begin = td_bench_now();
  if (!trouble &&
      td_check_run(td_replay_tape(tape.replay), ignore_violation, NULL, &n_violations, &error))
    trouble = g_strdup(td_error_text(&error));
  *value = (td_bench_now() - begin) * 1e3;
  td_error_clear(&error);
  td_bench_tape_remove(&tape);
  return trouble;
}
