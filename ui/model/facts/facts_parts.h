/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Facts about what a node has besides its function. Private to ui/model. Main thread only. */
#pragma once

#include "ui/model/facts/fact_list.h"

/* td_facts_add_hooks adds a node's hooks in the order in which they run; td_facts_add_saved the
 * tensors that it saved for backward. */
void td_facts_add_hooks(TdFactList *facts, uint32_t node);
void td_facts_add_saved(TdFactList *facts, uint32_t node);

/* td_facts_add_conflicts adds who wrote into a saved tensor before the node needed it;
 * td_facts_add_error adds why the node failed. */
void td_facts_add_conflicts(TdFactList *facts, uint32_t node);
void td_facts_add_error(TdFactList *facts, uint32_t node);
