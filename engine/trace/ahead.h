/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decoding ahead: a thread loads the blocks of a tape in order, while another thread uses them. The
 * thread owns the source from td_ahead_new to td_ahead_free. */
#pragma once

#include "engine/trace/block.h"

typedef struct td_ahead td_ahead;

/* td_ahead_new loads the blocks from `first` up to `end`. NULL if there is no second processor or
 * no thread to be had. */
td_ahead *td_ahead_new(td_block_source *source, uint64_t first, uint64_t end);

/* td_ahead_free stops the thread, and frees its blocks. */
void td_ahead_free(td_ahead *ahead);

/* td_ahead_take waits for a block and returns it. It is valid until the next call. NULL if it is
 * not the block after the one taken before. */
const td_block *td_ahead_take(td_ahead *ahead, uint64_t number);
