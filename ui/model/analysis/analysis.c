/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/analysis/analysis.h"

#include "engine/profile/report/report.h"
#include "ui/model/analysis/analysis_tables.h"
#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"

#include <glib/gi18n.h>

static const char *const names[] = {
#define X(name, title) #name,
    TD_ANALYSES(X)
#undef X
};

static const char *const titles[] = {
#define X(name, title) title,
    TD_ANALYSES(X)
#undef X
};

#define CHOICES_MAX 11

static const char *const choices[TD_N_ANALYSES][CHOICES_MAX] = {
    [TD_ANALYSIS_profile] = {N_("By function"), N_("By module"), N_("By line"), N_("By node"),
                             N_("By thread"), N_("By queue"), N_("By lock"), N_("By hook"),
                             N_("By pass"), N_("By process")},
    [TD_ANALYSIS_contention] = {N_("Holders of locks"), N_("Locks"), N_("Queues"), N_("Threads")},
    [TD_ANALYSIS_critical] = {N_("The path"), N_("Slack of nodes")},
    [TD_ANALYSIS_memory] = {N_("Holders at the peak"), N_("Left after a pass"), N_("Steps")},
};

static TdTable *(*const makers[TD_N_ANALYSES])(td_tape *tape, const TdAnalysisWish *wish,
                                               td_error *error) = {
    [TD_ANALYSIS_profile] = td_analysis_profile,
    [TD_ANALYSIS_contention] = td_analysis_contention,
    [TD_ANALYSIS_critical] = td_analysis_critical,
    [TD_ANALYSIS_whatif] = td_analysis_whatif,
    [TD_ANALYSIS_memory] = td_analysis_memory,
};

const char *
td_analysis_name(guint analysis) {
  return analysis < TD_N_ANALYSES ? names[analysis] : NULL;
}

const char *
td_analysis_title(TdAnalysis analysis) {
  return _(titles[analysis]);
}

const char *
td_analysis_choice(TdAnalysis analysis, guint choice) {
  const char *name = choice < CHOICES_MAX ? choices[analysis][choice] : NULL;
  return name ? _(name) : NULL;
}

gboolean
td_analysis_has_ranges(TdAnalysis analysis) {
  return analysis == TD_ANALYSIS_profile || analysis == TD_ANALYSIS_contention ||
         analysis == TD_ANALYSIS_memory;
}

/* ---- in the worker ---- */

typedef struct Job {
  char *path, *changes, *key; /* (owned) or NULL */
  TdAnalysisWish wish;
} Job;

static void
job_free(gpointer data) {
  Job *job = data;
  g_free(job->path);
  g_free(job->changes);
  g_free(job->key);
  g_free(job);
}

static Job *
job_new(TdDocument *document, const TdAnalysisWish *wish, const char *key) {
  Job *job = g_new0(Job, 1);
  job->path = g_strdup(td_document_get_path(document));
  job->changes = g_strdup(wish->changes ? wish->changes : "");
  job->key = g_strdup(key);
  job->wish = *wish;
  job->wish.changes = job->changes;
  return job;
}

static void
return_error(GTask *task, td_error *error) {
  GError *failure = NULL;
  td_error_propagate(&failure, error);
  g_task_return_error(task, failure);
}

static bool
goes_on(void *cancellable) {
  return !g_cancellable_is_cancelled(cancellable);
}

static void
table_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const Job *job = data;
  td_error error = {0};
  td_tape *tape;
  if (td_tape_open(job->path, &tape, &error)) {
    return_error(task, &error);
    return;
  }
  td_tape_set_watch(tape, goes_on, cancellable);
  TdTable *table = makers[job->wish.analysis](tape, &job->wish, &error);
  td_tape_close(tape);
  if (table)
    g_task_return_pointer(task, table, g_object_unref);
  else
    return_error(task, &error);
}

void
td_analysis_async(TdDocument *document, const TdAnalysisWish *wish, GCancellable *cancellable,
                  GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(document, cancellable, done, data);
  g_task_set_task_data(task, job_new(document, wish, NULL), job_free);
  td_worker_start(task, table_worker);
}

TdTable *
td_analysis_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}

/* ---- nodes of a row ---- */

static void
nodes_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const Job *job = data;
  const td_catalog *catalog = td_document_get_catalog(source);
  const td_catalog_graph_task *pass = td_catalog_graph_task_find(catalog, job->wish.graph_task);
  GArray *nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t i = 0; pass && i < pass->n_ran; i++) {
    uint32_t node = catalog->ran[pass->first_ran + i];
    if (td_report_has_node((td_report_by)job->wish.choice, catalog, node, job->key))
      g_array_append_val(nodes, node);
  }
  g_task_return_pointer(task, nodes, (GDestroyNotify)g_array_unref);
}

void
td_analysis_nodes_async(TdDocument *document, const TdAnalysisWish *wish, const char *key,
                        GCancellable *cancellable, GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(document, cancellable, done, data);
  g_task_set_task_data(task, job_new(document, wish, key), job_free);
  td_worker_start(task, nodes_worker);
}

GArray *
td_analysis_nodes_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
