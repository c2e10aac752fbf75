/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a value was that made a result not finite: a square root at 0, two equal eigenvalues. What
 * the node saved decides, as far as the tape has it. Private to engine/profile. Any thread that
 * owns the tape's reader. */
#pragma once

#include "engine/replay/catalog.h"

/* td_value_cause returns a sentence about the birth, or NULL if nothing is known. Constant, in
 * English: td_translate gives the reader's language. */
const char *td_value_cause(const td_catalog *catalog, td_tape *tape,
                           const td_event_anomaly *anomaly);
