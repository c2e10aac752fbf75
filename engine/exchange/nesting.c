/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/nesting.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/events/event.h"

#include <string.h>

void
td_nesting_init(td_nesting *nesting, uint32_t n_threads, int64_t slack_ns, td_frame_cb open,
                td_frame_cb close, void *data) {
  *nesting = (td_nesting){.lanes = TD_NEW_N(td_lane, n_threads),
                          .n_lanes = n_threads,
                          .slack_ns = slack_ns,
                          .open = open,
                          .close = close,
                          .data = data};
}

void
td_nesting_fini(td_nesting *nesting) {
  for (uint32_t i = 0; i < nesting->n_lanes; i++)
    free(nesting->lanes[i].frames);
  free(nesting->lanes);
  *nesting = (td_nesting){0};
}

td_frame *
td_lane_top(const td_lane *lane) {
  return lane->n ? &lane->frames[lane->n - 1] : NULL;
}

td_frame *
td_lane_below(const td_lane *lane, const td_frame *frame, td_span_kind kind) {
  return frame->below[kind] ? &lane->frames[frame->below[kind] - 1] : NULL;
}

td_frame *
td_lane_evaluation(const td_lane *lane) {
  return lane->n ? td_lane_below(lane, td_lane_top(lane), TD_SPAN_EVALUATION) : NULL;
}

/* A span without length at another's end belongs to it, and so does what lies within the clock's
 * step. But evaluations follow each other. */
static bool
is_over(const td_nesting *nesting, const td_span *span, const td_span *next) {
  if (next->kind == TD_SPAN_EVALUATION) return next->begin_ns >= span->end_ns;
  return next->begin_ns > span->end_ns + nesting->slack_ns ||
         (next->begin_ns >= span->end_ns && next->end_ns > span->end_ns + nesting->slack_ns);
}

static void
close_top(td_nesting *nesting, uint32_t thread) {
  td_lane *lane = &nesting->lanes[thread];
  nesting->close(lane, thread, nesting->data);
  lane->n--;
}

static bool
bounds_what_is_inside(const td_span *span) {
  return span->kind == TD_SPAN_EVALUATION || span->kind == TD_SPAN_OP;
}

/* The number of frames that lie around the outermost evaluation that ends before that time. The
 * earliest end of an evaluation only falls from frame to frame, so this can bisect. */
static uint32_t
count_lasting(const td_lane *lane, int64_t end_ns) {
  uint32_t n;
  TD_BISECT(n, 0, lane->n, lane->frames[n].first_evaluation_end_ns >= end_ns);
  return n;
}

/* Ends the evaluations that `next` outlasts. */
static void
end_outlasted(td_nesting *nesting, const td_span *next) {
  td_lane *lane = &nesting->lanes[next->thread];
  uint32_t keep = count_lasting(lane, next->end_ns);
  nesting->n_cut += keep < lane->n;
  while (lane->n > keep) {
    td_span *span = &lane->frames[lane->n - 1].span;
    span->end_ns = TD_MIN(span->end_ns, next->begin_ns);
    close_top(nesting, next->thread);
  }
}

/* Notes in a new frame what is below it. */
static void
link_frame(const td_lane *lane, td_frame *frame) {
  const td_frame *under = td_lane_top(lane);
  frame->first_evaluation_end_ns = under ? under->first_evaluation_end_ns : INT64_MAX;
  if (frame->span.kind == TD_SPAN_EVALUATION)
    frame->first_evaluation_end_ns = TD_MIN(frame->first_evaluation_end_ns, frame->span.end_ns);
  if (!under) return;
  memcpy(frame->below, under->below, sizeof frame->below);
  if (under->span.kind < TD_N_ELEMENTS(frame->below)) frame->below[under->span.kind] = lane->n;
}

void
td_nesting_add(td_nesting *nesting, const td_span *span) {
  td_lane *lane = &nesting->lanes[span->thread];
  while (lane->n && is_over(nesting, &lane->frames[lane->n - 1].span, span))
    close_top(nesting, span->thread);
  if (span->kind == TD_SPAN_EVALUATION) end_outlasted(nesting, span);
  td_frame frame = {.span = *span,
                    .node = TD_NONE,
                    .graph_task = TD_NONE,
                    .hook_end_ns = INT64_MIN,
                    .inner = {.graph_task = TD_NONE}};
  const td_frame *around = td_lane_top(lane);
  if (around && bounds_what_is_inside(&around->span) && around->span.end_ns < frame.span.end_ns) {
    nesting->n_cut += around->span.end_ns + nesting->slack_ns < frame.span.end_ns;
    frame.span.end_ns = TD_MAX(around->span.end_ns, frame.span.begin_ns);
  }
  link_frame(lane, &frame);
  TD_GROW(lane->frames, lane->n, lane->capacity);
  lane->frames[lane->n++] = frame;
  nesting->open(lane, span->thread, nesting->data);
}

void
td_nesting_end(td_nesting *nesting) {
  for (uint32_t thread = 0; thread < nesting->n_lanes; thread++)
    while (nesting->lanes[thread].n)
      close_top(nesting, thread);
}
