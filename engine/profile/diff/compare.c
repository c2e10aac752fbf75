/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/compare.h"

#include "engine/base/alloc.h"

#include <string.h>

/* Durations */

static uint64_t
difference_ns(const td_compared_duration *duration) {
  return TD_MAX(duration->a_ns, duration->b_ns) - TD_MIN(duration->a_ns, duration->b_ns);
}

static int
compare_durations(const void *a, const void *b) {
  uint64_t left = difference_ns(a), right = difference_ns(b);
  if (left != right) return left > right ? -1 : 1;
  return td_visited_compare(&((const td_compared_duration *)a)->a,
                            &((const td_compared_duration *)b)->a);
}

static void
add_duration(td_comparison *self, const td_align *align, uint32_t visit_a, uint32_t visit_b) {
  const td_visit *a = &align->a->visits[visit_a], *b = &align->b->visits[visit_b];
  if (a->end_ns == 0 || b->end_ns == 0) return;
  td_compared_duration duration = {.a = td_visits_node(align->a, visit_a),
                                   .b = td_visits_node(align->b, visit_b),
                                   .a_ns = a->end_ns - a->begin_ns,
                                   .b_ns = b->end_ns - b->begin_ns};
  self->a_ns += duration.a_ns;
  self->b_ns += duration.b_ns;
  td_top_list_add(&self->durations, &duration);
}

/* Names */

/* Names that differ do so early, but for hostile ones. */
#define SHORT_NAME 64

static uint64_t
number_of(td_comparison *self, const char *text) {
  const uint64_t *known = td_number_map_find(&self->known.numbers, (uintptr_t)text);
  if (known) return *known;
  uint64_t number = td_text_table_put(&self->known.texts, text, strlen(text));
  *td_number_map_put(&self->known.numbers, (uintptr_t)text) = number;
  return number;
}

static bool
is_same_name(td_comparison *self, const char *a, const char *b) {
  if (strncmp(a, b, SHORT_NAME) != 0) return false;
  return strnlen(a, SHORT_NAME) < SHORT_NAME || number_of(self, a) == number_of(self, b);
}

static void
note_names(td_comparison *self, const td_visited_node *a, const char *b) {
  uint64_t *place =
      td_number_map_put(&self->known.pairs, number_of(self, a->name) << 32 | number_of(self, b));
  if (*place == 0) {
    TD_GROW(self->names, self->n_names, self->names_capacity);
    self->names[self->n_names++] = (td_compared_name){.a = a->name, .b = b, .first = *a};
    *place = self->n_names;
  }
  td_compared_name *name = &self->names[*place - 1];
  if (td_visited_compare(a, &name->first) < 0) name->first = *a;
  name->count++;
}

static void
add_names(td_comparison *self, const td_align *align, uint32_t visit_a, uint32_t visit_b) {
  const char *a = align->a->catalog->node_rows[align->a->visits[visit_a].row].name;
  const char *b = align->b->catalog->node_rows[align->b->visits[visit_b].row].name;
  if (is_same_name(self, a, b)) return;
  td_visited_node node = td_visits_node(align->a, visit_a);
  note_names(self, &node, b);
}

static int
compare_names(const void *a, const void *b) {
  return td_visited_compare(&((const td_compared_name *)a)->first,
                            &((const td_compared_name *)b)->first);
}

/* All of it */

void
td_comparison_begin(td_comparison *self, double tolerance, uint32_t n_values,
                    uint32_t n_durations) {
  *self =
      (td_comparison){.durations = {sizeof(td_compared_duration), n_durations, compare_durations}};
  td_compared_values_begin(&self->values, tolerance, n_values);
}

void
td_comparison_add(td_comparison *self, const td_align *align) {
  for (uint32_t i = 0; i < align->task_a.n; i++) {
    uint32_t a = align->task_a.first + i, b = align->partners_a[a];
    if (b == TD_NONE) continue;
    add_duration(self, align, a, b);
    add_names(self, align, a, b);
  }
  td_compared_values_add(&self->values, align);
}

void
td_comparison_end(td_comparison *self) {
  td_top_list_sort(&self->values.list);
  td_top_list_sort(&self->durations);
  if (self->n_names) qsort(self->names, self->n_names, sizeof *self->names, compare_names);
}

void
td_comparison_fini(td_comparison *self) {
  td_top_list_fini(&self->values.list);
  td_top_list_fini(&self->durations);
  free(self->names);
  td_number_map_fini(&self->known.numbers);
  td_number_map_fini(&self->known.pairs);
  td_text_table_fini(&self->known.texts);
  *self = (td_comparison){0};
}
