/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Looking for stops on a tape, in a worker with a reading of the tape of its own. Call from the
 * main thread. */
#pragma once

#include "engine/profile/stops/stop_search.h"

#include <gio/gio.h>

/* td_stop_work_find_async looks for the nearest hit of some conditions: at event `from` and after
 * it, or before it. finish returns FALSE without an error if there is none; FALSE with one of
 * TD_ERROR or G_IO_ERROR_CANCELLED. `conditions` are texts. */
void td_stop_work_find_async(const char *tape, const char *const *conditions, uint64_t from,
                             gboolean forwards, GCancellable *cancellable, GAsyncReadyCallback done,
                             gpointer data);
gboolean td_stop_work_find_finish(GAsyncResult *result, td_stop_hit *hit, GError **error);

/* td_stop_work_count_async counts the hits of each condition on the whole tape. finish returns an
 * array of uint64_t, which the caller unrefs, or NULL with an error. */
void td_stop_work_count_async(const char *tape, const char *const *conditions,
                              GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
GArray *td_stop_work_count_finish(GAsyncResult *result, GError **error);
