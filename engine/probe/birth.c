/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/birth.h"

#include "engine/base/numbers.h"
#include "engine/control/gate.h"
#include "engine/events/emit.h"
#include "engine/probe/steps.h"

unsigned td_births_wanted;

bool
td_birth_note(unsigned before, unsigned after, const td_birth *birth) {
  unsigned fresh = td_numbers_born(before, after) & td_births_wanted;
  if (!fresh) return false;
  td_anomaly_kind kind = fresh & TD_NUMBERS_NAN ? TD_anomaly_kind_nan : TD_anomaly_kind_inf;
  if (kind == TD_anomaly_kind_inf && birth->absorbed) {
    TD_EMIT(absorbed, .born = birth->place, .node = birth->node, .number = birth->number);
    return true;
  }
  TD_EMIT(anomaly, .kind = kind, .born = birth->place, .node = birth->node,
          .graph_task = birth->graph_task, .number = birth->number, .from = birth->from,
          .from_output_nr = birth->from_output_nr, .other = birth->other,
          .other_output_nr = birth->other_output_nr, .hook = birth->hook);
  if (kind == TD_anomaly_kind_nan) td_steps_note_nan();
  td_gate_note(kind == TD_anomaly_kind_nan ? TD_TROUBLE_NAN : TD_TROUBLE_INF, birth->node);
  return true;
}
