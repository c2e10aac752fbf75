/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A critical path as text or JSON on standard output. */
#pragma once

#include "engine/profile/report/critical_report.h"

void td_critical_print_text(const char *path, const td_critical_report *report);
void td_critical_print_json(const td_critical_report *report);
