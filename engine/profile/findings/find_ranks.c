/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/find_ranks.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/ranks/autopsy_words.h"
#include "engine/profile/sentence.h"
#include "engine/profile/why/describe.h"

#include <stdlib.h>
#include <string.h>

static uint32_t
process_of(const td_catalog *catalog, const td_event *event) {
  return event->thread < catalog->n_threads ? catalog->threads[event->thread].process : 0;
}

void
td_find_ranks_take(td_find_ranks *self, td_tape *tape, const td_catalog *so_far,
                   const td_event_collective *event, uint64_t seq) {
  td_handed handed = {
      .operation = td_tape_string(tape, event->operation),
      .dtype = td_tape_string(tape, event->dtype),
      .stack = event->stack ? td_tape_string(tape, event->stack) : "",
      .elements = event->elements,
      .time = event->event.time,
      .seq = seq,
      .number = event->number,
      .tensors = event->tensors,
      .node = event->node,
      .peer = event->peer,
  };
  td_autopsy_take(&self->autopsy, process_of(so_far, &event->event), event,
                  td_tape_string(tape, event->group), handed);
}

void
td_find_ranks_end(td_find_ranks *self, const td_catalog *so_far,
                  const td_event_session_end *event) {
  td_autopsy_end(&self->autopsy, process_of(so_far, &event->event), event->status,
                 event->event.time);
}

void
td_find_ranks_go(td_find_ranks *self, const td_catalog *so_far,
                 const td_event_process_gone *event) {
  if (event->process >= so_far->n_processes) return;
  td_autopsy_go(&self->autopsy, event->process, event->event.time);
}

void
td_find_ranks_see(td_find_ranks *self, td_tape *tape, const td_catalog *so_far,
                  const td_any_event *event, uint64_t seq) {
  bool is_label = event->event.kind == TD_EVENT_node_label;
  if (!td_tape_info_get(tape)->n_by_kind[TD_EVENT_collective]) return;
  td_pass_leaves_take(&self->autopsy.leaves, process_of(so_far, &event->event), event,
                      is_label ? td_tape_string(tape, event->node_label.label) : NULL);
  if (!self->autopsy.is_of_dumps) td_lateness_take(&self->lateness, tape, so_far, event, seq);
}

void
td_find_ranks_set(td_find_ranks *self, td_tape *tape, const td_event_setting *event) {
  const char *value = td_tape_string(tape, event->value);
  if (strcmp(td_tape_string(tape, event->name), "order of collectives") != 0) return;
  if (strcmp(value, "dumped") == 0)
    self->autopsy.is_of_dumps = true;
  else if (strcmp(value, "whole") != 0)
    td_autopsy_lack(&self->autopsy);
}

static char *
name_process_cb(void *data, uint32_t process) {
  return td_catalog_process_label(data, process);
}

static char *
name_node_cb(void *data, uint32_t process, uint32_t node) {
  return td_catalog_node_find(data, node) ? td_why_name_node(data, node) : NULL;
}

static void
forget(td_finding *finding) {
  free(finding->text);
  free(finding->advice);
  free(finding->line);
  *finding = (td_finding){0};
}

static void
learn_lateness(td_find_ranks *self, const td_catalog *catalog) {
  td_late late;
  forget(&self->late);
  if (!td_lateness_find(&self->lateness, &late)) return;
  self->late = (td_finding){.kind = TD_FINDING_rank_late,
                            .seq = late.seq,
                            .node = TD_NONE,
                            .n = late.n,
                            .text = td_late_text(&late, catalog),
                            .advice = td_dup_string(td_sentence_text(TD_SAY_late_advice))};
}

void
td_find_ranks_learn(td_find_ranks *self, td_tape *tape, const td_catalog *catalog) {
  const td_tape_info *info = td_tape_info_get(tape);
  td_autopsy_names names = {name_process_cb, name_node_cb, (void *)catalog};
  forget(&self->found);
  learn_lateness(self, catalog);
  if (info->n_dropped || (info->damage && !info->is_cut_off)) td_autopsy_lack(&self->autopsy);
  td_parting parting = td_autopsy_find(&self->autopsy, info->duration_ns, 0);
  if (!parting.group) return;
  const td_handed *shown = parting.differs ? &parting.other : &parting.handed;
  char *place = td_autopsy_place(shown);
  self->found = (td_finding){
      .kind = TD_FINDING_ranks_part,
      .seq = shown->seq,
      .node = TD_NONE,
      .n = 1,
      .text = td_autopsy_text(&self->autopsy, &parting, &names),
      .advice = td_dup_string(td_autopsy_advice(&parting)),
      .line = place ? td_line_make(place, TD_NAME_SHOWN) : NULL,
  };
}

/* Whether a group has members that the tape lacks. Of such a group, nothing is known. */
static bool
lacks_ranks(const td_autopsy *autopsy) {
  for (uint32_t i = 0; i < autopsy->n_groups; i++)
    if (autopsy->groups[i].n_members < autopsy->groups[i].size) return true;
  return false;
}

void
td_find_ranks_tell(td_find_ranks *self, td_findings *findings) {
  if (self->found.text)
    td_findings_add(findings, self->found);
  else if (lacks_ranks(&self->autopsy))
    findings->unjudged[TD_FINDING_ranks_part] = true;
  if (self->late.text) td_findings_add(findings, self->late);
  self->found = self->late = (td_finding){0};
}

void
td_find_ranks_fini(td_find_ranks *self) {
  forget(&self->found);
  forget(&self->late);
  td_lateness_fini(&self->lateness);
  td_autopsy_fini(&self->autopsy);
}
