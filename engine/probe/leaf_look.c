/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/leaf_look.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"

#include <stdatomic.h>

#define CORNER 4096 /* elements */

static atomic_bool unread_is_told;

void
td_leaf_look_begin(void) {
  atomic_store(&unread_is_told, false);
  TD_EMIT(setting, .name = td_intern("leaves"), .value = td_intern("looked"));
  TD_EMIT(setting, .name = td_intern("roots"), .value = td_intern("looked"));
  TD_EMIT(setting, .name = td_intern("ends"), .value = td_intern("looked"));
}

static void
tell(uint32_t graph_task, uint32_t node, td_leaf_sight what) {
  TD_EMIT(leaf_look, .node = node, .graph_task = graph_task, .what = what);
}

/* A corner of an array. `sizes` are its own. */
static td_numbers
corner_of(const td_numbers *whole, int64_t sizes[TD_NUMBERS_MAX_DIMS]) {
  int64_t left = CORNER;
  for (int dim = whole->n_dims - 1; dim >= 0; dim--) {
    sizes[dim] = TD_MIN(whole->sizes[dim], left);
    left /= TD_MAX(sizes[dim], 1);
    left = TD_MAX(left, 1);
  }
  td_numbers corner = *whole;
  corner.sizes = sizes;
  return corner;
}

/* Programs that clear a gradient clear its corner too. Zeros are read to their end, so the rest of
 * them would cost a pass over memory. */
static bool
holds_some(const td_gradient *held) {
  int64_t sizes[TD_NUMBERS_MAX_DIMS];
  if (!held->identity || held->unread || !td_numbers_are_readable(&held->numbers)) return false;
  td_numbers corner = corner_of(&held->numbers, sizes);
  return !td_numbers_are_zero(&corner);
}

bool
td_leaf_look_is_zero(const td_gradient *held) {
  return held->identity && !held->unread && td_numbers_are_readable(&held->numbers) &&
         td_numbers_are_zero(&held->numbers);
}

void
td_leaf_look(uint32_t graph_task, uint32_t node, const td_gradient *gradient,
             const td_gradient *held) {
  if (!gradient->identity) return;
  if (gradient->unread) {
    if (!atomic_exchange(&unread_is_told, true))
      TD_EMIT(unread, .node = node, .graph_task = graph_task,
              .why = td_intern_static(gradient->unread));
    return;
  }
  unsigned found = td_numbers_look(&gradient->numbers);
  if (found & TD_NUMBERS_NAN)
    tell(graph_task, node, TD_leaf_sight_nan);
  else if (found)
    tell(graph_task, node, TD_leaf_sight_inf);
  else if (td_numbers_are_zero(&gradient->numbers))
    tell(graph_task, node, TD_leaf_sight_zero);
  if (holds_some(held)) tell(graph_task, node, TD_leaf_sight_kept);
}
