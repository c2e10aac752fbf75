/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The first operation of a process group at which ranks part, by their tapes. Main thread. */
#pragma once

#include <glib.h>

/* td_attach_parting_tell compares the operations of a list of td_attach_rank. It returns a
 * sentence, which the caller frees, or NULL: none parts, or none for long. */
char *td_attach_parting_tell(const GPtrArray *ranks);
