/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `tapedeck report --idle` prints, on standard output. */
#pragma once

#include "engine/profile/report/idle.h"

void td_idle_print_json(const td_idle *idle);
void td_idle_print_text(const char *path, const td_idle *idle);
