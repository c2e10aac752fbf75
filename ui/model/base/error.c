/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/base/error.h"

G_DEFINE_QUARK(td - error - quark, td_error)

void
td_error_propagate(GError **to, td_error *from) {
  g_set_error_literal(to, TD_ERROR, from->status, td_error_text(from));
  td_error_clear(from);
}
