/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Printing a chain: `why --chain`. Main thread. */
#pragma once

#include "engine/profile/chain/chain.h"

/* td_chain_print_text prints a numbered line for each step, but no more than people read.
 * td_chain_print_json prints all steps that the chain has. */
void td_chain_print_text(td_replay *replay, const td_chain *chain);
void td_chain_print_json(td_replay *replay, const td_chain *chain);
