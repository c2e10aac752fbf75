/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/subset_choice.h"

#include "ui/geometry/format.h"
#include "ui/model/base/worker.h"
#include "ui/model/document/document_texts.h"

#include <glib/gi18n.h>

#define MOST_NEIGHBOURS 500
#define FIRST_DISTANCE 2
#define MOST_DISTANCE 20

typedef enum Kind { WHOLE, NEIGHBOURS, PATHS } Kind;

struct _TdSubsetChoice {
  GObject parent_instance;
  TdDocument *document; /* (owned) or NULL */
  uint32_t shown_task;
  Kind kind;
  uint32_t graph_task, node, other; /* of the part */
  guint distance;
  uint32_t n, n_all, n_of_pass;      /* nodes of the part, without a limit, of the whole graph */
  guint wish, scene_wish, last_wish; /* wanted, laid out, used up */
  uint32_t start;                    /* of the path whose end somebody looks for, or TD_NONE */
  td_graph_scene *scene;             /* (owned) or NULL */
  GCancellable *running;             /* (owned) of the worker, or NULL */
};

G_DEFINE_FINAL_TYPE(TdSubsetChoice, td_subset_choice, G_TYPE_OBJECT)

/* What a worker is to lay out. */
typedef struct Job {
  TdDocument *document; /* (owned) */
  uint32_t graph_task, n;
  uint32_t *nodes; /* (owned) */
} Job;

static void
job_free(gpointer data) {
  Job *job = data;
  g_object_unref(job->document);
  free(job->nodes);
  g_free(job);
}

static void
changed(TdSubsetChoice *self) {
  g_signal_emit_by_name(self, "changed");
}

static void
work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const Job *job = data;
  const td_catalog *catalog = td_document_get_catalog(job->document);
  g_task_return_pointer(task,
                        td_graph_scene_new_subset(catalog, job->graph_task, job->nodes, job->n),
                        (GDestroyNotify)td_graph_scene_free);
}

static void
done(GObject *source, GAsyncResult *result, gpointer data) {
  TdSubsetChoice *self = TD_SUBSET_CHOICE(source);
  td_graph_scene *scene = g_task_propagate_pointer(G_TASK(result), NULL);
  if (!scene) return;
  g_clear_object(&self->running);
  g_clear_pointer(&self->scene, td_graph_scene_free);
  self->scene = scene;
  self->scene_wish = self->wish;
  changed(self);
}

static void
stop(TdSubsetChoice *self) {
  if (self->running) g_cancellable_cancel(self->running);
  g_clear_object(&self->running);
}

/* Takes the nodes. */
static void
lay_out(TdSubsetChoice *self, uint32_t *nodes, uint32_t n) {
  stop(self);
  self->running = g_cancellable_new();
  g_autoptr(GTask) task = g_task_new(self, self->running, done, NULL);
  Job *job = g_new(Job, 1);
  *job = (Job){g_object_ref(self->document), self->graph_task, n, nodes};
  g_task_set_task_data(task, job, job_free);
  td_worker_start(task, work);
}

static td_graph_scene *
whole_scene(TdSubsetChoice *self) {
  return self->document && td_document_get_graph_task(self->document) == self->shown_task
             ? td_document_get_scene(self->document)
             : NULL;
}

/* The nodes of a part of the whole graph, or NULL. */
static uint32_t *
find_nodes(TdSubsetChoice *self, Kind kind, uint32_t node, uint32_t other, guint distance,
           uint32_t *n, uint32_t *n_all) {
  td_graph_scene *whole = whole_scene(self);
  if (!whole) return NULL;
  if (kind == NEIGHBOURS)
    return td_graph_scene_neighbours(whole, node, distance, MOST_NEIGHBOURS, n, n_all);
  uint32_t *nodes = td_graph_scene_paths(whole, node, other, n);
  *n_all = nodes ? *n : 0;
  return nodes;
}

/* The same part of the graph shown now; FALSE if the graph does not have it. */
static gboolean
make_part(TdSubsetChoice *self, Kind kind, uint32_t node, uint32_t other, guint distance) {
  uint32_t n = 0, n_all = 0;
  uint32_t *nodes = find_nodes(self, kind, node, other, distance, &n, &n_all);
  if (!nodes) return FALSE;
  if (self->graph_task != self->shown_task) g_clear_pointer(&self->scene, td_graph_scene_free);
  self->kind = kind;
  self->graph_task = self->shown_task;
  self->node = node;
  self->other = other;
  self->distance = distance;
  self->n = n;
  self->n_all = n_all;
  self->n_of_pass = td_graph_scene_n_nodes(whole_scene(self));
  lay_out(self, nodes, n);
  return TRUE;
}

static gboolean
want(TdSubsetChoice *self, Kind kind, uint32_t node, uint32_t other, guint distance) {
  if (!make_part(self, kind, node, other, distance)) return FALSE;
  self->wish = ++self->last_wish;
  self->start = TD_NONE;
  changed(self);
  return TRUE;
}

gboolean
td_subset_choice_want_neighbours(TdSubsetChoice *self, uint32_t node) {
  return want(self, NEIGHBOURS, node, TD_NONE, FIRST_DISTANCE);
}

static gboolean
has_part(TdSubsetChoice *self) {
  return self->kind != WHOLE && self->graph_task == self->shown_task;
}

