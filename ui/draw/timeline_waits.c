/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/translate.h"
#include "engine/profile/report/report_keys.h"
#include "ui/draw/timeline.h"
#include "ui/geometry/format.h"

/* So many holders of a wait get an arrow and words, the first ones first. */
enum { HOLDERS_SHOWN = 3 };

/* Of so many threads at most, the wait at the playhead is shown. Of threads that sleep, only the
 * chosen one. */
enum { THREADS_MAX = 256 };

static td_timeline_waits *
waits_of(td_timeline *timeline, uint32_t thread) {
  TD_REACH(timeline->waits_of, timeline->n_waits_of, thread);
  return &timeline->waits_of[thread];
}

static void
wait_cb(const td_held_wait *wait, void *data) {
  td_timeline *timeline = data;
  td_timeline_waits *waits = waits_of(timeline, wait->thread);
  TD_GROW(waits->items, waits->n, waits->capacity);
  waits->items[waits->n++] = (td_timeline_wait){*wait, timeline->n_stretches};
  for (uint32_t i = 0; i < wait->n_stretches; i++) {
    TD_GROW(timeline->stretches, timeline->n_stretches, timeline->stretch_capacity);
    timeline->stretches[timeline->n_stretches++] = wait->stretches[i];
  }
}

void
td_timeline_watch_waits(td_timeline *timeline, td_held_waits *waits, td_thread_waits *others) {
  *waits = (td_held_waits){.listener = wait_cb, .data = timeline};
  *others = (td_thread_waits){.listener = wait_cb, .data = timeline};
}

void
td_timeline_forget_waits(td_timeline *timeline) {
  for (uint32_t i = 0; i < timeline->n_waits_of; i++)
    free(timeline->waits_of[i].items);
  free(timeline->waits_of);
  free(timeline->stretches);
}

/* Of waits inside one another, the inner one ends first. */
const td_timeline_wait *
td_timeline_wait_at(const td_timeline *timeline, uint32_t thread, uint64_t from_ns,
                    uint64_t to_ns) {
  if (thread >= timeline->n_waits_of) return NULL;
  const td_timeline_waits *waits = &timeline->waits_of[thread];
  size_t first;
  TD_BISECT(first, 0, waits->n, waits->items[first].wait.end_ns < from_ns);
  bool is_in = first < waits->n && waits->items[first].wait.begin_ns <= to_ns;
  return is_in ? &waits->items[first] : NULL;
}

/* ---- words ---- */

static char *
append(char *text, char *more) {
  char *both = td_format("%s; %s", text, more);
  free(text);
  free(more);
  return both;
}

/* What a thread waits for. */
static char *
dup_aim(const td_timeline *timeline, const td_held_wait *wait, const char *took) {
  const td_catalog *catalog = timeline->catalog;
  char *name, *text;
  switch (wait->kind) {
  case TD_WAIT_TASK:
    name = wait->object == TD_NONE ? td_dup_string(td_translate("its queue"))
                                   : td_report_queue_name(catalog, wait->object);
    text = td_format(td_translate("sleeps until a task comes into %s, %s"), name, took);
    break;
  case TD_WAIT_STREAM:
    name = td_report_stream_name(catalog, wait->device, wait->stream);
    text = td_format(td_translate("waits for %s, %s"), name, took);
    break;
  case TD_WAIT_COLLECTIVE:
    name = td_dup_string(td_translate("other processes"));
    text = td_format(td_translate("waits for %s, %s"), name, took);
    break;
  default:
    name = td_report_lock_name(catalog, wait->lock, wait->object);
    text = td_format(td_translate("waits for the lock of %s, %s"), name, took);
  }
  free(name);
  return text;
}

/* Whom it waited for, if that is no holder of a lock. */
static char *
dup_cause(const td_timeline *timeline, const td_held_wait *wait, const td_wait_stretch *stretch) {
  char *thread = td_report_thread_name(timeline->catalog, stretch->holder);
  char *held = td_format_ns((double)stretch->held_ns);
  const td_catalog_node *node =
      stretch->node == TD_NONE ? NULL : td_catalog_node_find(timeline->catalog, stretch->node);
  char *text;
  if (wait->kind == TD_WAIT_COLLECTIVE)
    text = td_format(td_translate("thread %s came last, after %s"), thread, held);
  else if (node)
    text = td_format(td_translate("thread %s pushed it after %s, from %s #%u"), thread, held,
                     node->name, stretch->node);
  else
    text = td_format(td_translate("thread %s pushed it after %s"), thread, held);
  free(thread);
  free(held);
  return text;
}

static const char *
late_words(td_wait_kind kind) {
  return kind == TD_WAIT_COLLECTIVE ? TD_N("then all of them were in it for %s")
                                    : TD_N("woke %s late");
}

static char *
dup_holder(const td_timeline *timeline, const td_wait_stretch *stretch) {
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
  char *took = td_format_ns((double)wait->wait.ns);
  char *text = dup_aim(timeline, &wait->wait, took);
  uint64_t late_ns = 0;
  for (uint32_t i = 0; i < wait->wait.n_stretches; i++) {
    const td_wait_stretch *stretch = &timeline->stretches[wait->first_stretch + i];
    late_ns += stretch->late_ns;
    if (i < HOLDERS_SHOWN && stretch->holder != TD_NONE)
      text =
          append(text, wait->wait.kind == TD_WAIT_LOCK ? dup_holder(timeline, stretch)
                                                       : dup_cause(timeline, &wait->wait, stretch));
  }
  char *late = td_format_ns((double)late_ns);
  if (late_ns) text = append(text, td_format(td_translate(late_words(wait->wait.kind)), late));
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

/* The lane of a thread that the wait is for, or of the stream; or NULL. */
static const td_lane *
lane_of_holder(const td_timeline *timeline, const td_held_wait *wait,
               const td_wait_stretch *stretch) {
  size_t lane = stretch->holder < timeline->catalog->n_threads ? stretch->holder : SIZE_MAX;
  if (wait->kind == TD_WAIT_STREAM)
    lane = td_stream_lane_find(timeline, wait->device, wait->stream);
  return lane == SIZE_MAX ? NULL : &timeline->lanes[lane];
}

/* From the wait to where a holder had the lock first, or to whom it was for. */
static void
draw_arrow(const td_timeline_drawing *draw, const td_held_wait *wait,
           const td_wait_stretch *stretch) {
  const td_lane *from = &draw->timeline->lanes[wait->thread];
  const td_lane *to = lane_of_holder(draw->timeline, wait, stretch);
  if (!to || to == from || from->height <= 0 || to->height <= 0) return;
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

/* Threads sleep often. So a sleep is shown of the thread that somebody clicked, and where it
 * begins. */
static bool
is_shown(const td_timeline_drawing *draw, const td_timeline_wait *wait) {
  return wait->wait.kind != TD_WAIT_TASK || 1 + wait->wait.thread == draw->view->sleeper ||
         wait->wait.begin_ns == (uint64_t)TD_MAX(draw->view->now_ns, 0);
}

size_t
td_timeline_thread_at(const td_timeline *timeline, const td_timeline_view *view, double y) {
  size_t lane = y < TD_TIMELINE_AXIS ? SIZE_MAX : td_lane_at(timeline, y + view->scroll_y);
  return lane == SIZE_MAX || timeline->lanes[lane].kind != TD_LANE_thread
             ? SIZE_MAX
             : timeline->lanes[lane].id;
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
    if (wait && is_shown(draw, wait)) draw_wait(draw, wait);
  }
  cairo_restore(draw->cr);
}
