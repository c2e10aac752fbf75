/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/failure.h"

#include <gio/gio.h>

gboolean
td_fail(GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  *error = g_error_new_valist(G_IO_ERROR, G_IO_ERROR_FAILED, format, arguments);
  va_end(arguments);
  return FALSE;
}
