/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/walks.h"

#include "app/bench/apart.h"
#include "app/bench/walk.h"
#include "engine/trace/tape.h"

#include <glib.h>
#include <stdio.h>

static void
print(const td_walked *walked) {
  const td_iterations *seen = &walked->iterations;
  printf("%-26s %9.1f %9.1f %9.1f %5u", walked->what, seen->longest_ms, seen->processor_ms,
         walked->took_ms, seen->n_over);
  if (walked->n_frames)
    printf(" %9.1f %9.1f", walked->n_frames / walked->whole_ms * 1e3,
           seen->sum_ms / walked->n_frames);
  printf("   %s\n", seen->n_over ? "DOES NOT HOLD" : "holds");
  fflush(stdout);
}

static void
print_head(const char *path) {
  printf("%s: no iteration of the main loop over %d ms of processor time\n", path,
         TD_ITERATION_LIMIT_MS);
  printf("%-26s %9s %9s %9s %5s %9s %9s\n", "", "longest", "processor", "took", "over", "frames",
         "a frame");
  printf("%-26s %9s %9s %9s %5s %9s %9s\n", "", "ms", "ms", "ms", "", "in a s", "ms");
  fflush(stdout);
}

static char *
walk_cb(void *path) {
  g_setenv("XDG_CONFIG_HOME", "/dev/null", TRUE); /* no trace in the person's list of tapes */
  char *trouble = td_walk_window(path, print);
  return trouble ? trouble : g_strdup("");
}

static char *
dup_trouble(const char *path) {
  td_tape *tape;
  td_error error = {0};
  if (td_tape_open(path, &tape, &error) == TD_OK) {
    td_tape_close(tape);
    return NULL;
  }
  char *why = g_strdup(td_error_text(&error));
  td_error_clear(&error);
  return why;
}

char *
td_bench_walk(const char *path) {
  char *why = dup_trouble(path);
  if (why) return why;
  print_head(path);
  char *trouble = td_bench_apart(walk_cb, (void *)path);
  if (!trouble) return g_strdup("the window's process died");
  if (*trouble) return trouble;
  g_free(trouble);
  return NULL;
}
