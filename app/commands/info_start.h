/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The part of `info` about the time before the first pass, which no event explains. */
#pragma once

#include "engine/base/json.h"
#include "engine/replay/catalog.h"

/* td_info_print_start says how long the recording took to begin, and what it did until the first
 * pass. td_info_start_json writes "first_event_ns" and "first_pass_ns", null if there is none. */
void td_info_print_start(td_tape *tape, const td_catalog *catalog);
void td_info_start_json(td_json *json, td_tape *tape, const td_catalog *catalog);
