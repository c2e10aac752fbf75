/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sentences about what led to a problem. Any thread that owns the tape's reader. */
#pragma once

#include "engine/replay/cause_list.h"

/* td_cause_words says what td_cause_look_up found: "Event 12 may have led to it: Inf was born in
 * node #4". A write has the line of the program too. It returns "" if there is nothing to say. The
 * catalog names the nodes. The caller frees. */
char *td_cause_words(const td_catalog *catalog, td_tape *tape, td_cause_known known,
                     uint64_t cause);
