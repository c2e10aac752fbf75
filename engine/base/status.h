/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Status codes of the engine, and the optional detail that goes with them. Every fallible function
 * returns a td_status; TD_OK is 0. It writes its results through its last parameters, and only on
 * success. Any thread. A td_error belongs to the caller that passed it in. */
#pragma once

#include <stdarg.h>

typedef enum td_status {
#define TD_STATUS(name, message) TD_##name,
#include "engine/base/status.def"
#undef TD_STATUS
  TD_N_STATUSES
} td_status;

/* What went wrong, in words for a person. Initialise it with zeros; td_error_clear frees what it
 * holds. `foreign` carries an exception of the embedding language through the engine unchanged. */
typedef struct td_error {
  td_status status;
  char *message; /* (owned) */
  void *foreign; /* (owned) */
  void (*foreign_free)(void *foreign);
} td_error;

/* td_status_message returns a short English text. */
const char *td_status_message(td_status status);

/* td_error_set replaces what `error` holds by a status and a formatted message. `error` may be
 * NULL. It returns the status, so that one can write `return td_error_set(error, TD_SHAPE, ...)`.
 */
td_status td_error_set(td_error *error, td_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* td_error_prefix puts a formatted text in front of the message that error holds, if any. */
void td_error_prefix(td_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* td_error_move moves what `from` holds into `to`, or frees it if `to` is NULL. `from` is empty
 * then. */
void td_error_move(td_error *to, td_error *from);

/* td_error_text returns the message, or the status's own text if there is none. Borrowed. */
const char *td_error_text(const td_error *error);

void td_error_clear(td_error *error);
