/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Conditions that people may take for a new stop, in place of typing them. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

typedef struct TdStopOffer {
  char *title;     /* (owned) what happens then, translated */
  char *condition; /* (owned) "node:6"; "op:" if people may type on */
} TdStopOffer;

/* td_stop_offers_of_node returns conditions about the selected node, if there is one.
 * td_stop_offers_of_kinds returns one for each kind of condition. Arrays of TdStopOffer, which the
 * caller unrefs. */
GPtrArray *td_stop_offers_of_node(TdPlayhead *playhead);
GPtrArray *td_stop_offers_of_kinds(void);
