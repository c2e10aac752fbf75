/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Findings that single events tell: NaN and Inf, errors, conflicts, warnings. A birth to which an
 * earlier one led is no finding: the earlier one counts it. An Inf of the forward pass is doubted
 * if its tape does not tell whether it got to the root (td_cause_knows_fates). If the tape tells
 * the edges that such values went over, it counts if a birth follows from it, or if its node handed
 * on a gradient that is not finite. Of other tapes it counts if any birth follows in its pass.
 * Private to engine/profile/findings. Zero-initialise. */
#pragma once

#include "engine/base/text_table.h"
#include "engine/profile/findings/finding.h"
#include "engine/replay/causes.h"

typedef struct td_trouble {
  uint64_t seq;
  bool is_doubted;
  td_any_event event;
} td_trouble;

/* A doubted problem of an earlier segment. */
typedef struct td_held_trouble {
  td_finding finding;
  uint32_t key;
} td_held_trouble;

typedef struct td_find_troubles {
  td_trouble *items; /* (owned) of this segment */
  uint32_t n, capacity;
  uint64_t n_left_out;
  uint32_t n_doubted; /* of the items, and of those held */
  uint64_t n_doubted_left_out;
  td_held_trouble *held; /* (owned) */
  uint32_t n_held, held_capacity;
  uint32_t n_believed;                /* of those held: the first ones */
  td_event_version_conflict conflict; /* the last one, or zeros */
  uint32_t n_explained;               /* errors of a second backward pass */
  td_text_table keys;                 /* what tells them apart */
  uint32_t *found;                    /* (owned) by key: 1 + the finding, or 0 */
  uint32_t found_capacity;
  bool knows_edges;      /* as td_cause_knows_edges; false until the tape says so */
  bool lacks_fates;      /* the opposite of td_cause_knows_fates, if the tape knows edges */
  td_number_map went_on; /* nodes that handed on such a gradient in this pass */
  td_births births;      /* if so: those that may be causes */
  uint32_t n_searched;   /* for causes, in this segment */
  uint32_t n_traced;     /* births of the forward pass whose NaN in the gradients is looked for */
  td_number_map led;     /* by finding: how many births it led to */
  td_number_map masks;   /* by event: an Inf that the NaN which came of it tells of */
} td_find_troubles;

/* td_find_troubles_take takes each event in order, and its tape. td_find_troubles_end_pass says
 * that an outermost pass has ended: what is still doubted by then is no finding.
 * td_find_troubles_tell adds what the events of a segment told; it needs the segment's catalog. */
void td_find_troubles_take(td_find_troubles *self, td_tape *tape, const td_any_event *event,
                           uint64_t seq);
void td_find_troubles_end_pass(td_find_troubles *self);
void td_find_troubles_tell(td_find_troubles *self, const td_catalog *catalog, td_tape *tape,
                           td_findings *findings);
/* td_find_troubles_finish adds to the findings what they led to, after the last segment. */
void td_find_troubles_finish(td_find_troubles *self, const td_findings *findings);
void td_find_troubles_fini(td_find_troubles *self);
