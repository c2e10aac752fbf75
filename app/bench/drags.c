/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Dragging the slider of a window over 10 million events. The window runs in a process of its own:
 * only so is its memory known. */
#include "app/bench/apart.h"
#include "app/bench/figure.h"
#include "app/bench/recording.h"
#include "app/drag.h"

#include <glib.h>
#include <sys/resource.h>

/* As in tapes.c: 10 million events. */
#define NODES 200000
#define PASSES 4

/* Made for the first figure that wants it. */
static struct {
  bool tried;
  char *trouble; /* (owned) why there is none */
  td_drag drag;
  double memory_mb;
} dragged;

/* "frame_ms worst_ms memory_mb trouble" */
static char *
drag_cb(void *path) {
  td_drag drag = {0};
  struct rusage usage = {0};
  g_setenv("XDG_CONFIG_HOME", "/dev/null", TRUE); /* no trace in the person's list of tapes */
  g_autofree char *trouble = td_drag_slider(path, &drag);
  getrusage(RUSAGE_SELF, &usage);
  return g_strdup_printf("%.17g %.17g %.17g %s", drag.frame_ms, drag.worst_ms,
                         (double)usage.ru_maxrss / 1024, trouble ? trouble : "");
}

static char *
drag_tape(const char *path) {
  g_autofree char *text = td_bench_apart(drag_cb, (void *)path);
  if (!text) return g_strdup("the window's process died");
  char *rest;
  dragged.drag.frame_ms = strtod(text, &rest);
  dragged.drag.worst_ms = strtod(rest, &rest);
  dragged.memory_mb = strtod(rest, &rest);
  return rest[0] && rest[1] ? g_strdup(rest + 1) : NULL;
}

static char *
drag_new_tape(void) {
  if (!g_getenv("DISPLAY") && !g_getenv("WAYLAND_DISPLAY")) return g_strdup("no display");
  td_bench_tape tape = {.n_nodes = NODES, .n_passes = PASSES};
  char *trouble = td_bench_tape_record_apart(&tape);
  if (!trouble) trouble = drag_tape(tape.recording.path);
  td_bench_tape_remove(&tape);
  return trouble;
}

static void
measure(td_measured *measured, const double *value) {
  if (!dragged.tried) {
    dragged.tried = true;
    dragged.trouble = drag_new_tape();
  }
  measured->skipped = g_strdup(dragged.trouble);
  measured->value = *value;
}

void
td_bench_drag_frame(td_measured *measured) {
  measure(measured, &dragged.drag.frame_ms);
}

void
td_bench_drag_worst(td_measured *measured) {
  measure(measured, &dragged.drag.worst_ms);
}

void
td_bench_drag_memory(td_measured *measured) {
  measure(measured, &dragged.memory_mb);
}
