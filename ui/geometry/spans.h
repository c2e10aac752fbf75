/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A row of spans that do not overlap, in the order of time, with prefix sums of their lengths. A
 * look-up costs a binary search, however many spans there are: what a pixel shows, what a pointer
 * hits. One thread fills a row; then any thread reads it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct td_span {
  uint64_t begin, end;
  uint32_t kind; /* the caller's */
  uint32_t item; /* the caller's: a node, a lock, ... */
} td_span;

typedef struct td_spans {
  td_span *spans; /* (owned) */
  uint64_t *busy; /* (owned) busy[i]: length of the spans before i; [n + 1] once sealed */
  size_t n, capacity;
} td_spans;

/* td_spans_push appends a span; one that begins before the last one's end is cut to begin there. */
void td_spans_push(td_spans *row, td_span span);

/* td_spans_seal computes the sums; afterwards nothing is pushed. */
void td_spans_seal(td_spans *row);
void td_spans_fini(td_spans *row);

/* td_spans_first returns the index of the first span that ends after a time (n if none does). */
size_t td_spans_first(const td_spans *row, uint64_t time);

/* td_spans_share returns which part, 0 to 1, of a stretch of time is covered. */
double td_spans_share(const td_spans *row, uint64_t from, uint64_t to);

/* td_spans_at returns the span at a time, or NULL; `slack` widens every span by that much on both
 * sides. */
const td_span *td_spans_at(const td_spans *row, uint64_t time, uint64_t slack);
