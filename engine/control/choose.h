/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Choices of the next task: a viewer's `choose` line, and what is answered. Only an engine that
 * offers it can be steered so. Private to engine/control, but for td_choose_offer. */
#pragma once

#include "engine/control/link.h"

/* A function that has a ready task popped next. graph_task may be TD_NONE: any. It returns NULL, or
 * why that may not be: a sentence, which the caller frees. Called on the link's thread, without a
 * lock but the gate's. */
typedef char *(*td_steering)(uint32_t queue, uint32_t node, uint32_t graph_task);

/* td_choose_offer says that this process's engine can be steered. Before the gate opens. */
void td_choose_offer(td_steering steer);

/* td_choose_obey does what a `choose` line asks for and answers it on the link: `chosen` or
 * `refused`. It refuses if no thread is stopped. */
void td_choose_obey(const td_line *command, bool is_stopped, td_link *link);
