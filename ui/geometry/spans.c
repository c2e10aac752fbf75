/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/spans.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

void
td_spans_push(td_spans *row, td_span span) {
  if (row->n && span.begin < row->spans[row->n - 1].end) span.begin = row->spans[row->n - 1].end;
  if (span.end < span.begin) span.end = span.begin;
  TD_GROW(row->spans, row->n, row->capacity);
  row->spans[row->n++] = span;
}

void
td_spans_seal(td_spans *row) {
  row->busy = td_realloc(row->busy, row->n + 1, sizeof *row->busy);
  row->busy[0] = 0;
  for (size_t i = 0; i < row->n; i++)
    row->busy[i + 1] = row->busy[i] + row->spans[i].end - row->spans[i].begin;
}

void
td_spans_fini(td_spans *row) {
  free(row->spans);
  free(row->busy);
  *row = (td_spans){0};
}

size_t
td_spans_first(const td_spans *row, uint64_t time) {
  size_t at;
  TD_BISECT(at, 0, row->n, row->spans[at].end <= time);
  return at;
}

static uint64_t
busy_before(const td_spans *row, uint64_t time) {
  size_t i = td_spans_first(row, time);
  uint64_t busy = row->busy[i];
  if (i < row->n && row->spans[i].begin < time) busy += time - row->spans[i].begin;
  return busy;
}

double
td_spans_share(const td_spans *row, uint64_t from, uint64_t to) {
  if (to <= from) return 0;
  return (double)(busy_before(row, to) - busy_before(row, from)) / (double)(to - from);
}

const td_span *
td_spans_at(const td_spans *row, uint64_t time, uint64_t slack) {
  size_t i = td_spans_first(row, time > slack ? time - slack : 0);
  const td_span *best = NULL;
  uint64_t best_distance = slack + 1;
  for (; i < row->n && row->spans[i].begin <= time + slack; i++) {
    const td_span *span = &row->spans[i];
    uint64_t distance = time < span->begin ? span->begin - time
                        : time > span->end ? time - span->end
                                           : 0;
    if (distance < best_distance) {
      best = span;
      best_distance = distance;
    }
    if (distance == 0) break;
  }
  return best;
}
