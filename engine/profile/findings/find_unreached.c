/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_unreached.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"

#include <stdlib.h>

void
td_find_unreached_take(td_find_unreached *self, const td_event_no_gradient *event, uint64_t seq) {
  if (self->n == 0) self->seq = seq;
  if (self->n < TD_UNREACHED_NAMED) self->names[self->n] = event->name;
  self->n++;
}

/* "a, b" */
static char *
list_names(const td_find_unreached *self, td_tape *tape) {
  char *list = td_dup_string("");
  for (uint64_t i = 0; i < TD_MIN(self->n, TD_UNREACHED_NAMED); i++) {
    char *name = td_line_dup(td_tape_string(tape, self->names[i]), TD_NAME_SHOWN);
    char *longer = td_format("%s%s%s", list, i ? ", " : "", name);
    free(name);
    free(list);
    list = longer;
  }
  return list;
}

void
td_find_unreached_tell(const td_find_unreached *self, td_tape *tape, td_findings *findings) {
  if (!self->n) return;
  char *names = list_names(self, tape);
  char *more = self->n > TD_UNREACHED_NAMED
                   ? td_format(" and %llu more", (unsigned long long)self->n - TD_UNREACHED_NAMED)
                   : td_dup_string("");
  char *text =
      td_format("%s%s had no gradient when the optimizer had made its first step.", names, more);
  td_findings_add(
      findings, (td_finding){.kind = TD_FINDING_no_gradient,
                             .seq = self->seq,
                             .node = TD_NONE,
                             .n = 1,
                             .text = text,
                             .advice = td_dup_string(
                                 "The loss does not depend on it, or its branch was detached: by "
                                 "detach(), item(), no_grad() or an operation such as argmax().")});
  free(names);
  free(more);
}
