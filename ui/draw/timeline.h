/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The inside of td_timeline: lanes with rows of spans. Filled by timeline_collector.c, placed by
 * timeline_places.c, drawn by timeline_picture.c and timeline_lanes.c. Private to ui/draw; ui/page
 * reads it. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/profile/thread_waits.h"
#include "ui/draw/shapes.h"
#include "ui/draw/timeline_view.h"
#include "ui/geometry/peaks.h"
#include "ui/geometry/spans.h"

typedef struct td_lane {
  td_event_lane kind;     /* thread, stream or queue */
  uint32_t id;            /* thread, queue; of a device, its number as unsigned */
  int32_t device, stream; /* stream: of a device's lane */
  char *title, *note;     /* (owned) */
  td_spans activity;      /* of a thread: kind is a td_thread_activity */
  td_spans *rows;         /* (owned) by depth: node, hook in node, ... */
  size_t n_rows, row_capacity;
  td_sample *samples; /* (owned) lengths of a queue */
  uint32_t *peaks;    /* (owned) of these */
  size_t n_samples, sample_capacity;
  uint32_t most; /* greatest sample */
  uint64_t end;  /* of a stream: when its kernels are over */
  uint32_t process;
  bool is_collapsed; /* a thin lane without texts */
  double y, height;  /* in the picture, unscrolled; height 0: nothing to show */
  double row_height;
} td_lane;

/* A stream waits for what another one has done: from lane and time to lane and time. */
typedef struct td_wait_link {
  uint32_t from_lane, to_lane;
  uint64_t from, to;
} td_wait_link;

/* A wait of a thread. */
typedef struct td_timeline_wait {
  td_held_wait wait; /* without its stretches */
  size_t first_stretch;
} td_timeline_wait;

/* Those of a thread. */
typedef struct td_timeline_waits {
  td_timeline_wait *items; /* (owned) by their ends */
  size_t n, capacity;
} td_timeline_waits;

/* The name of a process above its lanes, on a tape of several. */
typedef struct td_band {
  char *title; /* (owned) */
  double y;
} td_band;

typedef struct td_flag {
  uint64_t time;
  uint32_t node;   /* anomalies */
  uint32_t thread; /* anomalies */
  char *text;      /* (owned) or NULL */
} td_flag;

typedef struct td_flags {
  td_flag *flags; /* (owned) by time */
  size_t n, capacity;
} td_flags;

typedef struct td_timeline {
  const td_catalog *catalog; /* (borrowed) */
  td_lane *lanes;            /* (owned) threads, then devices, then queues */
  size_t n_lanes, lane_capacity;
  td_number_map stream_lanes; /* by device and stream: numbers of lanes */
  td_band *bands;             /* (owned) [n_bands] */
  size_t n_bands;
  td_wait_link *links; /* (owned) by the time of the wait */
  size_t n_links, link_capacity;
  td_timeline_waits *waits_of; /* (owned) by thread */
  uint32_t n_waits_of;
  td_wait_stretch *stretches; /* (owned) of the waits */
  size_t n_stretches, stretch_capacity;
  td_flags marks, steps, anomalies, pauses;
  td_time_cuts cuts;
  /* (owned) who asked for final callbacks, and names of collective operations: the items of their
   * spans */
  td_text_table callbacks;
  uint64_t duration;
  double height;
} td_timeline;

/* td_span_is_of_node tells whether a span's item is a node. */
static inline bool
td_span_is_of_node(const td_span *span) {
  return span->kind == TD_SPAN_NODE || span->kind == TD_SPAN_KERNEL || span->kind >= TD_SPAN_HOOK;
}

/* td_span_is_wait tells whether a thread waits all through a span. */
static inline bool
td_span_is_wait(const td_span *span) {
  return span->kind == TD_SPAN_LOCK || span->kind == TD_SPAN_SYNCHRONIZE ||
         span->kind == TD_SPAN_COLLECTIVE;
}

/* td_span_title (timeline_words.c) says what a span is that is not the run of a node: "post-hook",
 * "waits for stream 7". A hook's span says which kind of hook it is; its place, whose. NULL for
 * runs of nodes. The caller frees. */
char *td_span_title(const td_timeline *timeline, const td_span *span);

/* Waits of threads (timeline_waits.c). td_timeline_watch_waits makes `waits` and `others` add to
 * the timeline; the operation of a collective one becomes an item of `callbacks`.
 * td_timeline_wait_at returns the wait of a thread that has a part between two times, or NULL.
 * td_timeline_wait_text says for what it waits, and who held that; the caller frees. */
void td_timeline_watch_waits(td_timeline *timeline, td_held_waits *waits, td_thread_waits *others);
const td_timeline_wait *td_timeline_wait_at(const td_timeline *timeline, uint32_t thread,
                                            uint64_t from_ns, uint64_t to_ns);
