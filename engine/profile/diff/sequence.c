/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/sequence.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <stdbool.h>
#include <string.h>

/* Differences followed before the path is cut at the point that got furthest. */
#define EDITS_MAX 1024

/* A rectangle of the edit graph that is left to do, and the furthest points of each number of
 * edits: after d edits, diagonal k = x - y in -d .. d reached x = reach[d * d + d + k]. */
typedef struct search {
  const uint64_t *a, *b;
  uint32_t x0, y0, n_a, n_b;
  uint32_t *reach; /* (owned) */
  uint32_t *match;
} search;

static uint32_t *
reached(const search *search, int64_t edits, int64_t diagonal) {
  return &search->reach[edits * edits + edits + diagonal];
}

static void
match_run(search *search, uint32_t x, uint32_t y, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    search->match[search->x0 + x + i] = search->y0 + y + i;
}

static uint32_t
run_from(const search *search, uint32_t x, uint32_t y) {
  uint32_t n = 0, limit = TD_MIN(search->n_a - x, search->n_b - y);
  const uint64_t *a = search->a + search->x0 + x, *b = search->b + search->y0 + y;
  while (n < limit && a[n] == b[n])
    n++;
  return n;
}

/* Whether the best way to a diagonal comes from the one above it: an element of b left out. */
static bool
comes_down(const search *search, int64_t edits, int64_t diagonal) {
  if (diagonal == -edits) return true;
  if (diagonal == edits) return false;
  return *reached(search, edits - 1, diagonal - 1) < *reached(search, edits - 1, diagonal + 1);
}

/* Where a diagonal begins with so many edits, before its run of equal elements; beyond the
 * rectangle where it cannot be reached. */
static int64_t
first_x(const search *search, int64_t edits, int64_t diagonal) {
  if (edits == 0) return 0;
  bool down = comes_down(search, edits, diagonal);
  uint32_t from = *reached(search, edits - 1, diagonal + (down ? 1 : -1));
  return (int64_t)from + !down;
}

/* Walks back from a point and notes the runs of equal elements on the way. */
static void
trace_back(search *search, int64_t edits, int64_t diagonal) {
  for (; edits >= 0; edits--) {
    int64_t x = *reached(search, edits, diagonal), first = first_x(search, edits, diagonal);
    match_run(search, (uint32_t)first, (uint32_t)(first - diagonal), (uint32_t)(x - first));
    diagonal += edits && comes_down(search, edits, diagonal) ? 1 : -1;
  }
}

/* How far a diagonal is from the one that the end lies on. */
static int64_t
distance(const search *search, int64_t diagonal) {
  return llabs(diagonal - ((int64_t)search->n_a - search->n_b));
}

/* One more edit on every diagonal; true where the end is reached. The furthest is the one that used
 * up most of both lists, and among equals that which is nearest to the end. Points outside the
 * rectangle can win nothing. */
static bool
extend(search *search, int64_t edits, int64_t *furthest) {
  int64_t best = -1;
  for (int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
    int64_t x = first_x(search, edits, diagonal), y = x - diagonal;
    bool inside = x <= search->n_a && y >= 0 && y <= search->n_b;
    if (inside) x += run_from(search, (uint32_t)x, (uint32_t)y);
    *reached(search, edits, diagonal) = (uint32_t)x;
    int64_t sum = 2 * x - diagonal;
    if (!inside || sum < best) continue;
    if (sum == best && distance(search, diagonal) >= distance(search, *furthest)) continue;
    best = sum;
    *furthest = diagonal;
  }
  return best == (int64_t)search->n_a + search->n_b;
}

/* Moves the rectangle's corner to where the search got to. */
static void
cut(search *search, int64_t edits, int64_t diagonal) {
  uint32_t x = *reached(search, edits, diagonal), y = (uint32_t)(x - diagonal);
  search->x0 += x;
  search->y0 += y;
  search->n_a -= x;
  search->n_b -= y;
}

static void
follow(search *search) {
  while (search->n_a && search->n_b) {
    int64_t edits = 0, diagonal = 0;
    while (!extend(search, edits, &diagonal) && edits < EDITS_MAX)
      edits++;
    trace_back(search, edits, diagonal);
    cut(search, edits, diagonal);
  }
}

/* Equal ends need no search. */
static void
trim(search *search) {
  uint32_t n = run_from(search, 0, 0);
  match_run(search, 0, 0, n);
  search->x0 = search->y0 = n;
  search->n_a -= n;
  search->n_b -= n;
  while (search->n_a && search->n_b &&
         search->a[search->x0 + search->n_a - 1] == search->b[search->y0 + search->n_b - 1]) {
    search->n_a--;
    search->n_b--;
    match_run(search, search->n_a, search->n_b, 1);
  }
}

td_status
td_sequence_match(const uint64_t *a, uint32_t n_a, const uint64_t *b, uint32_t n_b,
                  uint32_t *match) {
  search search = {.a = a, .b = b, .n_a = n_a, .n_b = n_b, .match = match};
  for (uint32_t i = 0; i < n_a; i++)
    match[i] = UINT32_MAX;
  trim(&search);
  if (search.n_a == 0 || search.n_b == 0) return TD_OK;
  uint64_t edits = TD_MIN((uint64_t)search.n_a + search.n_b, EDITS_MAX);
  search.reach = td_try_alloc((edits + 1) * (edits + 1), sizeof *search.reach);
  if (!search.reach) return TD_OUT_OF_MEMORY;
  follow(&search);
  free(search.reach);
  return TD_OK;
}

/* The last element of a rising subsequence of each length, as small as can be. */
td_status
td_sequence_rising(const uint32_t *places, uint32_t n, uint32_t *length) {
  uint32_t *last = td_try_alloc(n, sizeof *last), longest = 0;
  if (!last && n) return TD_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at;
    TD_BISECT(at, 0, longest, last[at] < places[i]);
    last[at] = places[i];
    longest += at == longest;
  }
  free(last);
  *length = longest;
  return TD_OK;
}
