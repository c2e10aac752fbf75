/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The last lines of `tapedeck record`. Main thread. */
#pragma once

#include "app/session/record_session.h"

/* td_record_report_print says where the tapes are and what they answer, or why there are none.
 * Inside of a program it says no answers. `program` is the first word of the command. */
void td_record_report_print(const td_record_result *result, const td_record_options *options,
                            const char *program);
