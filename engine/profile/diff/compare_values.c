/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/compare_values.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

#include <math.h>
#include <string.h>

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

/* What the two sides have in common. */
static td_compared_value
difference_at(const td_align *align, uint32_t visit_a) {
  return (td_compared_value){.a = td_visits_node(align->a, visit_a),
                             .b = td_visits_node(align->b, align->partners_a[visit_a]),
                             .event_a = UINT64_MAX,
                             .event_b = UINT64_MAX};
}

static void
add_difference(td_compared_values *values, td_compared_value *difference) {
  difference->order = values->list.n_added;
  td_top_list_add(&values->list, difference);
}

static void
add_anomaly(td_compared_values *values, const td_align *align, uint32_t visit_a,
            const td_visit_value *value, bool in_a) {
  td_compared_value difference = difference_at(align, visit_a);
  difference.field = "anomaly";
  difference.anomaly = td_enum_word(TD_FIELD_ENUM_anomaly_kind, value->anomaly.kind);
  difference.place = td_enum_word(TD_FIELD_ENUM_birthplace, value->place);
  difference.number = value->number;
  *(in_a ? &difference.event_a : &difference.event_b) = value->seq;
  add_difference(values, &difference);
}

static void
add_stats(td_compared_values *values, const td_align *align, uint32_t visit_a,
          const td_visit_value *a, const td_visit_value *b, const stats_field *field) {
  td_compared_value difference = difference_at(align, visit_a);
  difference.field = field->name;
  difference.place = td_enum_word(TD_FIELD_ENUM_stats_place, a->place);
  difference.number = a->number;
  difference.event_a = a->seq;
  difference.event_b = b->seq;
  difference.number_a = read_field(&a->stats, field);
  difference.number_b = read_field(&b->stats, field);
  add_difference(values, &difference);
}

/* The first field that differs speaks for the event. */
static void
compare_stats(td_compared_values *values, const td_align *align, uint32_t visit_a,
              const td_visit_value *a, const td_visit_value *b) {
  double scale = TD_MAX(magnitude(&a->stats), magnitude(&b->stats));
  for (size_t i = 0; i < TD_N_ELEMENTS(stats_fields); i++) {
    const stats_field *field = &stats_fields[i];
    double in_a = read_field(&a->stats, field), in_b = read_field(&b->stats, field);
    double allowed = values->tolerance * TD_MAX(scale, TD_MAX(fabs(in_a), fabs(in_b)));
    if (is_close(in_a, in_b, field->is_count ? 0 : allowed)) continue;
    return add_stats(values, align, visit_a, a, b, field);
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

/* PyTorch's gradient of an operand that was broadcast is seen before the engine sums it, Tapedeck's
 * after that. */
static bool
is_before_and_after_sum(const td_align *align, const td_visit_value *a, const td_visit_value *b) {
  return a->place == TD_stats_place_output && a->stats.n_elements != b->stats.n_elements &&
         strcmp(align->a->catalog->engine, align->b->catalog->engine) != 0;
}

static void
compare_value(td_compared_values *values, const td_align *align, uint32_t visit_a, uint32_t number,
              const value_keys *keys_b) {
  const td_visit_value *value = &align->a->values[number];
  uint32_t partner = find_value(keys_b, key_of(align->a, number));
  bool is_anomaly = value->kind == TD_EVENT_anomaly;
  if (!is_anomaly && partner != TD_NONE &&
      is_before_and_after_sum(align, value, &align->b->values[partner]))
    return;
  values->n_compared += is_anomaly || partner != TD_NONE;
  if (!is_anomaly && partner != TD_NONE)
    compare_stats(values, align, visit_a, value, &align->b->values[partner]);
  if (is_anomaly && partner == TD_NONE) add_anomaly(values, align, visit_a, value, true);
}

static void
compare_visit(td_compared_values *values, const td_align *align, uint32_t visit_a,
              both_keys *keys) {
  const td_visits *a = align->a, *b = align->b;
  slice in_a = slice_of(a, visit_a), in_b = slice_of(b, align->partners_a[visit_a]);
  list_keys(&keys->a, a, in_a);
  list_keys(&keys->b, b, in_b);
  for (uint32_t i = in_a.first; i < in_a.end; i++)
    compare_value(values, align, visit_a, i, &keys->b);
  for (uint32_t i = in_b.first; i < in_b.end; i++) {
    if (b->values[i].kind != TD_EVENT_anomaly) continue;
    if (find_value(&keys->a, key_of(b, i)) != TD_NONE) continue;
    values->n_compared++;
    add_anomaly(values, align, visit_a, &b->values[i], false);
  }
}

void
td_compared_values_add(td_compared_values *values, const td_align *align) {
  if (align->a->n_values == 0 && align->b->n_values == 0) return;
  both_keys keys = {0};
  for (uint32_t i = 0; i < align->task_a.n; i++) {
    uint32_t visit = align->task_a.first + i;
    if (align->partners_a[visit] != TD_NONE) compare_visit(values, align, visit, &keys);
  }
  free(keys.a.items);
  free(keys.b.items);
}

static int
compare_differences(const void *a, const void *b) {
  const td_compared_value *left = a, *right = b;
  int order = td_visited_compare(&left->a, &right->a);
  return order ? order : (left->order > right->order) - (left->order < right->order);
}

void
td_compared_values_begin(td_compared_values *values, double tolerance, uint32_t limit) {
  *values = (td_compared_values){.tolerance = tolerance,
                                 .list = {sizeof(td_compared_value), limit, compare_differences}};
}
