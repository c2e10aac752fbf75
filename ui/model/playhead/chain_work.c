/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/chain_work.h"

#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"
#include "ui/model/document/document_segment.h"

typedef struct Wish {
  char *path; /* (owned) */
  gboolean is_cut;
  uint64_t seq;
  uint32_t node;
  GCancellable *cancellable; /* (owned) or NULL */
  td_chain chain;            /* (owned) found */
} Wish;

static void
wish_free(gpointer data) {
  Wish *wish = data;
  g_clear_object(&wish->cancellable);
  td_chain_fini(&wish->chain);
  g_free(wish->path);
  g_free(wish);
}

/* ---- in the worker ---- */

static bool
has_patience(double share, void *data) {
  return !g_cancellable_is_cancelled(((Wish *)data)->cancellable);
}

static td_status
open_replay(Wish *wish, td_replay **replay, td_error *error) {
  td_tape *tape;
  td_status status = td_tape_open(wish->path, &tape, error);
  if (status) return status;
  td_segment segment = wish->is_cut ? td_tape_segment_at(tape, wish->seq) : td_tape_whole(tape);
  return td_replay_new(tape, &segment, has_patience, wish, replay, error);
}

static void
work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  Wish *wish = data;
  td_replay *replay = NULL;
  td_error error = {0};
  td_status status = open_replay(wish, &replay, &error);
  if (!status) {
    status = td_chain_make(replay, wish->seq, wish->node, &wish->chain, &error);
    td_replay_close(replay);
  }
  if (!status) {
    g_task_return_boolean(task, TRUE);
    return;
  }
  GError *failure = NULL;
  td_error_propagate(&failure, &error);
  g_task_return_error(task, failure);
}

/* ---- in the main thread ---- */

void
td_chain_work_async(TdDocument *document, uint64_t seq, uint32_t node, GCancellable *cancellable,
                    GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(document, cancellable, done, data);
  Wish *wish = g_new0(Wish, 1);
  wish->path = g_strdup(td_document_get_path(document));
  wish->is_cut = td_document_is_cut(document);
  wish->seq = seq;
  wish->node = node;
  g_set_object(&wish->cancellable, cancellable);
  g_task_set_task_data(task, wish, wish_free);
  td_worker_start(task, work);
}

static bool
is_known(const td_catalog *catalog, const td_chain_step *step) {
  return (step->node == TD_NONE || td_catalog_has_node(catalog, step->node)) &&
         (step->edge == TD_NONE || step->edge < catalog->n_edges);
}

/* Somebody may have replaced the file since the document was read. */
static bool
is_of_document(const td_chain *chain, TdDocument *document) {
  const td_catalog *catalog = td_document_get_catalog(document);
  for (uint32_t i = 0; i < chain->n; i++)
    if (!is_known(catalog, &chain->steps[i])) return false;
  return chain->n > 0;
}

gboolean
td_chain_work_finish(GAsyncResult *result, td_chain *chain, GError **error) {
  GTask *task = G_TASK(result);
  Wish *wish = g_task_get_task_data(task);
  if (!g_task_propagate_boolean(task, error)) return FALSE;
  if (!is_of_document(&wish->chain, g_task_get_source_object(task))) {
    g_set_error_literal(error, TD_ERROR, TD_IO, "another tape has the name of this one now");
    return FALSE;
  }
  *chain = wish->chain;
  wish->chain = (td_chain){0};
  return TRUE;
}
