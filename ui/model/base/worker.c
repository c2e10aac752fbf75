/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/base/worker.h"

static gint n_busy;    /* workers at work */
static gint n_awaited; /* tasks whose callback was not called yet */

static GQuark
work_quark(void) {
  return g_quark_from_static_string("td-work");
}

static void
run(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  union {
    gpointer pointer;
    GTaskThreadFunc work;
  } self = {g_object_get_qdata(G_OBJECT(task), work_quark())};
  self.work(task, source, data, cancellable);
  g_atomic_int_add(&n_busy, -1);
}

static void
completed(GTask *task) {
  g_atomic_int_add(&n_awaited, -1);
}

void
td_worker_start(GTask *task, GTaskThreadFunc work) {
  g_atomic_int_inc(&n_busy);
  g_atomic_int_inc(&n_awaited);
  g_signal_connect(task, "notify::completed", G_CALLBACK(completed), NULL);
  g_object_set_qdata(G_OBJECT(task), work_quark(), (gpointer)work);
  g_task_run_in_thread(task, run);
}

gboolean
td_worker_is_busy(void) {
  return g_atomic_int_get(&n_busy) > 0;
}

gboolean
td_worker_is_awaited(void) {
  return g_atomic_int_get(&n_awaited) > 0;
}
