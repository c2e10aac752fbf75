/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/analysis/prediction_work.h"

#include "engine/profile/model/prediction.h"
#include "engine/replay/segments.h"
#include "ui/model/analysis/whatif_changes.h"
#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>

typedef struct Job {
  char *path, *policy, *changes; /* (owned) */
  guint n_devices, n_workers;
} Job;

static void
job_free(gpointer data) {
  Job *job = data;
  g_free(job->path);
  g_free(job->policy);
  g_free(job->changes);
  g_free(job);
}

/* "digits, what-if fifo.tape": people read it as a title. */
static char *
dup_name(const Job *job, const char *folder) {
  g_autofree char *name = g_path_get_basename(job->path);
  if (g_str_has_suffix(name, ".tape")) name[strlen(name) - strlen(".tape")] = '\0';
  g_autofree char *file = g_strdup_printf("%s, what-if %s.tape", name, job->policy);
  return g_build_filename(folder, file, NULL);
}

static td_status
write_tape(const Job *job, const char *output, td_error *error) {
  td_tape *tape;
  g_auto(GStrv) words = g_strsplit_set(job->changes, " ,", -1);
  g_autoptr(GArray) scalings = g_array_new(FALSE, FALSE, sizeof(td_scaling));
  unsigned frees = 0;
  td_status status = td_whatif_read_changes(words, scalings, &frees, error);
  if (!status) status = td_tape_open(job->path, &tape, error);
  if (status) return status;
  const td_virtual_plan plan = {.schedule = td_schedule_find(job->policy),
                                .n_devices = job->n_devices,
                                .n_workers = MAX(job->n_workers, 1),
                                .scalings = (const td_scaling *)(void *)scalings->data,
                                .n_scalings = scalings->len,
                                .frees = frees};
  status = td_prediction_write(tape, &plan, output, true, error);
  td_tape_close(tape);
  if (!status) (void)td_segments_add(output, TD_SEGMENT_EVENTS, NULL); /* it is as good without */
  return status;
}

static void
worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const Job *job = data;
  GError *failure = NULL;
  td_error error = {0};
  g_autofree char *folder = g_dir_make_tmp("tapedeck-whatif-XXXXXX", &failure);
  if (!folder) {
    g_task_return_error(task, failure);
    return;
  }
  g_autofree char *output = dup_name(job, folder);
  if (write_tape(job, output, &error) == TD_OK) {
    g_task_return_pointer(task, g_steal_pointer(&output), g_free);
    return;
  }
  td_prediction_remove(output);
  td_error_propagate(&failure, &error);
  g_task_return_error(task, failure);
}

void
td_prediction_async(const char *path, const TdAnalysisWish *wish, const char *policy,
                    GCancellable *cancellable, GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, done, data);
  Job *job = g_new0(Job, 1);
  *job = (Job){.path = g_strdup(path),
               .policy = g_strdup(policy),
               .changes = g_strdup(wish->changes),
               .n_devices = wish->n_devices,
               .n_workers = wish->n_workers};
  g_task_set_task_data(task, job, job_free);
  td_worker_start(task, worker);
}

char *
td_prediction_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}

void
td_prediction_remove(const char *path) {
  g_autofree char *folder = g_path_get_dirname(path);
  g_unlink(path);
  g_rmdir(folder);
}
