/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/idle.h"

#include <stdlib.h>

const char *
td_idle_part_name(td_idle_part part) {
  static const char *const names[] = {
#define X(name) #name,
      TD_IDLE_PARTS(X)
#undef X
  };
  return names[part];
}

void
td_idle_know_parts(td_idle *idle, const td_tape_info *info) {
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    idle->is_known[part] = part != TD_IDLE_stream && part != TD_IDLE_collective;
  idle->is_known[TD_IDLE_gil] = false; /* until the tape says otherwise */
  idle->is_known[TD_IDLE_lock] = info->known[TD_EVENT_lock_wait] != TD_knowledge_absent;
  idle->is_known[TD_IDLE_callbacks] = info->known[TD_EVENT_final_callback] != TD_knowledge_absent;
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
