/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* td_fail sets *error, a G_IO_ERROR_FAILED with these words, and returns FALSE. Any thread. */
gboolean td_fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
