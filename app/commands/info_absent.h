/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The part of `info` about events that a tape cannot have, and why. The level is the probe's. */
#pragma once

#include "engine/base/json.h"
#include "engine/trace/tape.h"

/* td_info_print_absent prints a line for each reason. td_info_absent_json writes the member
 * "absent": reasons by kind. */
void td_info_print_absent(const td_tape_info *info, uint32_t level);
void td_info_absent_json(td_json *json, const td_tape_info *info, uint32_t level);
