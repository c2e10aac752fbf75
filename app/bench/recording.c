/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/recording.h"

#include "app/bench/apart.h"
#include "app/bench/figure.h"
#include "app/bench/graphs.h"
#include "app/common/leftovers.h"
#include "engine/base/alloc.h"
#include "engine/replay/segments.h"
#include "engine/trace/contents.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/* Large enough for a whole measured burst, so that the recorder need not keep up. */
#define RING_BYTES (64u << 20)

static char *
words_of(td_error *error) {
  char *words = g_strdup(td_error_text(error));
  td_error_clear(error);
  return words;
}

char *
td_bench_record_begin(td_bench_recording *recording) {
  recording->path = g_build_filename(g_get_tmp_dir(), "tapedeck-bench-XXXXXX", NULL);
  int fd = g_mkstemp(recording->path);
  if (fd < 0) return g_strdup("no temporary file");
  close(fd);
  td_leftovers_add(recording->path);
  td_recorder_options options = {.engine = "tapedeck",
                                 .version = TD_VERSION,
                                 .source = "bench",
                                 .ring_bytes = RING_BYTES,
                                 .keep = recording->keep};
  td_error error = {0};
  td_status status =
      td_recorder_start(recording->path, true, &options, &recording->recorder, &error);
  return status ? words_of(&error) : NULL;
}

char *
td_bench_record_end(td_bench_recording *recording) {
  td_error error = {0};
  return td_recorder_stop(recording->recorder, 0, &error) ? words_of(&error) : NULL;
}

void
td_bench_record_remove(td_bench_recording *recording) {
  g_unlink(recording->path);
  td_leftovers_forget(recording->path);
  g_clear_pointer(&recording->path, g_free);
}

static void
run_passes(const td_bench_tape *tape) {
  td_tensor *end = td_bench_net(tape->n_nodes);
  for (uint32_t i = 0; i < tape->n_passes; i++) {
    td_bench_backward(end, !tape->trains);
    if (!tape->trains || i + 1 == tape->n_passes) continue;
    td_tensor_unref(end);
    end = td_bench_net(tape->n_nodes);
  }
  td_tensor_unref(end);
}

static char *
add_contents(td_bench_tape *tape) {
  td_error error = {0};
  const char *path = tape->recording.path;
  double begin = td_bench_now();
  td_status status = tape->is_cut ? td_segments_add(path, TD_SEGMENT_EVENTS, &error)
                                  : td_contents_add(path, &error);
  tape->contents_ms = (td_bench_now() - begin) * 1e3;
  return status ? words_of(&error) : NULL;
}

static char *
open_tape(td_bench_tape *tape) {
  td_error error = {0};
  double begin = td_bench_now();
  td_status status = td_replay_open(tape->recording.path, NULL, NULL, &tape->replay, &error);
  tape->open_ms = (td_bench_now() - begin) * 1e3;
  return status ? words_of(&error) : NULL;
}

static char *
record_tape(td_bench_tape *tape) {
  char *trouble = td_bench_record_begin(&tape->recording);
  if (trouble) return trouble;
  run_passes(tape);
  return td_bench_record_end(&tape->recording);
}

char *
td_bench_tape_make(td_bench_tape *tape) {
  char *trouble = record_tape(tape);
  if (!trouble) trouble = add_contents(tape);
  return trouble ? trouble : open_tape(tape);
}

/* "path\ncontents_ms trouble" */
static char *
record_cb(void *data) {
  td_bench_tape *tape = data;
  g_autofree char *trouble = record_tape(tape);
  if (!trouble) trouble = add_contents(tape);
  return g_strdup_printf("%s\n%.17g %s", tape->recording.path, tape->contents_ms,
                         trouble ? trouble : "");
}

char *
td_bench_tape_record_apart(td_bench_tape *tape) {
  char *path = td_bench_apart(record_cb, tape);
  char *end = path ? strchr(path, '\n') : NULL;
  if (!end) {
    g_free(path);
    return g_strdup("the recording's process died");
  }
  tape->recording.path = path;
  *end = '\0';
  td_leftovers_add(path);
  tape->contents_ms = strtod(end + 1, &end);
  return end[0] && end[1] ? g_strdup(end + 1) : NULL;
}

char *
td_bench_tape_make_apart(td_bench_tape *tape) {
  char *trouble = td_bench_tape_record_apart(tape);
  return trouble ? trouble : open_tape(tape);
}

void
td_bench_tape_remove(td_bench_tape *tape) {
  if (tape->replay) td_replay_close(tape->replay);
  if (tape->recording.path) td_bench_record_remove(&tape->recording);
}
