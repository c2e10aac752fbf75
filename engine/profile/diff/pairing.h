/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which node of one backward pass is which of another, found by structure and without regard to
 * when anything ran. The nodes of a pass are listed in the order of the forward pass (sequence_nr,
 * and leaves as they are first led to). Where the lists agree place by place in name, shape and
 * edges, that is the answer. Else the longest common subsequence of the lists decides, by name and
 * shape, and in the gaps by name alone. Then edges lead from every pair to nodes of the same name
 * that have no partner yet. Private to engine/profile.
 */
#pragma once

#include "engine/profile/diff/visits.h"

/* td_pairing_find writes the partner of each visit: of task a's in partners_a[visit] the visit in
 * b, or TD_NONE; partners_b likewise. The arrays are as long as all visits of
 * a side. `places_a` and `places_b` are scratch memory of n_nodes of each graph, all TD_NONE before
 * and after. TD_OUT_OF_MEMORY. */
td_status td_pairing_find(const td_visits *a, const td_visit_task *task_a, const td_visits *b,
                          const td_visit_task *task_b, uint32_t *partners_a, uint32_t *partners_b,
                          uint32_t *places_a, uint32_t *places_b);
