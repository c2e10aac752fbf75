/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steps of a chain in English. Any thread that owns the tape's reader. */
#pragma once

#include "engine/profile/chain/chain_steps.h"
#include "engine/replay/catalog.h"

/* td_chain_words returns the sentence of step i: "MulBackward0 #2 made the last gradient of
 * SinBackward0 #0: ...". The catalog is that of the replay that the chain is of. The caller frees.
 */
char *td_chain_words(const td_catalog *catalog, td_tape *tape, const td_chain *chain, uint32_t i);
