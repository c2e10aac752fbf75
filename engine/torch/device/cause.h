/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The node for which the calling thread uses devices. TD_NONE: the program itself. Any thread. */
#pragma once

#include <stdint.h>

/* td_cause_set sets it and returns the one before. */
uint32_t td_cause_set(uint32_t node);
uint32_t td_cause_now(void);
