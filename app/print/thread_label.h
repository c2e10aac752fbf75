/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "engine/replay/catalog.h"

/* td_thread_label returns a thread's name, or its number if it has no name. "-" of TD_NONE. The
 * caller frees it. */
char *td_thread_label(const td_catalog *catalog, uint32_t thread);
