/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a tape's passes would do under another schedule, as a tape of its own:
 * engine/profile/model/prediction.h. A worker makes it. Main thread. */
#pragma once

#include "ui/model/analysis/analysis_wish.h"

#include <gio/gio.h>

/* td_prediction_async predicts for a tape and a policy, "fifo". Of the wish it takes the devices,
 * the workers and the changes; it copies all. The policy is one of td_schedule_name's.
 * td_prediction_finish returns the prediction's path, in a folder of its own below that for
 * temporary files, or NULL and an error. The caller frees.
 */
void td_prediction_async(const char *path, const TdAnalysisWish *wish, const char *policy,
                         GCancellable *cancellable, GAsyncReadyCallback done, gpointer data);
char *td_prediction_finish(GAsyncResult *result, GError **error);

/* td_prediction_remove deletes a prediction and its folder. */
void td_prediction_remove(const char *path);
