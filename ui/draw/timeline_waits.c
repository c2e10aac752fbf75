/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/translate.h"
#include "engine/profile/report/report_keys.h"
#include "ui/draw/timeline.h"
#include "ui/geometry/format.h"

/* So many holders of a wait get an arrow and words, the first ones first. */
enum { HOLDERS_SHOWN = 3 };

/* Of so many threads at most, the wait at the playhead is shown. */
enum { THREADS_MAX = 256 };

static void
wait_cb(const td_held_wait *wait, void *data) {
  td_timeline *timeline = data;
  TD_GROW(timeline->waits, timeline->n_waits, timeline->wait_capacity);
  timeline->waits[timeline->n_waits++] = (td_timeline_wait){*wait, timeline->n_stretches};
  for (uint32_t i = 0; i < wait->n_stretches; i++) {
    TD_GROW(timeline->stretches, timeline->n_stretches, timeline->stretch_capacity);
    timeline->stretches[timeline->n_stretches++] = wait->stretches[i];
  }
}

void
td_timeline_watch_waits(td_timeline *timeline, td_held_waits *waits) {
  *waits = (td_held_waits){.listener = wait_cb, .data = timeline};
}

/* Waits are in the order of their ends. A thread is in one at a time. */
const td_timeline_wait *
td_timeline_wait_at(const td_timeline *timeline, uint32_t thread, uint64_t from_ns,
                    uint64_t to_ns) {
  size_t first;
  TD_BISECT(first, 0, timeline->n_waits, timeline->waits[first].wait.end_ns < from_ns);
  for (size_t i = first; i < timeline->n_waits; i++) {
    const td_held_wait *wait = &timeline->waits[i].wait;
    if (wait->thread == thread) return wait->begin_ns <= to_ns ? &timeline->waits[i] : NULL;
  }
  return NULL;
}

/* ---- words ---- */

static char *
append(char *text, char *more) {
  char *both = td_format("%s; %s", text, more);
  free(text);
  free(more);
  return both;
}

static char *
dup_stretch(const td_timeline *timeline, const td_wait_stretch *stretch) {
  char *thread = td_report_thread_name(timeline->catalog, stretch->holder);
  char *held = td_format_ns((double)stretch->held_ns);
  char *text = td_format(td_translate(stretch->is_bound ? TD_N("thread %s held it for at most %s")
                                                        : TD_N("thread %s held it for %s")),
                         thread, held);
  free(thread);
  free(held);
  return text;
}

char *
td_timeline_wait_text(const td_timeline *timeline, const td_timeline_wait *wait) {
  char *lock = td_report_lock_name(timeline->catalog, wait->wait.lock, wait->wait.object);
  char *took = td_format_ns((double)wait->wait.ns);
  char *text = td_format(td_translate("waits for the lock of %s, %s"), lock, took);
  uint64_t late_ns = 0;
  for (uint32_t i = 0; i < wait->wait.n_stretches; i++) {
    const td_wait_stretch *stretch = &timeline->stretches[wait->first_stretch + i];
    late_ns += stretch->late_ns;
    if (i < HOLDERS_SHOWN && stretch->holder != TD_NONE)
      text = append(text, dup_stretch(timeline, stretch));
  }
  char *late = td_format_ns((double)late_ns);
  if (late_ns) text = append(text, td_format(td_translate("woke %s late"), late));
  free(lock);
  free(took);
  free(late);
  return text;
}

char *
td_timeline_wait_text_at(const td_timeline *timeline, const td_timeline_view *view, double x,
                         double y) {
  if (x < TD_TIMELINE_GUTTER || y < TD_TIMELINE_AXIS) return NULL;
  size_t lane = td_lane_at(timeline, y + view->scroll_y);
  if (lane == SIZE_MAX || timeline->lanes[lane].kind != TD_LANE_thread) return NULL;
  double slack = 2 * td_timeline_visible_ns(view) / td_timeline_axis_width(view);
  double ns = td_timeline_time_at(view, x);
  const td_timeline_wait *wait =
      td_timeline_wait_at(timeline, timeline->lanes[lane].id, (uint64_t)TD_MAX(ns - slack, 0),
                          (uint64_t)TD_MAX(ns + slack, 0));
  return wait ? td_timeline_wait_text(timeline, wait) : NULL;
}

/* ---- arrows ---- */

/* From the wait to where a holder had the lock first. */
static void
draw_arrow(const td_timeline_drawing *draw, const td_held_wait *wait,
           const td_wait_stretch *stretch) {
  const td_timeline *timeline = draw->timeline;
  uint32_t n = timeline->catalog->n_threads;
  if (stretch->holder >= n || wait->thread >= n) return;
  const td_lane *from = &timeline->lanes[wait->thread], *to = &timeline->lanes[stretch->holder];
  if (from->height <= 0 || to->height <= 0) return;
  double down = to->y > from->y ? 1 : -1;
  double x = td_timeline_x(draw->view, (double)stretch->first_ns);
  double y0 = down > 0 ? from->y + from->height - TD_LANE_PAD : from->y + TD_LANE_PAD,
         y1 = down > 0 ? td_lane_first_row(to) : to->y + to->height - TD_LANE_PAD;
  td_theme_source(draw->cr, draw->theme->foreground);
  cairo_set_line_width(draw->cr, 1.6);
  cairo_move_to(draw->cr, x, y0);
  cairo_line_to(draw->cr, x, y1 - 5 * down);
  cairo_stroke(draw->cr);
  cairo_move_to(draw->cr, x, y1);
  cairo_line_to(draw->cr, x - 4, y1 - 7 * down);
  cairo_line_to(draw->cr, x + 4, y1 - 7 * down);
  cairo_close_path(draw->cr);
  cairo_fill(draw->cr);
}

static void
draw_wait(const td_timeline_drawing *draw, const td_timeline_wait *wait) {
  const td_lane *lane = &draw->timeline->lanes[wait->wait.thread];
  double begin = td_timeline_x(draw->view, (double)wait->wait.begin_ns),
         end = td_timeline_x(draw->view, (double)wait->wait.end_ns);
  if (lane->height <= 0) return;
  td_shape_rounded(draw->cr,
                   (td_box){begin - 1, td_lane_first_row(lane) - 1, TD_MAX(end - begin, 2) + 2,
                            lane->y + lane->height - TD_LANE_PAD - td_lane_first_row(lane)},
                   4);
  td_theme_source(draw->cr, draw->theme->warning);
  cairo_set_line_width(draw->cr, 2);
  cairo_stroke(draw->cr);
  for (uint32_t i = 0; i < TD_MIN(wait->wait.n_stretches, (uint32_t)HOLDERS_SHOWN); i++)
    draw_arrow(draw, &wait->wait, &draw->timeline->stretches[wait->first_stretch + i]);
}

void
td_timeline_draw_waits(const td_timeline_drawing *draw) {
  const td_timeline *timeline = draw->timeline;
  uint64_t now = (uint64_t)TD_MAX(draw->view->now_ns, 0);
  cairo_save(draw->cr);
  cairo_rectangle(draw->cr, TD_TIMELINE_GUTTER, 0,
                  draw->view->width - TD_TIMELINE_GUTTER - TD_TIMELINE_RIGHT, timeline->height);
  cairo_clip(draw->cr);
  for (uint32_t i = 0; i < TD_MIN(timeline->catalog->n_threads, (uint32_t)THREADS_MAX); i++) {
    const td_timeline_wait *wait = td_timeline_wait_at(timeline, i, now, now);
    if (wait) draw_wait(draw, wait);
  }
  cairo_restore(draw->cr);
}
