/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/compare.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"
#include "engine/base/number_map.h"
#include "engine/base/text_table.h"

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

/* The values of one visit: a slice of its side's. */
typedef struct slice {
  uint32_t first, end;
} slice;

static slice
slice_of(const td_visits *visits, uint32_t visit) {
  slice found;
  TD_BISECT(found.first, 0, visits->n_values, visits->values[found.first].visit < visit);
  TD_BISECT(found.end, found.first, visits->n_values, visits->values[found.end].visit == visit);
  return found;
}

/* What a value must have in common with that of the other side, and where it is. */
typedef struct value_key {
  uint64_t place, kind;
  uint32_t value;
} value_key;

static value_key
key_of(const td_visits *visits, uint32_t i) {
  const td_visit_value *value = &visits->values[i];
  uint64_t anomaly = value->kind == TD_EVENT_anomaly ? value->anomaly.kind : 0;
  return (value_key){(uint64_t)value->place << 32 | value->number,
                     (uint64_t)value->kind << 32 | anomaly, i};
}

static int
compare_keys(const void *a, const void *b) {
  const value_key *left = a, *right = b;
  if (left->place != right->place) return left->place < right->place ? -1 : 1;
  if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
  return (left->value > right->value) - (left->value < right->value);
}

/* The values of one visit, sorted. */
typedef struct value_keys {
  value_key *items; /* (owned) */
  uint32_t n, capacity;
} value_keys;

static void
list_keys(value_keys *keys, const td_visits *visits, slice slice) {
  keys->n = 0;
  for (uint32_t i = slice.first; i < slice.end; i++) {
    TD_GROW(keys->items, keys->n, keys->capacity);
    keys->items[keys->n++] = key_of(visits, i);
  }
  if (keys->n > 1) qsort(keys->items, keys->n, sizeof *keys->items, compare_keys);
}

/* The first value of the other side with the same key, or TD_NONE. */
static uint32_t
find_value(const value_keys *keys, value_key like) {
  uint32_t at;
  like.value = 0;
  TD_BISECT(at, 0, keys->n, compare_keys(&keys->items[at], &like) < 0);
  const value_key *found = &keys->items[at];
  bool same = at < keys->n && found->place == like.place && found->kind == like.kind;
  return same ? found->value : TD_NONE;
}

/* Scratch memory for the values of a pair of visits. */
typedef struct both_keys {
  value_keys a, b;
} both_keys;

static void
compare_visit(const td_align *align, uint32_t visit_a, double tolerance, both_keys *keys,
              td_align_values *values) {
  const td_visits *a = &align->a, *b = &align->b;
  td_align_value difference = {.visit_a = visit_a, .visit_b = align->partners_a[visit_a]};
  slice in_a = slice_of(a, visit_a), in_b = slice_of(b, difference.visit_b);
  list_keys(&keys->a, a, in_a);
  list_keys(&keys->b, b, in_b);
  for (uint32_t i = in_a.first; i < in_a.end; i++) {
    bool is_anomaly = a->values[i].kind == TD_EVENT_anomaly;
    difference.value_a = i;
    difference.value_b = find_value(&keys->b, key_of(a, i));
    difference.field = "anomaly";
    values->n_compared += is_anomaly || difference.value_b != TD_NONE;
    if (!is_anomaly && difference.value_b != TD_NONE)
      compare_stats(values, a, b, difference, tolerance);
    else if (is_anomaly && difference.value_b == TD_NONE)
      add_difference(values, &difference);
  }
  for (uint32_t i = in_b.first; i < in_b.end; i++) {
    if (b->values[i].kind != TD_EVENT_anomaly) continue;
    if (find_value(&keys->a, key_of(b, i)) != TD_NONE) continue;
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
  both_keys keys = {0};
  for (uint32_t i = 0; i < align->a.n; i++)
    if (align->partners_a[i] != TD_NONE) compare_visit(align, i, tolerance, &keys, values);
  free(keys.a.items);
  free(keys.b.items);
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

/* Texts of both tapes by number, so that each text is read once. */
typedef struct numbered {
  td_number_map numbers; /* by address */
  td_text_table texts;
  td_number_map pairs; /* by both numbers: 1 + the place in the list */
} numbered;

/* Names that differ do so early, but for hostile ones. */
#define SHORT_NAME 64

static uint64_t
number_of(numbered *self, const char *text) {
  const uint64_t *known = td_number_map_find(&self->numbers, (uintptr_t)text);
  if (known) return *known;
  uint64_t number = td_text_table_put(&self->texts, text, strlen(text));
  *td_number_map_put(&self->numbers, (uintptr_t)text) = number;
  return number;
}

static bool
is_same_name(numbered *self, const char *a, const char *b) {
  if (strncmp(a, b, SHORT_NAME) != 0) return false;
  return strnlen(a, SHORT_NAME) < SHORT_NAME || number_of(self, a) == number_of(self, b);
}

static void
note_name(td_align_names *names, numbered *known, const char *a, const char *b) {
  uint64_t *place =
      td_number_map_put(&known->pairs, number_of(known, a) << 32 | number_of(known, b));
  if (*place == 0) {
    TD_GROW(names->items, names->n, names->capacity);
    names->items[names->n++] = (td_align_name){a, b, 0};
    *place = names->n;
  }
  names->items[*place - 1].count++;
}

void
td_align_names_collect(const td_align *align, td_align_names *names) {
  numbered known = {0};
  *names = (td_align_names){0};
  for (uint32_t i = 0; i < align->a.n; i++) {
    uint32_t partner = align->partners_a[i];
    if (partner == TD_NONE) continue;
    const char *a = td_catalog_node_get(align->a.catalog, align->a.visits[i].node)->name;
    const char *b = td_catalog_node_get(align->b.catalog, align->b.visits[partner].node)->name;
    if (!is_same_name(&known, a, b)) note_name(names, &known, a, b);
  }
  td_number_map_fini(&known.numbers);
  td_number_map_fini(&known.pairs);
  td_text_table_fini(&known.texts);
}

void
td_align_names_fini(td_align_names *names) {
  free(names->items);
  *names = (td_align_names){0};
}
