/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/compare.h"

#include "engine/base/alloc.h"

#include <math.h>
#include <string.h>

/* Values */

/* The numbers of tensor_stats: counts are held equal, the others within the tolerance. */
typedef struct stats_field {
  const char *name;
  size_t offset;
  bool is_count;
} stats_field;

#define STATS_FIELD(name, is_count)                                                                \
  { #name, offsetof(td_event_tensor_stats, name), is_count }
static const stats_field stats_fields[] = {STATS_FIELD(n_elements, true), STATS_FIELD(n_nan, true),
                                           STATS_FIELD(n_inf, true),      STATS_FIELD(min, false),
                                           STATS_FIELD(max, false),       STATS_FIELD(mean, false),
                                           STATS_FIELD(l2, false)};

static double
read_field(const td_event_tensor_stats *stats, const stats_field *field) {
  uint64_t bits;
  memcpy(&bits, (const char *)stats + field->offset, sizeof bits);
  return field->is_count ? (double)bits : td_event_double(bits);
}

static double
magnitude(const td_event_tensor_stats *stats) {
  double low = fabs(stats->min), high = fabs(stats->max);
  return TD_MAX(isfinite(low) ? low : 0, isfinite(high) ? high : 0);
}

static bool
is_close(double a, double b, double allowed) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  return isfinite(a) && isfinite(b) && fabs(a - b) <= allowed;
}

static void
add_difference(td_align_values *values, const td_align_value *difference) {
  TD_GROW(values->items, values->n, values->capacity);
  values->items[values->n++] = *difference;
}

/* The first field that differs speaks for the event. */
static void
compare_stats(td_align_values *values, const td_visits *a, const td_visits *b,
              td_align_value difference, double tolerance) {
  const td_event_tensor_stats *left = &a->values[difference.value_a].stats;
  const td_event_tensor_stats *right = &b->values[difference.value_b].stats;
  double scale = TD_MAX(magnitude(left), magnitude(right));
  for (size_t i = 0; i < TD_N_ELEMENTS(stats_fields); i++) {
    const stats_field *field = &stats_fields[i];
    difference.field = field->name;
    difference.a = read_field(left, field);
    difference.b = read_field(right, field);
    double allowed = tolerance * TD_MAX(scale, TD_MAX(fabs(difference.a), fabs(difference.b)));
    if (is_close(difference.a, difference.b, field->is_count ? 0 : allowed)) continue;
    add_difference(values, &difference);
    return;
  }
}

static bool
is_same_value(const td_visit_value *a, const td_visit_value *b) {
  return a->kind == b->kind && a->place == b->place && a->number == b->number &&
         (a->kind != TD_EVENT_anomaly || a->anomaly.kind == b->anomaly.kind);
}

/* The values of one visit: a slice of its side's. */
typedef struct slice {
  uint32_t first, end;
} slice;

static slice
slice_of(const td_visits *visits, uint32_t visit) {
  uint32_t low = 0, high = visits->n_values;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (visits->values[middle].visit < visit)
      low = middle + 1;
    else
      high = middle;
  }
  while (high < visits->n_values && visits->values[high].visit == visit)
    high++;
  return (slice){low, high};
}

static uint32_t
find_value(const td_visits *visits, slice slice, const td_visit_value *like) {
  for (uint32_t i = slice.first; i < slice.end; i++)
    if (is_same_value(&visits->values[i], like)) return i;
  return TD_NONE;
}

static void
compare_visit(const td_align *align, uint32_t visit_a, double tolerance, td_align_values *values) {
  const td_visits *a = &align->a, *b = &align->b;
  td_align_value difference = {.visit_a = visit_a, .visit_b = align->partners_a[visit_a]};
  slice in_a = slice_of(a, visit_a), in_b = slice_of(b, difference.visit_b);
  for (uint32_t i = in_a.first; i < in_a.end; i++) {
    bool is_anomaly = a->values[i].kind == TD_EVENT_anomaly;
    difference.value_a = i;
    difference.value_b = find_value(b, in_b, &a->values[i]);
    difference.field = "anomaly";
    values->n_compared += is_anomaly || difference.value_b != TD_NONE;
    if (!is_anomaly && difference.value_b != TD_NONE)
      compare_stats(values, a, b, difference, tolerance);
    else if (is_anomaly && difference.value_b == TD_NONE)
      add_difference(values, &difference);
  }
  for (uint32_t i = in_b.first; i < in_b.end; i++) {
    if (b->values[i].kind != TD_EVENT_anomaly) continue;
    if (find_value(a, in_a, &b->values[i]) != TD_NONE) continue;
    values->n_compared++;
    add_difference(values, &(td_align_value){.visit_a = visit_a,
                                             .visit_b = difference.visit_b,
                                             .value_a = TD_NONE,
                                             .value_b = i,
                                             .field = "anomaly"});
  }
}

