/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is said of a birth of NaN or Inf: where, and what it means. Sentences with the event's
 * fields in braces. Private to engine/profile. Any thread. */
#pragma once

#include "engine/replay/catalog.h"

/* td_birth_sentence says where something was born, NULL where that is unknown here. */
const char *td_birth_sentence(const td_event_anomaly *anomaly);

/* td_birth_meaning says what to make of it, beside what PyTorch's anomaly mode makes of it; ""
 * where there is nothing to say. */
const char *td_birth_meaning(const td_event_anomaly *anomaly, const td_catalog *catalog);
