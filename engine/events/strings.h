/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The process's interned strings, private to engine/events: numbers are given once and for all, and
 * each recording is told every string it may meet. Any thread. */
#pragma once

#include <stdint.h>

#define TD_STRING_BYTES_MAX 60000 /* longer strings are cut: a record's size has 16 bits */

/* td_strings_emit_all puts every known string on the tape that begins. */
void td_strings_emit_all(void);

/* td_emit_string emits one `string` event. */
void td_emit_string(uint32_t id, const char *text);

/* td_strings_lock and td_strings_unlock bracket a fork: the child must not inherit the table half
 * changed, nor its mutex from a thread that it does not have. */
void td_strings_lock(void);
void td_strings_unlock(void);
