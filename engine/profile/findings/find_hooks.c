/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_hooks.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"

#include <stdlib.h>

#define RISES 3 /* without a fall between them: three are no accident */

void
td_find_hooks_take(td_find_hooks *self, const td_event_hook_begin *event, uint64_t seq) {
  uint64_t *number = td_number_map_put(&self->numbers, event->owner);
  if (!*number) {
    TD_GROW(self->items, self->n, self->capacity);
    self->items[self->n++] = (td_hook_growth){.owner = event->owner};
    *number = self->n;
  }
  td_hook_growth *item = &self->items[*number - 1];
  uint64_t *calls = td_number_map_put(&self->calls, (*number - 1) << 32 | event->node);
  ++*calls;
  item->now = TD_MAX(item->now, *calls);
  item->node = event->node;
  item->seq = seq;
}

static void
end_pass(td_hook_growth *item) {
  bool falls = item->now < item->before;
  if (!item->has_grown && (falls || !item->before)) {
    item->n_rises = 0;
    item->least = item->most = item->now;
  }
  if (item->now > item->most) {
    item->n_rises++;
    item->most = item->now;
  }
  item->has_grown |= item->n_rises >= RISES;
  item->before = item->now;
  item->now = 0;
}

void
td_find_hooks_end_pass(td_find_hooks *self) {
  for (uint32_t i = 0; i < self->calls.n; i++) {
    td_hook_growth *item = &self->items[self->calls.entries[i].key >> 32];
    if (item->now) end_pass(item);
  }
  td_number_map_fini(&self->calls);
}

void
td_find_hooks_tell(const td_find_hooks *self, td_tape *tape, td_findings *findings) {
  for (uint32_t i = 0; i < self->n; i++) {
    const td_hook_growth *item = &self->items[i];
    if (!item->has_grown) continue;
    char *owner = td_line_dup(td_tape_string(tape, item->owner), TD_NAME_SHOWN);
    char *text = td_format(
        td_translate("From one backward pass to a later one, the calls of the hook %s by one node "
                     "became more, %u times: from %llu to %llu."),
        owner, item->n_rises, (unsigned long long)item->least, (unsigned long long)item->most);
    free(owner);
    td_findings_add(findings, (td_finding){.kind = TD_FINDING_hooks_grow,
                                           .seq = item->seq,
                                           .node = item->node,
                                           .n = 1,
                                           .text = text,
                                           .advice = td_dup_string(td_translate(
                                               "The program registers it again in each "
                                               "step. Register it once, or call remove() "
                                               "of what register_hook returned."))});
  }
}

void
td_find_hooks_fini(td_find_hooks *self) {
  free(self->items);
  td_number_map_fini(&self->calls);
  td_number_map_fini(&self->numbers);
  *self = (td_find_hooks){0};
}
