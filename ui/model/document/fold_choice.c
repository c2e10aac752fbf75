/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/fold_choice.h"

#include "ui/draw/graph_fold.h"
#include "ui/draw/graph_moves.h"
#include "ui/geometry/format.h"
#include "ui/model/base/worker.h"
#include "ui/model/document/fold_wish.h"

#include <glib/gi18n.h>

#define MOST_AT_ONCE 5000 /* nodes: more are for a worker */

/* What of a pass can be folded. A worker may hold it too. */
typedef struct Folds {
  gatomicrefcount refs;
  TdDocument *document; /* (owned): its catalog */
  uint32_t graph_task;
  td_graph_folds *folds; /* (owned) or NULL: the worker is to make it */
} Folds;

struct _TdFoldChoice {
  GObject parent_instance;
  TdDocument *document; /* (owned) or NULL */
  uint32_t graph_task;
  td_fold_wish open;
  Folds *folds;           /* (owned) of the pass shown, or NULL */
  gboolean made;          /* they are: no worker writes them any more */
  uint32_t n_all;         /* nodes of the pass, if there is a scene */
  td_graph_scene *scene;  /* (owned) or NULL */
  td_graph_scene *before; /* (owned) until all have heard "changed" */
  GCancellable *running;  /* (owned) of the worker, or NULL */
  guint wish;
  gboolean again, was_folded; /* a later reading of the pass that was shown */
  uint32_t anchor;
};

G_DEFINE_FINAL_TYPE(TdFoldChoice, td_fold_choice, G_TYPE_OBJECT)

static Folds *
folds_ref(Folds *self) {
  g_atomic_ref_count_inc(&self->refs);
  return self;
}

static void
folds_unref(Folds *self) {
  if (!g_atomic_ref_count_dec(&self->refs)) return;
  td_graph_folds_free(self->folds);
  g_object_unref(self->document);
  g_free(self);
}

static void
make_folds(Folds *self) {
  if (!self->folds)
    self->folds = td_graph_folds_new(td_document_get_catalog(self->document), self->graph_task);
}

static Folds *
folds_new(TdDocument *document, uint32_t graph_task) {
  Folds *self = g_new0(Folds, 1);
  g_atomic_ref_count_init(&self->refs);
  self->document = g_object_ref(document);
  self->graph_task = graph_task;
  return self;
}

/* NULL if nothing is folded. */
static td_graph_scene *
make_scene(Folds *folds, const td_fold_wish *wish, gboolean reads) {
  make_folds(folds);
  const td_fold_tree *tree = td_graph_folds_tree(folds->folds);
  g_autofree uint8_t *open = td_fold_wish_find_open(wish, tree, reads);
  return td_fold_wish_folds(tree, open) ? td_graph_scene_new_folded(folds->folds, open) : NULL;
}

/* ---- the worker ---- */

typedef struct Job {
  Folds *folds; /* (owned) */
  td_fold_wish wish;
  gboolean reads;
} Job;

static void
job_free(gpointer data) {
  Job *job = data;
  folds_unref(job->folds);
  td_fold_wish_fini(&job->wish);
  g_free(job);
}

static void
work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  Job *job = data;
  g_task_return_pointer(task, make_scene(job->folds, &job->wish, job->reads),
                        (GDestroyNotify)td_graph_scene_free);
}

static void
take_scene(TdFoldChoice *self, td_graph_scene *scene) {
  self->made = TRUE;
  self->n_all = td_graph_folds_n_nodes(self->folds->folds);
  self->wish += !self->again || self->was_folded != (scene != NULL);
  self->again = FALSE;
  g_signal_emit_by_name(self, "changing");
  g_clear_pointer(&self->before, td_graph_scene_free);
  self->before = self->scene;
  self->scene = scene;
  g_signal_emit_by_name(self, "changed");
  g_clear_pointer(&self->before, td_graph_scene_free);
}