void
td_align_values_collect(const td_align *align, double tolerance, td_align_values *values) {
  *values = (td_align_values){0};
  if (align->a.n_values == 0 && align->b.n_values == 0) return;
  for (uint32_t i = 0; i < align->a.n; i++)
    if (align->partners_a[i] != TD_NONE) compare_visit(align, i, tolerance, values);
}

void
td_align_values_fini(td_align_values *values) {
  free(values->items);
  *values = (td_align_values){0};
}

/* Durations */

uint64_t
td_visit_ns(const td_visit *visit) {
  return visit->end_ns - visit->begin_ns;
}

typedef struct span {
  uint64_t difference_ns;
  uint32_t visit;
} span;

static int
compare_spans(const void *a, const void *b) {
  const span *left = a, *right = b;
  if (left->difference_ns != right->difference_ns)
    return left->difference_ns > right->difference_ns ? -1 : 1;
  return (left->visit > right->visit) - (left->visit < right->visit);
}

static uint32_t
list_spans(const td_align *align, span *spans, td_align_durations *durations) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < align->a.n; i++) {
    const td_visit *a = &align->a.visits[i], *b;
    if (align->partners_a[i] == TD_NONE) continue;
    b = &align->b.visits[align->partners_a[i]];
    if (a->end_ns == 0 || b->end_ns == 0) continue;
    uint64_t ns_a = td_visit_ns(a), ns_b = td_visit_ns(b);
    durations->a_ns += ns_a;
    durations->b_ns += ns_b;
    spans[n++] = (span){TD_MAX(ns_a, ns_b) - TD_MIN(ns_a, ns_b), i};
  }
  return n;
}

td_status
td_align_durations_collect(const td_align *align, td_align_durations *durations) {
  *durations = (td_align_durations){0};
  span *spans = td_try_alloc(align->n_paired, sizeof *spans);
  durations->visits = td_try_alloc(align->n_paired, sizeof *durations->visits);
  if (spans && durations->visits) {
    durations->n = list_spans(align, spans, durations);
    qsort(spans, durations->n, sizeof *spans, compare_spans);
    for (uint32_t i = 0; i < durations->n; i++)
      durations->visits[i] = spans[i].visit;
  }
  free(spans);
  if (spans && durations->visits) return TD_OK;
  td_align_durations_fini(durations);
  return TD_OUT_OF_MEMORY;
}

void
td_align_durations_fini(td_align_durations *durations) {
  free(durations->visits);
  *durations = (td_align_durations){0};
}

/* Names */

static void
note_name(td_align_names *names, const char *a, const char *b) {
  for (uint32_t i = 0; i < names->n; i++)
    if (strcmp(names->items[i].a, a) == 0 && strcmp(names->items[i].b, b) == 0) {
      names->items[i].count++;
      return;
    }
  TD_GROW(names->items, names->n, names->capacity);
  names->items[names->n++] = (td_align_name){a, b, 1};
}

void
td_align_names_collect(const td_align *align, td_align_names *names) {
  *names = (td_align_names){0};
  for (uint32_t i = 0; i < align->a.n; i++) {
    uint32_t partner = align->partners_a[i];
    if (partner == TD_NONE) continue;
    const char *a = align->a.catalog->nodes[align->a.visits[i].node].name;
    const char *b = align->b.catalog->nodes[align->b.visits[partner].node].name;
    if (strcmp(a, b) != 0) note_name(names, a, b);
  }
}

void
td_align_names_fini(td_align_names *names) {
  free(names->items);
  *names = (td_align_names){0};
}
