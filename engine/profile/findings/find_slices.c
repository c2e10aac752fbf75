/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_slices.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

#define FORGOTTEN_TOGETHER 256u         /* nodes, at least */
#define SLICES_TOLD 100u                /* of one node: fewer are usual */
#define BYTES_TOLD (UINT64_C(64) << 20) /* less takes no time */

void
td_find_slices_make(td_find_slices *self, uint32_t node, const char *name) {
  bool is_slice = !strncmp(name, "SelectBackward", 14) || !strncmp(name, "SliceBackward", 13);
  if (!is_slice) return;
  if (self->slices.n >= self->forgotten_at) {
    td_number_map_forget_zeros(&self->slices);
    self->forgotten_at = TD_MAX(2 * self->slices.n, FORGOTTEN_TOGETHER);
  }
  *td_number_map_put(&self->slices, node) = 1;
}

void
td_find_slices_free_node(td_find_slices *self, uint32_t node) {
  uint64_t *is_slice = td_number_map_find(&self->slices, node);
  if (is_slice) *is_slice = 0;
}

void
td_find_slices_take(td_find_slices *self, const td_event_buffer_add *event, uint64_t seq) {
  const uint64_t *is_slice = td_number_map_find(&self->slices, event->from);
  if (!is_slice || !*is_slice) return;
  uint64_t *number = td_number_map_put(&self->numbers, event->node);
  if (!*number) {
    TD_GROW(self->items, self->n, self->capacity);
    self->items[self->n++] = (td_sliced){.node = event->node};
    *number = self->n;
  }
  td_sliced *item = &self->items[*number - 1];
  item->from = event->from;
  item->seq = seq;
  item->bytes += event->bytes;
  item->n++;
}

static void
forget_names(td_find_slices *self) {
  free(self->name);
  free(self->line);
  free(self->whole);
  self->name = self->line = self->whole = NULL;
}

void
td_find_slices_end_pass(td_find_slices *self) {
  for (uint32_t i = 0; i < self->n; i++) {
    if (self->items[i].n < SLICES_TOLD || self->items[i].bytes <= self->most.bytes) continue;
    self->most = self->items[i];
    forget_names(self);
  }
  self->n = 0;
  td_number_map_fini(&self->numbers);
}

void
td_find_slices_learn(td_find_slices *self, const td_catalog *catalog) {
  const td_catalog_node *slice =
      self->most.n && !self->name ? td_catalog_node_find(catalog, self->most.from) : NULL;
  if (!slice) return;
  self->name = td_dup_string(slice->name);
  self->line = td_finding_line(slice);
  self->whole = td_why_name_node(catalog, self->most.node);
}

void
td_find_slices_tell(const td_find_slices *self, td_findings *findings) {
  const td_sliced *most = &self->most;
  if (most->bytes < BYTES_TOLD || !self->name) return;
  char *text =
      td_format(td_translate("In one pass, %s got %u gradients from nodes such as %s: %llu "
                             "MB in all. Each is as large as the whole tensor that they "
                             "are slices of."),
                self->whole, most->n, self->name, (unsigned long long)most->bytes >> 20);
  td_findings_add(findings, (td_finding){.kind = TD_FINDING_whole_gradients,
                                         .seq = most->seq,
                                         .node = most->node,
                                         .n = 1,
                                         .text = text,
                                         .advice = td_dup_string(td_translate(
                                             "The gradient of a slice is zero elsewhere, and all "
                                             "are added up, so the time grows with the square of "
                                             "their number. Take all slices at once, with unbind() "
                                             "or split().")),
                                         .line = self->line ? td_dup_string(self->line) : NULL});
}

void
td_find_slices_fini(td_find_slices *self) {
  free(self->items);
  forget_names(self);
  td_number_map_fini(&self->slices);
  td_number_map_fini(&self->numbers);
  *self = (td_find_slices){0};
}
