/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/recording.h"

#include "app/leftovers.h"
#include "engine/base/alloc.h"

#include <glib.h>
#include <glib/gstdio.h>

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
  td_recorder_options options = {
      .engine = "tapedeck", .version = TD_VERSION, .source = "bench", .ring_bytes = RING_BYTES};
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
  g_free(recording->path);
}
