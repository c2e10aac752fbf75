/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lines of several parts, such as "event 12 of 90 · step 3". */
#pragma once

#include <glib.h>

/* td_dotted_add adds a part. It adds nothing for NULL or "". td_dotted_take frees the part too. */
void td_dotted_add(GString *line, const char *part);
void td_dotted_take(GString *line, char *part);