char *td_timeline_wait_text(const td_timeline *timeline, const td_timeline_wait *wait);
void td_timeline_forget_waits(td_timeline *timeline); /* for td_timeline_free */

/* Sizes of the picture. */
enum {
  TD_TIMELINE_AXIS = 44,
  TD_LANE_PAD = 7,
  TD_LANE_ACTIVITY = 5,
  TD_LANE_ROW = 20,
  TD_LANE_ROWS_HEIGHT = 160, /* deep re-entry gets thinner rows, not a higher lane */
  TD_LANE_COLLAPSED = 18,
  TD_LANE_COLLAPSED_PAD = 4,
  TD_BAND_HEIGHT = 22,
  TD_LANE_QUEUE_HEIGHT = 40
};

/* One drawing. */
typedef struct td_timeline_drawing {
  td_timeline *timeline;
  cairo_t *cr;
  const td_timeline_view *view;
  const td_theme *theme;
  td_label_cache *labels;
} td_timeline_drawing;

/* Lanes whose contents are collected. td_lanes_obtain returns a lane, and makes those up to it. A
 * thread's or queue's lane has its id as its number. */
typedef struct td_lanes {
  td_lane *lanes; /* (owned) */
  size_t n, capacity;
} td_lanes;

/* td_lanes_make is the slow path of td_lanes_obtain. */
void td_lanes_make(td_lanes *lanes, size_t n);

static inline td_lane *
td_lanes_obtain(td_lanes *lanes, size_t i) {
  if (lanes->n <= i) td_lanes_make(lanes, i + 1);
  return &lanes->lanes[i];
}

void td_lanes_fini(td_lanes *lanes);
void td_lane_fini(td_lane *lane);

/* What streams did so far (timeline_streams.c). A stream gets a lane when an event names it first.
 * td_stream_collector_take adds a kernel to the lane of its stream, and a link between two streams
 * if one waits for the other. It ignores all other events. td_stream_collector_lane returns the
 * number of a stream's lane, or SIZE_MAX for what is no accelerator. */
typedef struct td_recorded_event {
  uint32_t stream_event, lane;
  uint64_t time;
} td_recorded_event;

typedef struct td_stream_collector {
  td_timeline *timeline; /* (borrowed) gets the links, with numbers of `lanes` */
  td_lanes lanes;
  td_number_map numbers;       /* of lanes, by the stream's key */
  td_recorded_event *recorded; /* (owned) */
  size_t n_recorded, capacity;
} td_stream_collector;

void td_stream_collector_take(td_stream_collector *collector, const td_any_event *event);
size_t td_stream_collector_lane(td_stream_collector *collector, int32_t device, int32_t stream);

/* td_stream_lane_note says which lane of a timeline a stream has. td_stream_lane_find returns that
 * lane, or SIZE_MAX if there is none. */
void td_stream_lane_note(td_timeline *timeline, int32_t device, int32_t stream, size_t lane);
size_t td_stream_lane_find(const td_timeline *timeline, int32_t device, int32_t stream);

/* td_timeline_place (timeline_places.c) gives every lane its place, process by process. It may be
 * called again. */
void td_timeline_place(td_timeline *timeline);
void td_timeline_forget_bands(td_timeline *timeline);

/* td_lane_at returns the number of the lane at a y of the unscrolled picture, or SIZE_MAX. */
size_t td_lane_at(const td_timeline *timeline, double y);

/* td_lane_first_row returns the y of a lane's first row of spans. */
static inline double
td_lane_first_row(const td_lane *lane) {
  if (lane->is_collapsed) return lane->y + TD_LANE_COLLAPSED_PAD;
  return lane->y + TD_LANE_PAD + (lane->kind == TD_LANE_thread ? TD_LANE_ACTIVITY + 3 : 0);
}

/* The parts of a picture. timeline_lanes.c draws one lane, timeline_streams.c draws which stream
 * waits for which. timeline_axis.c draws ticks, marks, steps and anomalies. */
void td_timeline_draw_lane(const td_timeline_drawing *draw, const td_lane *lane);
void td_timeline_draw_links(const td_timeline_drawing *draw);
void td_timeline_draw_grid(const td_timeline_drawing *draw);
void td_timeline_draw_axis(const td_timeline_drawing *draw);
void td_timeline_draw_anomalies(const td_timeline_drawing *draw);

/* What lies over a picture: an outline around the selected node's spans in a lane
 * (timeline_lanes.c), the waits that go on at the playhead, with arrows to the threads and
 * streams that they are for (timeline_waits.c), and the playhead (timeline_axis.c). */
void td_timeline_draw_waits(const td_timeline_drawing *draw);
void td_timeline_draw_chosen(const td_timeline_drawing *draw, const td_lane *lane);
void td_timeline_draw_playhead(const td_timeline_drawing *draw);
