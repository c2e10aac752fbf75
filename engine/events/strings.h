/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The process's table of interned strings. A string keeps its number for the life of the process.
 * Any thread may use the table, under its lock. td_intern (engine/events/emit.h) is the way in for
 * everybody else: it also puts new strings on the tape. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* td_strings_lock locks the table. A caller may emit events while it holds this lock. A fork
 * takes the lock too: Note [Forks]. */
void td_strings_lock(void);
void td_strings_unlock(void);

/* td_strings_add_locked returns the number of a string, and adds the string if it is new. is_new
 * says which. Number 0 is the empty string. */
uint32_t td_strings_add_locked(const char *text, bool *is_new);

/* td_strings_n_locked returns how many numbers are taken: every number is below it. */
uint32_t td_strings_n_locked(void);

/* td_strings_text_locked returns the text of a number. Borrowed; valid until the caller adds a
 * string or unlocks the table. */
const char *td_strings_text_locked(uint32_t id);
