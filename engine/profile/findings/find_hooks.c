/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_hooks.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"

#include <stdlib.h>

#define RISES 3 /* on end: a count that rises in four passes is no accident */

void
td_find_hooks_take(td_find_hooks *self, const td_event_hook_begin *event, uint64_t seq) {
  uint64_t *number = td_number_map_put(&self->numbers, event->owner);
  if (!*number) {
    TD_GROW(self->items, self->n, self->capacity);
    self->items[self->n++] = (td_hook_growth){.owner = event->owner};
    *number = self->n;
  }
  td_hook_growth *item = &self->items[*number - 1];
  if (item->now++ == 0) {
    TD_GROW(self->called, self->n_called, self->called_capacity);
    self->called[self->n_called++] = (uint32_t)*number - 1;
  }
  item->node = event->node;
  item->seq = seq;
}

static void
end_pass(td_hook_growth *item) {
  bool rises = item->before && item->now > item->before;
  if (rises && item->n_rises == 0) item->least = item->before;
  if (rises) {
    item->n_rises++;
    item->most = item->now;
  } else if (!item->has_grown) {
    item->n_rises = 0;
  }
  item->has_grown |= item->n_rises >= RISES;
  item->before = item->now;
  item->now = 0;
}

void
td_find_hooks_end_pass(td_find_hooks *self) {
  for (uint32_t i = 0; i < self->n_called; i++)
    end_pass(&self->items[self->called[i]]);
  self->n_called = 0;
}

void
td_find_hooks_tell(const td_find_hooks *self, td_tape *tape, td_findings *findings) {
  for (uint32_t i = 0; i < self->n; i++) {
    const td_hook_growth *item = &self->items[i];
    if (!item->has_grown) continue;
    char *owner = td_line_dup(td_tape_string(tape, item->owner), TD_NAME_SHOWN);
    char *text = td_format(
        "The hook %s was called %llu times in a backward pass, and more often in "
        "each of the next %u: %llu times in the last.",
        owner, (unsigned long long)item->least, item->n_rises, (unsigned long long)item->most);
    free(owner);
    td_findings_add(findings,
                    (td_finding){.kind = TD_FINDING_hooks_grow,
                                 .seq = item->seq,
                                 .node = item->node,
                                 .n = 1,
                                 .text = text,
                                 .advice = td_dup_string("The program registers it again in each "
                                                         "step. Register it once, or call remove() "
                                                         "of what register_hook returned.")});
  }
}

void
td_find_hooks_fini(td_find_hooks *self) {
  free(self->items);
  free(self->called);
  td_number_map_fini(&self->numbers);
  *self = (td_find_hooks){0};
}
