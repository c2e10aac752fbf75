/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a tape knows its events. A probe has a level. It saw the events of a kind, reconstructed
 * them, or cannot see them. Any thread. */
#pragma once

#include "engine/trace/tape.h"

/* td_knowledge_level_name returns what a level is called: "engine probe", "node hooks" ...
 * Constant. */
const char *td_knowledge_level_name(uint32_t level);

/* td_knowledge_applies tells whether something is known of a kind on this tape: it has events, or
 * the tape says how they are known. */
bool td_knowledge_applies(const td_tape_info *info, uint32_t kind);

/* td_knowledge_list returns the names of the kinds known in one way, "buffer_add, buffer_new", or
 * "" for none. Kinds that tell of the recording itself are not among them. The caller frees. */
char *td_knowledge_list(const td_tape_info *info, td_knowledge how);

/* td_knowledge_absence returns why a tape of a level cannot have events of a kind; NULL if it may.
 * Constant. */
const char *td_knowledge_absence(const td_tape_info *info, uint32_t level, uint32_t kind);

/* td_knowledge_require_queues returns TD_UNSUPPORTED if nobody saw what entered and left the queues
 * of a tape. */
td_status td_knowledge_require_queues(const td_tape_info *info, td_error *error);
