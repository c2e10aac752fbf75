/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The observer for a PyTorch: made once and kept in the user's cache folder. It is compiled on
 * this machine, against the headers of that very PyTorch. Then a trial shows whether it reads
 * that PyTorch rightly. Both verdicts are kept, beside the compiler's log. */
#pragma once

#include "app/session/observer/observer_trial.h"

#include <gio/gio.h>

/* td_probe_build finds or makes the observer for a libtorch_cpu.so, and tries it with `host`. It
 * takes a minute or two, and the announcer hears so. Others who need the same observer
 * wait for a lock. With `again`, an observer that has failed is made anew.
 *
 * Returns the path of the observer (free it). If there is none, returns NULL with the reason: no
 * compiler, no headers, a complaint of the compiler, a failed trial. Its words follow "level 2,
 * because". Any thread. */
char *td_probe_build(const char *libtorch_cpu, const td_trial_host *host, gboolean again,
                     const td_announcer *announcer, GError **error);

/* td_probe_build_async does so in a thread of its own, and takes `host`. The thread may outlive the
 * caller's interest, so the announcer is static. Main thread. */
void td_probe_build_async(const char *libtorch_cpu, td_trial_host *host,
                          const td_announcer *announcer, GAsyncReadyCallback done, gpointer data);
char *td_probe_build_finish(GAsyncResult *result, GError **error);
