/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/number_rows.h"

#include <string.h>

static int64_t
length_of(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

/* Inserts a dimension so that the shortest stride comes first. */
static void
insert_dim(td_number_rows *self, int64_t size, int64_t stride) {
  int at = self->n_dims++;
  for (; at > 0 && length_of(self->strides[at - 1]) > length_of(stride); at--) {
    self->sizes[at] = self->sizes[at - 1];
    self->strides[at] = self->strides[at - 1];
  }
  self->sizes[at] = size;
  self->strides[at] = stride;
}

/* Two dimensions are one if a step in the outer is as long as a whole row of the inner. */
static void
merge_dims(td_number_rows *self) {
  int kept = 0;
  for (int dim = 1; dim < self->n_dims; dim++) {
    if (self->strides[dim] == self->strides[kept] * self->sizes[kept]) {
      self->sizes[kept] *= self->sizes[dim];
      continue;
    }
    kept++;
    self->sizes[kept] = self->sizes[dim];
    self->strides[kept] = self->strides[dim];
  }
  if (self->n_dims > 0) self->n_dims = kept + 1;
}

void
td_number_rows_init(td_number_rows *self, const td_numbers *numbers, int n_parts, int n_bytes) {
  self->at = numbers->data;
  self->n_dims = 0;
  self->n_bytes = n_bytes;
  self->repeat = 1;
  self->started = self->empty = false;
  if (n_parts > 1) insert_dim(self, n_parts, 1);
  for (int dim = 0; dim < numbers->n_dims; dim++) {
    int64_t size = numbers->sizes[dim];
    if (size <= 0) self->empty = true;
    if (numbers->strides[dim] == 0)
      self->repeat *= (uint64_t)size;
    else if (size != 1)
      insert_dim(self, size, numbers->strides[dim] * n_parts);
  }
  merge_dims(self);
  self->n = self->n_dims ? self->sizes[0] : 1;
  self->step = self->n_dims ? self->strides[0] : 1;
  memset(self->index, 0, (size_t)self->n_dims * sizeof *self->index);
}

bool
td_number_rows_next(td_number_rows *self) {
  if (!self->started) {
    self->started = true;
    return !self->empty;
  }
  for (int dim = 1; dim < self->n_dims; dim++) {
    bool carry = ++self->index[dim] == self->sizes[dim];
    self->at += (carry ? 1 - self->sizes[dim] : 1) * self->strides[dim] * self->n_bytes;
    if (!carry) return true;
    self->index[dim] = 0;
  }
  return false;
}
