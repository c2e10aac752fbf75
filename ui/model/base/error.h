/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one place where an engine's td_error becomes a GError. Any thread. */
#pragma once

#include "engine/base/status.h"

#include <glib.h>

#define TD_ERROR (td_error_quark())
GQuark td_error_quark(void);

/* td_error_propagate turns what `from` holds into a GError whose code is the td_status, and clears
 * `from`. `to` may be NULL. */
void td_error_propagate(GError **to, td_error *from);
