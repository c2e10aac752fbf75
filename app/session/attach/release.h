/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Letting a program go that stands still at its gate, as the window's "Let Go" does. Main thread.
 */
#pragma once

#include "app/session/session_list.h"

/* td_attach_release lets a program run on that has a gate, and waits until it does, for some
 * seconds. It goes on being recorded. It returns a sentence about what came of it (free it), and
 * sets *done. */
char *td_attach_release(const td_session_program *program, bool *done);