void
td_subset_choice_widen(TdSubsetChoice *self, int step) {
  if (!has_part(self) || self->kind != NEIGHBOURS) return;
  guint distance = (guint)CLAMP((int)self->distance + step, 1, MOST_DISTANCE);
  if (distance != self->distance) want(self, NEIGHBOURS, self->node, TD_NONE, distance);
}

gboolean
td_subset_choice_want_paths(TdSubsetChoice *self, uint32_t from, uint32_t to) {
  return want(self, PATHS, from, to, 0);
}

void
td_subset_choice_set_start(TdSubsetChoice *self, uint32_t node) {
  if (node == self->start) return;
  self->start = node;
  changed(self);
}

uint32_t
td_subset_choice_get_start(TdSubsetChoice *self) {
  return self->start;
}

static void
drop_part(TdSubsetChoice *self) {
  stop(self);
  self->kind = WHOLE;
  self->wish = 0;
  g_clear_pointer(&self->scene, td_graph_scene_free);
}

gboolean
td_subset_choice_clear(TdSubsetChoice *self) {
  if (self->start == TD_NONE && !has_part(self)) return FALSE;
  if (self->start == TD_NONE) drop_part(self);
  self->start = TD_NONE;
  changed(self);
  return TRUE;
}

/* A scene has the catalog of its document. */
static void
take_document(TdSubsetChoice *self, TdDocument *document) {
  gboolean same_tape =
      self->document && document && td_document_is_live(document) &&
      g_strcmp0(td_document_get_path(self->document), td_document_get_path(document)) == 0;
  stop(self);
  g_clear_pointer(&self->scene, td_graph_scene_free);
  g_set_object(&self->document, document);
  if (same_tape) return;
  drop_part(self);
  self->start = TD_NONE;
}

void
td_subset_choice_show(TdSubsetChoice *self, TdDocument *document, uint32_t graph_task) {
  gboolean other = document != self->document;
  if (!other && graph_task == self->shown_task && (self->scene || self->running || !has_part(self)))
    return;
  if (other) take_document(self, document);
  self->shown_task = graph_task;
  if (has_part(self) && !self->scene && !self->running && whole_scene(self) &&
      !make_part(self, self->kind, self->node, self->other, self->distance))
    drop_part(self);
  changed(self);
}

td_graph_scene *
td_subset_choice_get_scene(TdSubsetChoice *self) {
  return has_part(self) ? self->scene : NULL;
}

guint
td_subset_choice_get_wish(TdSubsetChoice *self) {
  return has_part(self) && self->scene ? self->scene_wish : 0;
}

gboolean
td_subset_choice_is_busy(TdSubsetChoice *self) {
  return self->running != NULL;
}

guint
td_subset_choice_get_distance(TdSubsetChoice *self) {
  return has_part(self) && self->kind == NEIGHBOURS && self->start == TD_NONE ? self->distance : 0;
}

static char *
dup_what(TdSubsetChoice *self) {
  g_autofree char *name = td_document_dup_node_name(self->document, self->node);
  if (self->kind == NEIGHBOURS) return g_strdup_printf(_("Neighbours of %s"), name);
  g_autofree char *other = td_document_dup_node_name(self->document, self->other);
  return g_strdup_printf(_("Paths between %s and %s"), name, other);
}

char *
td_subset_choice_dup_text(TdSubsetChoice *self) {
  if (self->start != TD_NONE) {
    g_autofree char *name = td_document_dup_node_name(self->document, self->start);
    return g_strdup_printf(_("Path from %s: click the node where it ends"), name);
  }
  if (!has_part(self)) return NULL;
  g_autofree char *what = dup_what(self), *n = td_format_count(self->n);
  g_autofree char *n_all = td_format_count(self->n_all);
  g_autofree char *of_pass = td_format_many(self->n_of_pass, "node", "nodes");
  if (self->n == self->n_all) return g_strdup_printf(_("%s – %s of %s"), what, n, of_pass);
  return g_strdup_printf(_("%s – the nearest %s of %s, in a graph of %s"), what, n, n_all, of_pass);
}

char *
td_subset_choice_dup_brief(TdSubsetChoice *self) {
  if (self->start != TD_NONE) return g_strdup(_("Path to?"));
  if (!has_part(self)) return NULL;
  g_autofree char *n = td_format_count(self->n), *all = td_format_count(self->n_of_pass);
  return g_strdup_printf("%s / %s", n, all);
}

static void
td_subset_choice_dispose(GObject *object) {
  TdSubsetChoice *self = TD_SUBSET_CHOICE(object);
  stop(self);
  g_clear_pointer(&self->scene, td_graph_scene_free);
  g_clear_object(&self->document);
  G_OBJECT_CLASS(td_subset_choice_parent_class)->dispose(object);
}

static void
td_subset_choice_class_init(TdSubsetChoiceClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_subset_choice_dispose;
  g_signal_new("changed", TD_TYPE_SUBSET_CHOICE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
               G_TYPE_NONE, 0);
}

static void
td_subset_choice_init(TdSubsetChoice *self) {
  self->shown_task = self->start = TD_NONE;
}

TdSubsetChoice *
td_subset_choice_new(void) {
  return g_object_new(TD_TYPE_SUBSET_CHOICE, NULL);
}
