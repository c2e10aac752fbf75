/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sentences about the birth of a NaN or Inf, with the event's fields in braces. Private to
 * engine/profile. Any thread. */
#pragma once

#include "engine/replay/catalog.h"

/* td_birth_sentence says where a NaN or Inf was born. NULL if this build does not know the place.
 */
const char *td_birth_sentence(const td_event_anomaly *anomaly);

/* td_birth_absorbed_sentence does so of one that became finite again. */
const char *td_birth_absorbed_sentence(const td_event_absorbed *absorbed);

/* td_birth_meaning says what the birth means and what PyTorch's anomaly mode would say. "" if there
 * is nothing to say. */
const char *td_birth_meaning(const td_event_anomaly *anomaly, const td_catalog *catalog);
