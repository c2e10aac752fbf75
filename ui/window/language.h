/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The language of the window. Main thread. */
#pragma once

/* td_language_begin takes the user's language, as LANGUAGE, LC_MESSAGES and LANG name it. What
 * commands print stays English, for scripts. Call it before the first function of GTK. */
void td_language_begin(void);
