/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck info` says of training steps: which are on the tape, and what was left out. */
#pragma once

#include "engine/base/json.h"
#include "engine/replay/catalog.h"

/* td_info_print_steps prints lines for people; nothing if no process counted steps. */
void td_info_print_steps(const td_catalog *catalog);

/* td_info_print_steps_json prints the member "steps": an object for each process that counted. */
void td_info_print_steps_json(td_json *json, const td_catalog *catalog);
