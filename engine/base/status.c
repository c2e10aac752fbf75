/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/status.h"

#include "engine/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const messages[] = {
#define TD_STATUS(name, message) message,
#include "engine/base/status.def"
#undef TD_STATUS
};

const char *
td_status_message(td_status status) {
  return messages[status];
}

td_status
td_error_set(td_error *error, td_status status, const char *format, ...) {
  if (!error) return status;
  va_list args;
  va_start(args, format);
  char *message = td_format_v(format, args);
  va_end(args);
  td_error_clear(error);
  error->status = status;
  error->message = message;
  return status;
}

void
td_error_prefix(td_error *error, const char *format, ...) {
  if (!error || error->status == TD_OK) return;
  va_list args;
  va_start(args, format);
  char *prefix = td_format_v(format, args);
  va_end(args);
  char *message = td_format("%s%s", prefix, td_error_text(error));
  free(prefix);
  free(error->message);
  error->message = message;
}

void
td_error_move(td_error *to, td_error *from) {
  if (to) {
    td_error_clear(to);
    *to = *from;
    *from = (td_error){0};
  } else {
    td_error_clear(from);
  }
}

const char *
td_error_text(const td_error *error) {
  return error->message ? error->message : td_status_message(error->status);
}

void
td_error_clear(td_error *error) {
  if (!error) return;
  free(error->message);
  if (error->foreign && error->foreign_free) error->foreign_free(error->foreign);
  *error = (td_error){0};
}
