/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A report as text, JSON or CSV on standard output. */
#pragma once

#include "engine/profile/ranks/late_rank.h"
#include "engine/profile/report/report.h"

/* `late` is of a report by rank, else NULL. */
void td_report_print_text(const char *path, const td_report *report, td_report_by by,
                          const td_late_rank *late);
void td_report_print_json(const td_report *report, td_report_by by, const td_late_rank *late);
void td_report_print_csv(const td_report *report, td_report_by by);

/* td_report_sort puts rows in another order, by a column of the CSV; false if there is no such
 * column. */
bool td_report_sort(td_report *report, const char *column);
