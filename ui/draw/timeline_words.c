/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/timeline_words.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/translate.h"
#include "ui/draw/timeline.h"
#include "ui/geometry/format.h"

#include <inttypes.h>

char *
td_span_title(const td_timeline *timeline, const td_span *span) {
  static const char *const hooks[TD_hook_kind_LIMIT] = {
      [TD_hook_kind_tensor_pre] = TD_N("tensor hook"),
      [TD_hook_kind_retains_grad] = "retain_grad",
      [TD_hook_kind_pre] = TD_N("pre-hook"),
      [TD_hook_kind_post] = TD_N("post-hook"),
      [TD_hook_kind_capture] = TD_N("capture hook"),
      [TD_hook_kind_post_accumulate_grad] = TD_N("after accumulation"),
      [TD_hook_kind_creation] = TD_N("creation hook"),
  };
  if (span->kind == TD_SPAN_CALLBACK)
    return td_format(td_translate("final callback %s"),
                     td_text_table_get(&timeline->callbacks, span->item));
  if (span->kind == TD_SPAN_COLLECTIVE)
    return td_format(td_translate("waits for %s"),
                     td_text_table_get(&timeline->callbacks, span->item));
  if (span->kind == TD_SPAN_SYNCHRONIZE)
    return (int32_t)span->item < 0 ? td_dup_string(td_translate("waits for a device"))
                                   : td_format(td_translate("waits for stream %u"), span->item);
  if (span->kind < TD_SPAN_HOOK) return NULL;
  uint32_t kind = span->kind - TD_SPAN_HOOK;
  return td_dup_string(
      td_translate(kind < TD_hook_kind_LIMIT ? hooks[kind] : TD_N("unknown hook")));
}

static char *
dup_name(const td_timeline *timeline, const td_span *span) {
  if (span->kind == TD_SPAN_LOCK) return td_dup_string(td_translate("waits for a lock"));
  char *title = td_span_title(timeline, span);
  if (title) return title;
  const td_catalog_node *node = td_catalog_node_find(timeline->catalog, span->item);
  return td_format("%s #%" PRIu32, node ? node->name : "", span->item);
}

static char *
dup_span(const td_timeline *timeline, const td_lane *lane, const td_span *span) {
  const td_timeline_wait *wait =
      td_span_is_wait(span) ? td_timeline_wait_at(timeline, lane->id, span->begin, span->begin)
                            : NULL;
  if (wait) return td_timeline_wait_text(timeline, wait);
  char *name = dup_name(timeline, span), *took = td_format_ns((double)(span->end - span->begin));
  char *text = td_format("%s, %s", name, took);
  free(name);
  free(took);
  return text;
}

/* What is in a lane's rows now, outermost first: a node, a hook in it. */
static char *
dup_spans(const td_timeline *timeline, const td_lane *lane, uint64_t ns) {
  char *text = td_dup_string("");
  for (size_t r = 0; r < lane->n_rows; r++) {
    const td_span *span = td_spans_at(&lane->rows[r], ns, 0);
    if (!span) continue;
    char *what = dup_span(timeline, lane, span);
    char *more = td_format("%s%s%s", text, *text ? "; " : "", what);
    free(what);
    free(text);
    text = more;
  }
  return text;
}

static char *
dup_length(const td_lane *lane, uint64_t ns) {
  size_t at;
  TD_BISECT(at, 0, lane->n_samples, lane->samples[at].time <= ns);
  uint32_t n = at ? lane->samples[at - 1].value : 0;
  return n ? td_format_many(n, "task", "tasks") : td_dup_string(td_translate("empty"));
}

char *
td_timeline_lane_text(const td_timeline *timeline, size_t i, uint64_t ns) {
  const td_lane *lane = &timeline->lanes[i];
  bool is_queue = lane->kind == TD_LANE_queue;
  char *now = is_queue ? dup_length(lane, ns) : dup_spans(timeline, lane, ns);
  char *text =
      td_format("%s, %s: %s", lane->title, lane->note, *now ? now : td_translate("nothing runs"));
  free(now);
  return text;
}

uint32_t
td_timeline_lane_node(const td_timeline *timeline, size_t i, uint64_t ns) {
  const td_lane *lane = &timeline->lanes[i];
  for (size_t r = 0; r < lane->n_rows; r++) {
    const td_span *span = td_spans_at(&lane->rows[r], ns, 0);
    if (span && td_span_is_of_node(span)) return span->item;
  }
  return TD_NONE;
}

bool
td_timeline_lane_extent(const td_timeline *timeline, const td_timeline_view *view, size_t i,
                        double *top, double *height) {
  *top = timeline->lanes[i].y - view->scroll_y;
  *height = timeline->lanes[i].height;
  return *height > 0;
}
