/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reading: a tape of 10 million events, recorded from the engine on a graph of 200,000 nodes. */
#include "app/bench/figure.h"
#include "app/bench/graphs.h"
#include "app/bench/recording.h"

#include "engine/base/alloc.h"
#include "engine/replay/replay.h"

#include <glib.h>
#include <string.h>

#define NODES 200000
#define EVENTS 10000000u
#define SEEKS 2000

/* Made for the first figure that wants it, removed with the last. */
static struct {
  bool made;
  char *trouble; /* (owned) why there is none */
  td_bench_recording recording;
  td_replay *replay; /* (owned) */
  double open_ms, read_ms;
} tape;

static void
remove_tape(void) {
  if (tape.replay) td_replay_close(tape.replay);
  if (tape.made) td_bench_record_remove(&tape.recording);
}

static char *
record_passes(void) {
  char *trouble = td_bench_record_begin(&tape.recording);
  if (trouble) return trouble;
  tape.made = true;
  atexit(remove_tape);
  td_tensor *end = td_bench_net(NODES);
  const uint32_t events_per_pass = NODES * 14;
  for (uint32_t events = 0; events < EVENTS; events += events_per_pass)
    td_bench_backward(end, true);
  td_tensor_unref(end);
  return td_bench_record_end(&tape.recording);
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
  if (!tape.made && !tape.trouble) {
    tape.trouble = record_passes();
    td_error error = {0};
    double begin = td_bench_now();
    if (!tape.trouble && td_replay_open(tape.recording.path, NULL, NULL, &tape.replay, &error))
      tape.trouble = g_strdup(td_error_text(&error));
    tape.open_ms = (td_bench_now() - begin) * 1e3;
    td_error_clear(&error);
    tape.read_ms = read_file_ms(tape.recording.path);
  }
  measured->skipped = g_strdup(tape.trouble);
  return !tape.trouble;
}

void
td_bench_bytes_per_event(td_measured *measured) {
  if (!tape_ready(measured)) return;
  const td_tape_info *info = td_tape_info_get(td_replay_tape(tape.replay));
  measured->value = (double)info->file_bytes / (double)info->n_events;
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
    if (info->n_by_kind[kind])
      measured->floor_value += (double)info->n_by_kind[kind] * td_event_type_get(kind)->size;
  measured->floor_value /= (double)info->n_events;
}

void
td_bench_open_10m(td_measured *measured) {
  if (!tape_ready(measured)) return;
  uint64_t n_events = td_replay_length(tape.replay);
  measured->value = tape.open_ms * 1e7 / (double)n_events;
  measured->floor_value = tape.read_ms * 1e7 / (double)n_events;
}

void
td_bench_seek_p99(td_measured *measured) {
  if (!tape_ready(measured)) return;
  double *took = TD_NEW_N(double, SEEKS);
  uint64_t random = 88172645463325252u, length = td_replay_length(tape.replay);
  for (int i = 0; i < SEEKS; i++) {
    random ^= random << 13; /* xorshift64 (Marsaglia) */
    random ^= random >> 7;
    random ^= random << 17;
    double begin = td_bench_now();
    td_error error = {0};
    if (td_replay_seek(tape.replay, random % (length + 1), &error)) measured->value = 1e30;
    td_error_clear(&error);
    took[i] = (td_bench_now() - begin) * 1e3;
  }
  measured->value = TD_MAX(measured->value, td_bench_p99(took, SEEKS));
  free(took);
  size_t n_bytes = NODES * sizeof(td_node_now);
  void *copy = TD_NEW_N(char, n_bytes);
  double best;
  TD_BEST_OF(5, best, memcpy(copy, td_replay_state(tape.replay)->nodes, n_bytes));
  free(copy);
  measured->floor_value = best * 1e3;
}
