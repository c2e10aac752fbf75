/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/compare/alignment_work.h"

#include "engine/profile/diff/diff.h"
#include "ui/geometry/format.h"
#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"

#include <glib/gi18n.h>

typedef struct Job {
  char *path[2]; /* (owned) */
  gboolean passes;
  uint32_t graph_task[2];
  uint64_t first[2], last[2];
  td_alignment *alignment;   /* (owned) until it is handed on */
  GCancellable *cancellable; /* (owned) or NULL */
} Job;

static void
job_free(gpointer data) {
  Job *job = data;
  g_free(job->path[0]);
  g_free(job->path[1]);
  td_alignment_free(job->alignment);
  g_clear_object(&job->cancellable);
  g_free(job);
}

void
td_aligned_free(TdAligned *self) {
  td_alignment_free(self->alignment);
  g_free(self->text);
  g_free(self->why[0]);
  g_free(self->why[1]);
  g_free(self);
}

/* ---- pairs ---- */

static void
add_begin(Job *job, const td_align *align) {
  const td_catalog_graph_task *pass[2] = {
      td_catalog_graph_task_find(align->a->catalog, align->task_a.graph_task),
      td_catalog_graph_task_find(align->b->catalog, align->task_b.graph_task)};
  if (!pass[0] || !pass[1]) return;
  for (int side = 0; side < 2 && job->passes; side++) {
    job->first[side] = pass[side]->begin_seq + 1;
    job->last[side] = MIN(job->last[side], pass[side]->end_seq + 1);
  }
  const td_alignment_pair pair = {{pass[0]->begin_seq + 1, pass[1]->begin_seq + 1},
                                  {TD_NONE, TD_NONE}};
  td_alignment_add(job->alignment, &pair);
}

static bool
aligned_cb(const td_align *align, void *data) {
  Job *job = data;
  add_begin(job, align);
  for (uint32_t i = 0; i < align->task_a.n; i++) {
    const td_visit *a = &align->a->visits[align->task_a.first + i];
    uint32_t partner = align->partners_a[align->task_a.first + i];
    if (partner == TD_NONE) continue;
    const td_visit *b = &align->b->visits[partner];
    const td_alignment_pair pair = {{a->at + 1, b->at + 1}, {a->node, b->node}};
    td_alignment_add(job->alignment, &pair);
  }
  return !g_cancellable_is_cancelled(job->cancellable);
}

static void
add_lone(td_alignment *alignment, int side, const td_diff_tape *tape) {
  const td_visited_node *nodes = tape->lone_nodes.items;
  for (size_t i = 0; i < tape->lone_nodes.n; i++)
    td_alignment_add_lone(alignment, side, nodes[i].node);
}

/* ---- words ---- */

static char *
passes_text(const td_diff *diff) {
  g_autofree char *a = td_format_many(diff->a.n_tasks, "backward pass", "backward passes");
  g_autofree char *b = td_format_many(diff->b.n_tasks, "backward pass", "backward passes");
  return g_strdup_printf(_("A has %s, B has %s. The passes that both have ran in the same order."),
                         a, b);
}

static char *
divergence_text(const td_divergence *found) {
  return g_strdup_printf(
      _("The order first differs in graph task %u of A and %u of B, at place %u on %s: %s"),
      found->a.graph_task, found->b.graph_task, found->position, found->device_label, found->text);
}

static char *
text_of(const td_diff *diff) {
  if (diff->equal_order) return g_strdup(_("The order is the same on both sides, node by node."));
  return diff->diverges ? divergence_text(&diff->divergence) : passes_text(diff);
}

static void
take_side(TdAligned *aligned, int side, const td_divergence_side *found) {
  aligned->node[side] = found->has_node ? found->node.node : TD_NONE;
  aligned->position[side] = found->has_node ? found->node.at + 1 : 0;
  aligned->why[side] = g_strdup(found->why);
}

/* A side that has no more stands where the other side leads it. */
static void
take_difference(TdAligned *aligned, const td_diff *diff) {
  aligned->has_difference = diff->diverges;
  if (!diff->diverges) return;
  take_side(aligned, 0, &diff->divergence.a);
  take_side(aligned, 1, &diff->divergence.b);
  for (int side = 0; side < 2; side++)
    if (aligned->node[side] == TD_NONE)
      aligned->position[side] =
          td_alignment_map(aligned->alignment, !side, aligned->position[!side]);
}

static TdAligned *
make_aligned(Job *job, const td_diff *diff) {
  TdAligned *aligned = g_new0(TdAligned, 1);
  add_lone(job->alignment, 0, &diff->a);
  add_lone(job->alignment, 1, &diff->b);
  td_alignment_end(job->alignment, job->first, job->last);
  aligned->alignment = g_steal_pointer(&job->alignment);
  aligned->text = text_of(diff);
  take_difference(aligned, diff);
  return aligned;
}

/* ---- the worker ---- */

static td_status
compare(Job *job, td_tape *a, td_tape *b, TdAligned **aligned, td_error *error) {
  td_diff diff;
  td_diff_wish wish = {.n_nodes = UINT32_MAX,
                       .n_values = 1,
                       .n_durations = 1,
                       .one_pair = job->passes,
                       .task_a = job->graph_task[0],
                       .task_b = job->graph_task[1],
                       .aligned = aligned_cb,
                       .data = job};
  job->alignment = td_alignment_new();
  job->last[0] = td_tape_info_get(a)->n_events;
  job->last[1] = td_tape_info_get(b)->n_events;
  td_status status = td_diff_make(a, b, &wish, &diff, error);
  if (status) return status;
  *aligned = make_aligned(job, &diff);
  td_diff_fini(&diff);
  return TD_OK;
}

static td_status
work(Job *job, TdAligned **aligned, td_error *error) {
  td_tape *a, *b;
  td_status status = td_tape_open(job->path[0], &a, error);
  if (status) return status;
  status = td_tape_open(job->path[1], &b, error);
  if (!status) {
    status = compare(job, a, b, aligned, error);
    td_tape_close(b);
  }
  td_tape_close(a);
  return status;
}

static void
worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  td_error error = {0};
  TdAligned *aligned = NULL;
  if (work(data, &aligned, &error) == TD_OK) {
    g_task_return_pointer(task, aligned, (GDestroyNotify)td_aligned_free);
  } else {
    GError *failure = NULL;
    td_error_propagate(&failure, &error);
    g_task_return_error(task, failure);
  }
}

void
td_alignment_work_async(const TdAlignmentWish *wish, GCancellable *cancellable,
                        GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, done, data);
  Job *job = g_new0(Job, 1);
  for (int side = 0; side < 2; side++) {
    job->path[side] = g_strdup(wish->path[side]);
    job->graph_task[side] = wish->graph_task[side];
  }
  job->passes = wish->passes;
  g_set_object(&job->cancellable, cancellable);
  g_task_set_task_data(task, job, job_free);
  td_worker_start(task, worker);
}

TdAligned *
td_alignment_work_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
