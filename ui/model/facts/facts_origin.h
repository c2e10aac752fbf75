/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Facts about the forward pass of a node and about the numbers in its gradients. Private to
 * ui/model. Main thread only. */
#pragma once

#include "ui/model/facts/fact_list.h"

/* td_facts_add_origin adds where the forward pass made a node; td_facts_add_numbers adds the
 * statistics of its gradients up to the playhead. */
void td_facts_add_origin(TdFactList *facts, uint32_t node);
void td_facts_add_numbers(TdFactList *facts, uint32_t node);
