/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a birth of a NaN or Inf has to do with others. Private to engine/profile. Any thread that
 * owns the tape's reader. */
#pragma once

#include "engine/replay/catalog.h"

#include <stdio.h>

/* td_birth_first_gradient says which gradient has the first NaN in the pass of a birth of the
 * forward pass, of a tape that knows such edges. "" if that is not known. The caller frees. */
char *td_birth_first_gradient(const td_catalog *catalog, td_tape *tape, uint64_t seq);

/* td_birth_links_say says, after what `out` has, which earlier birth may have led to event seq.
 * After a birth of the forward pass it names the first NaN in the gradients. */
void td_birth_links_say(FILE *out, const td_catalog *catalog, td_tape *tape, uint64_t seq,
                        const td_event_anomaly *anomaly);
