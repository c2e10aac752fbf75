/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/knowledge.h"

#include "engine/base/alloc.h"

#include <stdio.h>

#define OF_DUMPS 4u /* the level of tapes of PyTorch's flight recorder */

const char *
td_knowledge_level_name(uint32_t level) {
  static const char *const names[] = {"Tapedeck's own engine", "engine probe", "node hooks",
                                      "imported trace", "imported dumps"};
  return level < TD_N_ELEMENTS(names) ? names[level] : "unknown";
}

/* Kinds up to process_new tell of the recording. */
static bool
is_of_engine(uint32_t kind) {
  return kind > TD_EVENT_process_new && kind < TD_EVENT_LIMIT;
}

bool
td_knowledge_applies(const td_tape_info *info, uint32_t kind) {
  return is_of_engine(kind) && td_event_type_get(kind) &&
         (info->n_by_kind[kind] > 0 || info->known[kind] != TD_knowledge_observed);
}

char *
td_knowledge_list(const td_tape_info *info, td_knowledge how) {
  char *text = NULL;
  size_t size;
  const char *before = "";
  FILE *out = open_memstream(&text, &size);
  if (!out) return td_dup_string("");
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    if (!td_knowledge_applies(info, kind) || info->known[kind] != (uint8_t)how) continue;
    fprintf(out, "%s%s", before, td_event_type_get(kind)->name);
    before = ", ";
  }
  fclose(out);
  return text;
}

typedef struct absence {
  uint32_t level, kind;
  bool is_told; /* by the tape itself */
  const char *reason;
} absence;

static const absence *
absence_of(uint32_t level, uint32_t kind) {
  static const absence absences[] = {
#define ABSENT(level, kind, reason) {level, TD_EVENT_##kind, false, reason},
#define REASON(level, kind, reason) {level, TD_EVENT_##kind, true, reason},
#include "engine/profile/absences.def"
#undef REASON
#undef ABSENT
  };
  for (size_t i = 0; i < TD_N_ELEMENTS(absences); i++)
    if (absences[i].level == level && absences[i].kind == kind) return &absences[i];
  return NULL;
}

const char *
td_knowledge_absence(const td_tape_info *info, uint32_t level, uint32_t kind) {
  static const char *const usual[] = {
      "the recording did not observe it", "this PyTorch does not show it",
      "hooks see nodes, not the engine", "PyTorch's profiler does not write it",
      "dumps of PyTorch's flight recorder have no other events than collective"};
  if (!td_event_type_get(kind) || info->n_by_kind[kind]) return NULL;
  if (level == OF_DUMPS && is_of_engine(kind)) return usual[OF_DUMPS];
  const absence *found = absence_of(level, kind);
  bool is_told = info->known[kind] == TD_knowledge_absent;
  if (!is_told && (!found || found->is_told)) return NULL;
  if (found) return found->reason;
  return usual[level < TD_N_ELEMENTS(usual) ? level : 0];
}

td_status
td_knowledge_require_queues(const td_tape_info *info, td_error *error) {
  if (info->known[TD_EVENT_queue_pop] == TD_knowledge_observed &&
      info->n_by_kind[TD_EVENT_queue_pop])
    return TD_OK;
  return td_error_set(error, TD_UNSUPPORTED,
                      "the recording did not observe what entered and left its queues");
}
