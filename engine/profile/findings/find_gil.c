/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_gil.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"

#include <stdlib.h>

#define WAITS 3u                     /* fewer may be an accident */
#define WAITED_NS UINT64_C(10000000) /* less is not worth a change */
#define SHARE 5u                     /* of the time of all passes: a fifth */
#define FORGOTTEN_TOGETHER 64u       /* passes that have ended, at least */

void
td_find_gil_begin_pass(td_find_gil *self, const td_event_graph_task_begin *event) {
  *td_number_map_put(&self->at_work, event->event.thread) = 1;
  if (event->depth) return;
  *td_number_map_put(&self->begun, event->graph_task) = 1 + event->event.time;
  self->n_passes++;
}

static void
forget_some(td_find_gil *self) {
  if (self->begun.n < self->forgotten_at) return;
  td_number_map_forget_zeros(&self->begun);
  self->forgotten_at = TD_MAX(2 * self->begun.n, FORGOTTEN_TOGETHER);
}

void
td_find_gil_end_pass(td_find_gil *self, const td_event_graph_task_end *event) {
  uint64_t *begun = td_number_map_find(&self->begun, event->graph_task);
  if (!begun || !*begun) return;
  uint64_t begin = *begun - 1, end = event->event.time;
  self->passes_ns += end > begin ? end - begin : 0;
  *begun = 0;
  self->n_passes--;
  forget_some(self);
}

void
td_find_gil_run(td_find_gil *self, const td_event_node_begin *event) {
  *td_number_map_put(&self->at_work, event->event.thread) = 1;
}

void
td_find_gil_hold(td_find_gil *self, const td_event_lock_held *event) {
  if (event->lock != TD_lock_kind_gil || !self->n_passes || event->holder == TD_NONE) return;
  uint64_t *number = td_number_map_put(&self->numbers, event->holder);
  if (!*number) {
    TD_GROW(self->items, self->n, self->capacity);
    self->items[self->n++] = (td_gil_holder){.thread = event->holder};
    *number = self->n;
  }
  *td_number_map_put(&self->waiting, event->event.thread) = *number;
}

void
td_find_gil_acquire(td_find_gil *self, const td_event_lock_acquired *event, uint64_t seq) {
  if (event->lock != TD_lock_kind_gil) return;
  uint64_t *waiting = td_number_map_find(&self->waiting, event->event.thread);
  if (!waiting || !*waiting) return;
  td_gil_holder *item = &self->items[*waiting - 1];
  *waiting = 0;
  if (!td_number_map_find(&self->at_work, event->event.thread)) return; /* of no pass */
  item->n_waits++;
  item->waited_ns += event->waited;
  if (event->waited < item->longest_ns) return;
  item->longest_ns = event->waited;
  item->seq = seq;
}

void
td_find_gil_learn(td_find_gil *self, const td_catalog *catalog) {
  for (uint32_t i = 0; i < self->n; i++) {
    td_gil_holder *item = &self->items[i];
    if (item->name || item->thread >= catalog->n_threads) continue;
    char *name = td_catalog_thread_label(catalog, item->thread);
    item->name = td_line_dup(name, TD_NAME_SHOWN);
    free(name);
  }
}

/* Threads that train at once wait for each other: that is no mistake of one of them. */
static bool
is_told(const td_find_gil *self, const td_gil_holder *item) {
  return item->name && item->n_waits >= WAITS && item->waited_ns >= WAITED_NS &&
         item->waited_ns >= self->passes_ns / SHARE &&
         !td_number_map_find(&self->at_work, item->thread);
}

static void
tell(const td_find_gil *self, const td_gil_holder *item, td_findings *findings) {
  td_findings_add(
      findings,
      (td_finding){
          .kind = TD_FINDING_gil_kept,
          .seq = item->seq,
          .node = TD_NONE,
          .n = 1,
          .text = td_format(
              td_translate("Threads at work for backward passes waited %.1f ms for Python's GIL, "
                           "which %s had when they began to wait: %u times. All passes took %.1f "
                           "ms."),
              (double)item->waited_ns * 1e-6, item->name, item->n_waits,
              (double)self->passes_ns * 1e-6),
          .advice = td_dup_string(td_translate(
              "That thread began no pass and ran no node. Hooks and custom Functions of Python "
              "need the GIL, and so "
              "does the caller of backward. Each waits until the other thread gives it up, which "
              "may take sys.getswitchinterval(), or longer in C code. Move that thread's work into "
              "a process."))});
}

void
td_find_gil_tell(const td_find_gil *self, td_findings *findings) {
  for (uint32_t i = 0; i < self->n; i++)
    if (is_told(self, &self->items[i])) tell(self, &self->items[i], findings);
}

void
td_find_gil_fini(td_find_gil *self) {
  for (uint32_t i = 0; i < self->n; i++)
    free(self->items[i].name);
  free(self->items);
  td_number_map_fini(&self->numbers);
  td_number_map_fini(&self->waiting);
  td_number_map_fini(&self->at_work);
  td_number_map_fini(&self->begun);
  *self = (td_find_gil){0};
}
