/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/idle_blame.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/report_keys.h"

#include <string.h>

#define DEVICE_SHIFT 32

static td_idle_culprit *
add(td_idle *idle, td_idle_part part, td_idle_whom kind, char *who) {
  TD_GROW(idle->culprits, idle->n_culprits, idle->culprits_capacity);
  td_idle_culprit *culprit = &idle->culprits[idle->n_culprits++];
  *culprit = (td_idle_culprit){.part = part, .kind = kind, .who = who};
  return culprit;
}

/* Devices have less than 2^16 numbers, so no two keys are equal. */
static void
give(td_idle_blame *self, td_idle_part part, td_idle_whom kind, uint64_t whom, uint64_t ns) {
  td_idle *idle = self->idle;
  if (!ns) return;
  uint64_t key = (uint64_t)part << 60 | (uint64_t)kind << 58 | whom;
  uint64_t *number = td_number_map_put(&self->numbers, key);
  if (!*number) {
    add(idle, part, kind, NULL)->whom = whom;
    *number = idle->n_culprits;
  }
  idle->culprits[*number - 1].ns += ns;
}

void
td_idle_blame_thread(td_idle_blame *self, td_idle_part part, uint32_t thread, uint64_t ns) {
  if (thread != TD_NONE) give(self, part, TD_IDLE_THREAD, thread, ns);
}

void
td_idle_blame_string(td_idle_blame *self, td_idle_part part, uint32_t string, uint64_t ns) {
  give(self, part, TD_IDLE_STRING, string, ns);
}

void
td_idle_blame_stream(td_idle_blame *self, int32_t device, int32_t stream, uint64_t ns) {
  uint64_t whom = (uint64_t)(uint16_t)device << DEVICE_SHIFT | (uint32_t)stream;
  give(self, TD_IDLE_stream, TD_IDLE_STREAM, whom, ns);
}

static char *
name_of(const td_idle_culprit *culprit, const td_catalog *catalog, td_tape *tape) {
  uint32_t whom = (uint32_t)culprit->whom;
  const char *text;
  switch (culprit->kind) {
  case TD_IDLE_THREAD:
    return td_report_thread_name(catalog, whom);
  case TD_IDLE_STREAM:
    return td_report_stream_name(catalog, (int16_t)(culprit->whom >> DEVICE_SHIFT), (int32_t)whom);
  default:
    text = td_tape_string(tape, whom);
    return td_dup_string(*text ? text : "unknown operation");
  }
}

void
td_idle_blame_name(td_idle_blame *self, const td_catalog *catalog, td_tape *tape) {
  for (uint32_t i = 0; i < self->idle->n_culprits; i++) {
    td_idle_culprit *culprit = &self->idle->culprits[i];
    if (!culprit->who) culprit->who = name_of(culprit, catalog, tape);
  }
}

static void
add_devices(td_idle *idle) {
  for (uint32_t device = 0; device < TD_IDLE_DEVICES; device++) {
    uint64_t ns = 0;
    for (uint32_t i = 0; i < idle->n_threads; i++)
      ns += idle->threads[i].waited_for[device];
    if (ns && idle->devices[device])
      add(idle, TD_IDLE_other_device, TD_IDLE_DEVICE, td_dup_string(idle->devices[device]))->ns =
          ns;
  }
}

static int
compare_names(const void *a, const void *b) {
  const td_idle_culprit *left = a, *right = b;
  if (left->part != right->part) return (int)left->part - (int)right->part;
  if (left->kind != right->kind) return (int)left->kind - (int)right->kind;
  return strcmp(left->who, right->who);
}

static int
compare(const void *a, const void *b) {
  const td_idle_culprit *left = a, *right = b;
  if (left->ns != right->ns) return left->ns > right->ns ? -1 : 1;
  return compare_names(a, b);
}

/* A joined tape has a string of its own for the same name in each process. */
static void
merge(td_idle *idle) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < idle->n_culprits; i++) {
    td_idle_culprit *last = n ? &idle->culprits[n - 1] : NULL, *next = &idle->culprits[i];
    if (last && compare_names(last, next) == 0) {
      last->ns += next->ns;
      free(next->who);
    } else {
      idle->culprits[n++] = *next;
    }
  }
  idle->n_culprits = n;
}

void
td_idle_blame_end(td_idle_blame *self) {
  td_idle *idle = self->idle;
  td_number_map_fini(&self->numbers);
  add_devices(idle);
  if (!idle->n_culprits) return;
  qsort(idle->culprits, idle->n_culprits, sizeof *idle->culprits, compare_names);
  merge(idle);
  qsort(idle->culprits, idle->n_culprits, sizeof *idle->culprits, compare);
}
