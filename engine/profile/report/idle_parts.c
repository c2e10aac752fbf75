/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/idle_parts.h"

#include "engine/profile/knowledge.h"
#include "engine/profile/report/lives.h"

#include <stdlib.h>
#include <string.h>

const char *
td_idle_part_name(td_idle_part part) {
  static const char *const names[] = {
#define X(name) #name,
      TD_IDLE_PARTS(X)
#undef X
  };
  return names[part];
}

static void
know(td_idle *idle, td_idle_part part, const char *reason) {
  idle->is_known[part] = !reason;
  idle->reasons[part] = reason;
}

static const char *
absence_of(const td_tape_info *info, td_event_kind kind, const char *reason) {
  return info->known[kind] == TD_knowledge_absent ? reason : NULL;
}

void
td_idle_know_parts(td_idle *idle, const td_tape_info *info) {
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    know(idle, (td_idle_part)part, NULL);
  know(idle, TD_IDLE_lock,
       absence_of(info, TD_EVENT_lock_wait, "locks were not observed on this tape"));
  know(idle, TD_IDLE_callbacks,
       absence_of(info, TD_EVENT_final_callback, "final callbacks were not observed on this tape"));
  if (!td_life_is_known(info, TD_LIFE_no_core))
    know(idle, TD_IDLE_no_core, "waits for a core were not observed on this tape");
  know(idle, TD_IDLE_gil, "waits for Python's global lock were not observed on this tape");
  know(idle, TD_IDLE_stream, "waits for streams were not observed on this tape");
  know(idle, TD_IDLE_collective, "waits for collective operations were not observed on this tape");
}

static bool
is_set(const td_catalog *catalog, const char *name, const char *value) {
  return strcmp(td_catalog_setting_find(catalog, name), value) == 0;
}

/* Older tapes do not say that they lack such waits, so newer ones say that they have them. */
static void
learn(td_idle *idle, const td_tape_info *info, const td_catalog *catalog, td_idle_part part,
      const char *setting, td_event_kind kind) {
  const char *absence = td_knowledge_absence(info, catalog->probe_level, kind);
  if (is_set(catalog, setting, "watched")) return know(idle, part, NULL);
  if (!idle->is_known[part] && absence) idle->reasons[part] = absence;
}

void
td_idle_learn_parts(td_idle *idle, const td_tape_info *info, const td_catalog *catalog) {
  const char *no_account = td_knowledge_absence(info, catalog->probe_level, TD_EVENT_core_wait);
  if (!idle->is_known[TD_IDLE_no_core] && no_account) idle->reasons[TD_IDLE_no_core] = no_account;
  if (is_set(catalog, "gil", "watched")) know(idle, TD_IDLE_gil, NULL);
  learn(idle, info, catalog, TD_IDLE_stream, "streams", TD_EVENT_synchronize_begin);
  learn(idle, info, catalog, TD_IDLE_collective, "collectives", TD_EVENT_collective_begin);
  if (is_set(catalog, "streams", "virtual"))
    know(idle, TD_IDLE_stream, "with virtual time no thread waits for a stream");
}

void
td_idle_fini(td_idle *idle) {
  for (uint32_t i = 0; i < idle->n_threads; i++) {
    free(idle->threads[i].name);
    free(idle->threads[i].device);
  }
  free(idle->threads);
  for (uint32_t i = 0; i < idle->n_culprits; i++)
    free(idle->culprits[i].who);
  free(idle->culprits);
  for (int i = 0; i < TD_IDLE_DEVICES; i++)
    free(idle->devices[i]);
  *idle = (td_idle){0};
}
