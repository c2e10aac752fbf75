/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a recorded program said last. Any thread. */
#pragma once

/* td_last_words returns the last line that a program wrote, without the lines that Tapedeck adds
 * after it. NULL if there is none. The caller frees. */
char *td_last_words(const char *said);