static void
done(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(GError) error = NULL;
  td_graph_scene *scene = g_task_propagate_pointer(G_TASK(result), &error);
  if (error) return;
  TdFoldChoice *self = TD_FOLD_CHOICE(source);
  g_clear_object(&self->running);
  take_scene(self, scene);
}

static void
stop(TdFoldChoice *self) {
  if (self->running) g_cancellable_cancel(self->running);
  g_clear_object(&self->running);
}

/* The document has laid out all nodes, folded or not. */
static gboolean
reads_whole(TdFoldChoice *self) {
  td_graph_scene *whole = td_document_get_scene(self->document);
  return whole && td_graph_scene_reads_whole(whole);
}

static void
start_worker(TdFoldChoice *self) {
  self->running = g_cancellable_new();
  g_autoptr(GTask) task = g_task_new(self, self->running, done, NULL);
  Job *job = g_new(Job, 1);
  job->folds = folds_ref(self->folds);
  td_fold_wish_copy(&self->open, &job->wish);
  job->reads = reads_whole(self);
  g_task_set_task_data(task, job, job_free);
  td_worker_start(task, work);
}

static gboolean
is_small(TdFoldChoice *self) {
  td_graph_scene *whole = td_document_get_scene(self->document);
  return whole && td_graph_scene_n_nodes(whole) <= MOST_AT_ONCE;
}

/* A worker that is cancelled may still make the folds of the pass. Then the next one has folds of
 * its own. */
static void
lay_out(TdFoldChoice *self) {
  if (self->running && !self->made) g_clear_pointer(&self->folds, folds_unref);
  stop(self);
  if (!self->folds) self->folds = folds_new(self->document, self->graph_task);
  if (!is_small(self)) {
    start_worker(self);
    return;
  }
  take_scene(self, make_scene(self->folds, &self->open, reads_whole(self)));
}

/* ---- what people do ---- */

static const td_fold_tree *
tree_of(TdFoldChoice *self) {
  return self->made ? td_graph_folds_tree(self->folds->folds) : NULL;
}

static void
want(TdFoldChoice *self, const td_fold_group *group, gboolean open, uint32_t anchor) {
  td_fold_wish_set(&self->open, group->path, open);
  self->anchor = anchor;
  lay_out(self);
}

gboolean
td_fold_choice_open(TdFoldChoice *self, uint32_t node) {
  const td_fold_tree *tree = tree_of(self);
  uint32_t group = self->scene && tree ? td_graph_scene_block(self->scene, node) : 0;
  if (group) want(self, &tree->groups[group], TRUE, node);
  return group != 0;
}

/* What is folded by it must be more than is now. */
gboolean
td_fold_choice_close(TdFoldChoice *self, uint32_t node) {
  const td_fold_tree *tree = tree_of(self);
  if (!tree) return FALSE;
  uint32_t group = self->scene ? td_graph_scene_block(self->scene, node) : 0;
  group = group ? tree->groups[group].parent : td_graph_folds_group(self->folds->folds, node);
  while (group && tree->groups[group].n_nodes < 2)
    group = tree->groups[group].parent;
  if (group) want(self, &tree->groups[group], FALSE, node);
  return group != 0;
}

static void
want_all(TdFoldChoice *self, td_fold_rule rule) {
  td_fold_wish_set_rule(&self->open, rule);
  self->anchor = TD_NONE;
  lay_out(self);
}

void
td_fold_choice_open_all(TdFoldChoice *self) {
  if (self->document) want_all(self, TD_FOLD_NOTHING);
}

gboolean
td_fold_choice_close_all(TdFoldChoice *self) {
  const td_fold_tree *tree = tree_of(self);
  if (!tree || tree->n_groups < 2) return FALSE;
  want_all(self, TD_FOLD_ALL);
  return TRUE;
}

/* A scene has the catalog of its document. */
static void
drop(TdFoldChoice *self) {
  stop(self);
  g_clear_pointer(&self->scene, td_graph_scene_free);
  g_clear_pointer(&self->folds, folds_unref);
  self->made = FALSE;
}

