/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A window on a long tape: its first picture, and dragging its slider. The window runs in a process
 * of its own: only so is its memory known. */
#include "app/bench/apart.h"
#include "app/bench/cuts.h"
#include "app/bench/drag.h"
#include "app/bench/figure.h"
#include "app/bench/recording.h"

#include <glib.h>
#include <sys/resource.h>

/* As in tapes.c: 10 million events. */
#define NODES 200000
#define SMALL_NODES 500
#define PASSES 4

typedef struct dragged {
  bool tried;
  char *trouble; /* (owned) why there is none */
  td_drag drag;
  double memory_mb;
} dragged;

/* Made for the first figure that wants it. */
static dragged ten_million, hundred_million;

/* "open_ms frame_ms worst_ms memory_mb trouble" */
static char *
drag_cb(void *path) {
  td_drag drag = {0};
  struct rusage usage = {0};
  g_setenv("XDG_CONFIG_HOME", "/dev/null", TRUE); /* no trace in the person's list of tapes */
  g_autofree char *trouble = td_drag_slider(path, td_bench_size(160, 16), &drag);
  getrusage(RUSAGE_SELF, &usage);
  return g_strdup_printf("%.17g %.17g %.17g %.17g %s", drag.open_ms, drag.frame_ms, drag.worst_ms,
                         (double)usage.ru_maxrss / 1024, trouble ? trouble : "");
}

static char *
drag_tape(const char *path, dragged *self) {
  g_autofree char *text = td_bench_apart(drag_cb, (void *)path);
  if (!text) return g_strdup("the window's process died");
  char *rest;
  self->drag.open_ms = strtod(text, &rest);
  self->drag.frame_ms = strtod(rest, &rest);
  self->drag.worst_ms = strtod(rest, &rest);
  self->memory_mb = strtod(rest, &rest);
  return rest[0] && rest[1] ? g_strdup(rest + 1) : NULL;
}

static char *
drag_ten_million(void) {
  td_bench_tape tape = {
      .n_nodes = td_bench_size(NODES, SMALL_NODES), .n_passes = PASSES, .is_cut = true};
  char *trouble = td_bench_tape_record_apart(&tape);
  if (!trouble) trouble = drag_tape(tape.recording.path, &ten_million);
  td_bench_tape_remove(&tape);
  return trouble;
}

static char *
drag_hundred_million(void) {
  char *trouble;
  const char *path = td_bench_cuts_tape(&trouble);
  return path ? drag_tape(path, &hundred_million) : g_strdup(trouble);
}

static void
measure(td_measured *measured, dragged *self, char *(*drag)(void), const double *value) {
  bool has_display = g_getenv("DISPLAY") || g_getenv("WAYLAND_DISPLAY");
  if (!self->tried) self->trouble = has_display ? drag() : g_strdup("no display");
  self->tried = true;
  measured->skipped = g_strdup(self->trouble);
  measured->value = *value;
}

void
td_bench_drag_frame(td_measured *measured) {
  measure(measured, &ten_million, drag_ten_million, &ten_million.drag.frame_ms);
}

void
td_bench_drag_worst(td_measured *measured) {
  measure(measured, &ten_million, drag_ten_million, &ten_million.drag.worst_ms);
}

void
td_bench_drag_memory(td_measured *measured) {
  measure(measured, &ten_million, drag_ten_million, &ten_million.memory_mb);
}

void
td_bench_window_10m(td_measured *measured) {
  measure(measured, &ten_million, drag_ten_million, &ten_million.drag.open_ms);
}

void
td_bench_window_100m(td_measured *measured) {
  measure(measured, &hundred_million, drag_hundred_million, &hundred_million.drag.open_ms);
}

void
td_bench_window_100m_frame(td_measured *measured) {
  measure(measured, &hundred_million, drag_hundred_million, &hundred_million.drag.frame_ms);
}

void
td_bench_window_100m_memory(td_measured *measured) {
  measure(measured, &hundred_million, drag_hundred_million, &hundred_million.memory_mb);
}
