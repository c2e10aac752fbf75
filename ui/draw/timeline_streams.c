/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams on the timeline: kernels in the device's own time, and who waits for whom. */
#include "engine/base/alloc.h"
#include "ui/draw/timeline.h"

#include <math.h>

static uint64_t
key_of(int32_t device, int32_t stream) {
  return (uint64_t)(uint32_t)device << 32 | (uint32_t)stream;
}

void
td_stream_lane_note(td_timeline *timeline, int32_t device, int32_t stream, size_t lane) {
  *td_number_map_put(&timeline->stream_lanes, key_of(device, stream)) = lane;
}

size_t
td_stream_lane_find(const td_timeline *timeline, int32_t device, int32_t stream) {
  const uint64_t *lane = td_number_map_find(&timeline->stream_lanes, key_of(device, stream));
  return lane ? (size_t)*lane : SIZE_MAX;
}

size_t
td_stream_collector_lane(td_stream_collector *self, int32_t device, int32_t stream) {
  if (device < 0) return SIZE_MAX;
  uint64_t *number = td_number_map_put(&self->numbers, key_of(device, stream));
  if (*number == 0) {
    *number = self->lanes.n + 1;
    td_lane *lane = td_lanes_obtain(&self->lanes, self->lanes.n);
    lane->device = device;
    lane->stream = stream;
  }
  return (size_t)*number - 1;
}

static void
take_kernel(td_stream_collector *self, const td_event_kernel *kernel) {
  size_t at = td_stream_collector_lane(self, kernel->device, kernel->stream);
  if (at == SIZE_MAX) return;
  td_lane *lane = &self->lanes.lanes[at];
  if (lane->n_rows == 0) {
    TD_GROW(lane->rows, lane->n_rows, lane->row_capacity);
    lane->rows[lane->n_rows++] = (td_spans){0};
  }
  uint64_t begin = kernel->event.time + kernel->queued, end = begin + kernel->took;
  td_spans_push(&lane->rows[0], (td_span){begin, end, TD_SPAN_KERNEL, kernel->node});
  lane->end = TD_MAX(lane->end, end);
}

/* When a stream is through with what it was given before a time. */
static uint64_t
end_of_work(const td_lane *lane, uint64_t time) {
  if (lane->n_rows == 0 || lane->rows[0].n == 0) return time;
  return TD_MAX(time, lane->rows[0].spans[lane->rows[0].n - 1].end);
}

static void
take_record(td_stream_collector *self, const td_event_stream_record *record) {
  size_t lane = td_stream_collector_lane(self, record->device, record->stream);
  if (lane == SIZE_MAX) return;
  TD_GROW(self->recorded, self->n_recorded, self->capacity);
  self->recorded[self->n_recorded++] =
      (td_recorded_event){record->stream_event, (uint32_t)lane,
                          end_of_work(&self->lanes.lanes[lane], record->event.time)};
}

/* The latest recording counts: events are used again. */
static const td_recorded_event *
find_recorded(const td_stream_collector *self, uint32_t stream_event) {
  for (size_t i = self->n_recorded; i-- > 0;)
    if (self->recorded[i].stream_event == stream_event) return &self->recorded[i];
  return NULL;
}

static void
take_wait(td_stream_collector *self, const td_event_stream_wait *wait) {
  td_timeline *timeline = self->timeline;
  size_t lane = td_stream_collector_lane(self, wait->device, wait->stream);
  const td_recorded_event *recorded = find_recorded(self, wait->stream_event);
  if (lane == SIZE_MAX || !recorded || recorded->lane == lane) return;
  uint64_t at = TD_MAX(end_of_work(&self->lanes.lanes[lane], wait->event.time), recorded->time);
  TD_GROW(timeline->links, timeline->n_links, timeline->link_capacity);
  timeline->links[timeline->n_links++] =
      (td_wait_link){recorded->lane, (uint32_t)lane, recorded->time, at};
}

void
td_stream_collector_take(td_stream_collector *self, const td_any_event *event) {
  if (event->event.kind == TD_EVENT_kernel) take_kernel(self, &event->kernel);
  if (event->event.kind == TD_EVENT_stream_record) take_record(self, &event->stream_record);
  if (event->event.kind == TD_EVENT_stream_wait) take_wait(self, &event->stream_wait);
}

static void
draw_arrow(cairo_t *cr, double x, double y, double down) {
  cairo_move_to(cr, x, y);
  cairo_line_to(cr, x - 3.5, y - 6 * down);
  cairo_line_to(cr, x + 3.5, y - 6 * down);
  cairo_close_path(cr);
  cairo_fill(cr);
}

/* From the end of the work to the beginning of what waited for it. */
static void
draw_link(const td_timeline_drawing *draw, const td_wait_link *link) {
  const td_lane *from = &draw->timeline->lanes[link->from_lane],
                *to = &draw->timeline->lanes[link->to_lane];
  if (from->height <= 0 || to->height <= 0) return;
  double down = to->y > from->y ? 1 : -1;
  double x0 = td_timeline_x(draw->view, (double)link->from),
         x1 = td_timeline_x(draw->view, (double)link->to);
  double y0 = down > 0 ? from->y + from->height - TD_LANE_PAD : from->y + TD_LANE_PAD,
         y1 = down > 0 ? to->y + TD_LANE_PAD : to->y + to->height - TD_LANE_PAD;
  bool ahead = (double)link->to > draw->view->now_ns;
  td_theme_source(draw->cr, td_colour_fade(draw->theme->foreground, ahead ? 0.25 : 0.6));
  cairo_set_line_width(draw->cr, 1.2);
  cairo_move_to(draw->cr, x0, y0);
  cairo_curve_to(draw->cr, x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1 - 5 * down);
  cairo_stroke(draw->cr);
  draw_arrow(draw->cr, x1, y1, down);
}

/* Where arrows would be closer than a few pixels, every so many are left out: they would be a
 * curtain. */
void
td_timeline_draw_links(const td_timeline_drawing *draw) {
  double last = -1e9;
  cairo_save(draw->cr);
  cairo_rectangle(draw->cr, TD_TIMELINE_GUTTER, 0,
                  draw->view->width - TD_TIMELINE_GUTTER - TD_TIMELINE_RIGHT,
                  draw->timeline->height);
  cairo_clip(draw->cr);
  for (size_t i = 0; i < draw->timeline->n_links; i++) {
    const td_wait_link *link = &draw->timeline->links[i];
    if ((double)link->to < draw->view->from_ns || (double)link->from > draw->view->to_ns) continue;
    double x = td_timeline_x(draw->view, (double)link->to);
    if (fabs(x - last) < 5) continue;
    draw_link(draw, link);
    last = x;
  }
  cairo_restore(draw->cr);
}