static gboolean
is_same_tape(TdFoldChoice *self, TdDocument *document) {
  return self->document &&
         g_strcmp0(td_document_get_path(self->document), td_document_get_path(document)) == 0;
}

void
td_fold_choice_show(TdFoldChoice *self, TdDocument *document, uint32_t graph_task) {
  if (document == self->document && graph_task == self->graph_task && self->folds) return;
  if (!is_same_tape(self, document)) td_fold_wish_set_rule(&self->open, TD_FOLD_BY_TEXT);
  self->again = is_same_tape(self, document) && td_document_is_live(document) &&
                graph_task == self->graph_task;
  self->was_folded = self->scene != NULL;
  drop(self);
  g_set_object(&self->document, document);
  self->graph_task = graph_task;
  self->anchor = TD_NONE;
  lay_out(self);
}

td_graph_scene *
td_fold_choice_get_scene(TdFoldChoice *self) {
  return self->scene;
}

td_graph_scene *
td_fold_choice_take_before(TdFoldChoice *self) {
  return g_steal_pointer(&self->before);
}

guint
td_fold_choice_get_wish(TdFoldChoice *self) {
  return self->wish;
}

uint32_t
td_fold_choice_get_anchor(TdFoldChoice *self) {
  return self->anchor;
}

gboolean
td_fold_choice_is_busy(TdFoldChoice *self) {
  return self->running != NULL;
}

char *
td_fold_choice_dup_text(TdFoldChoice *self) {
  if (!self->scene) return NULL;
  uint32_t n_blocks = td_graph_scene_n_blocks(self->scene);
  uint32_t n_nodes = td_graph_scene_n_nodes(self->scene) - n_blocks;
  g_autofree char *all = td_format_many(self->n_all, "node", "nodes");
  g_autofree char *blocks = td_format_many(n_blocks, "block", "blocks");
  g_autofree char *nodes = td_format_many(n_nodes, "node", "nodes");
  if (!n_nodes) return g_strdup_printf(_("Folded: %s of %s"), blocks, all);
  return g_strdup_printf(_("Folded: %s and %s of %s"), blocks, nodes, all);
}

char *
td_fold_choice_dup_brief(TdFoldChoice *self) {
  if (!self->scene) return NULL;
  g_autofree char *n = td_format_count(td_graph_scene_n_nodes(self->scene));
  g_autofree char *all = td_format_count(self->n_all);
  return g_strdup_printf("%s / %s", n, all);
}

char *
td_fold_choice_dup_block(TdFoldChoice *self, uint32_t node) {
  const td_fold_tree *tree = tree_of(self);
  uint32_t group = self->scene && tree ? td_graph_scene_block(self->scene, node) : 0;
  if (!group) return NULL;
  const td_fold_group *facts = &tree->groups[group];
  g_autofree char *nodes = td_format_many(facts->n_nodes, "node", "nodes");
  return g_strdup_printf("%s, %s", facts->path, nodes);
}

static void
td_fold_choice_dispose(GObject *object) {
  TdFoldChoice *self = TD_FOLD_CHOICE(object);
  drop(self);
  g_clear_object(&self->document);
  td_fold_wish_fini(&self->open);
  G_OBJECT_CLASS(td_fold_choice_parent_class)->dispose(object);
}

static void
td_fold_choice_class_init(TdFoldChoiceClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_fold_choice_dispose;
  g_signal_new("changed", TD_TYPE_FOLD_CHOICE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
               0);
  g_signal_new("changing", TD_TYPE_FOLD_CHOICE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
               0);
}

static void
td_fold_choice_init(TdFoldChoice *self) {
  self->graph_task = self->anchor = TD_NONE;
  td_fold_wish_init(&self->open);
}

TdFoldChoice *
td_fold_choice_new(void) {
  return g_object_new(TD_TYPE_FOLD_CHOICE, NULL);
}
