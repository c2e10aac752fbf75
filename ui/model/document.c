/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document.h"

#include "engine/profile/why.h"
#include "ui/geometry/format.h"
#include "ui/model/error.h"

#include <glib/gi18n.h>

/* How much of the loading is replay; the rest is the timeline and the first scene. */
#define REPLAY_SHARE 0.7
/* Scenes kept: stepping to and fro between backward passes should not build them again. */
#define MAX_SCENES 12
#define SPAN_MARGIN 0.04

struct _TdDocument {
  GObject parent_instance;
  char *path;            /* (owned) */
  td_replay *replay;     /* (owned) */
  td_timeline *timeline; /* (owned) */
  GHashTable *scenes;    /* graph task -> td_graph_scene (owned) */
  GQueue shown;          /* graph tasks with a scene, least recently shown first */
  td_graph_scene *scene; /* (borrowed from scenes) */
  uint32_t scene_task, wanted_task;
  uint32_t process;
  gboolean live, growing;
  uint64_t start; /* position to begin at; UINT64_MAX: where a reader wants to begin */
  double progress;
  int reported; /* percent last sent by the loading worker */
};

enum { PROP_PROGRESS = 1, PROP_SCENE, PROP_PROCESS, N_PROPS };
static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE(TdDocument, td_document, G_TYPE_OBJECT)

static void
td_document_finalize(GObject *object) {
  TdDocument *self = TD_DOCUMENT(object);
  g_clear_pointer(&self->scenes, g_hash_table_unref);
  g_queue_clear(&self->shown);
  td_timeline_free(self->timeline);
  if (self->replay) td_replay_close(self->replay);
  g_free(self->path);
  G_OBJECT_CLASS(td_document_parent_class)->finalize(object);
}

static void
td_document_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  TdDocument *self = TD_DOCUMENT(object);
  if (id == PROP_PROGRESS)
    g_value_set_double(value, self->progress);
  else if (id == PROP_PROCESS)
    g_value_set_uint(value, self->process);
  else
    g_value_set_pointer(value, self->scene);
}

static void
td_document_class_init(TdDocumentClass *klass) {
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  object_class->finalize = td_document_finalize;
  object_class->get_property = td_document_get_property;
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  props[PROP_PROGRESS] = g_param_spec_double("progress", NULL, NULL, 0, 1, 0, flags);
  props[PROP_SCENE] = g_param_spec_pointer("scene", NULL, NULL, flags);
  props[PROP_PROCESS] = g_param_spec_uint("process", NULL, NULL, 0, G_MAXUINT, 0, flags);
  g_object_class_install_properties(object_class, N_PROPS, props);
}

static void
td_document_init(TdDocument *self) {
  self->scenes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)td_graph_scene_free);
  g_queue_init(&self->shown);
  self->scene_task = self->wanted_task = TD_NONE;
  self->start = UINT64_MAX;
}

TdDocument *
td_document_new(const char *path) {
  TdDocument *self = g_object_new(TD_TYPE_DOCUMENT, NULL);
  self->path = g_strdup(path);
  return self;
}

TdDocument *
td_document_new_live(const char *path, uint64_t position, gboolean growing) {
  TdDocument *self = td_document_new(path);
  self->live = TRUE;
  self->growing = growing;
  self->start = MIN(position, UINT64_MAX - 1);
  return self;
}

gboolean
td_document_is_live(TdDocument *self) {
  return self->live;
}

typedef struct Report {
  TdDocument *document; /* (owned) */
  double share;
} Report;

static gboolean
report_cb(gpointer data) {
  Report *report = data;
  report->document->progress = report->share;
  g_object_notify_by_pspec(G_OBJECT(report->document), props[PROP_PROGRESS]);
  g_object_unref(report->document);
  g_free(report);
  return G_SOURCE_REMOVE;
}

static void
report_progress(TdDocument *self, double share) {
  int percent = (int)(share * 100);
  if (percent == self->reported) return;
  self->reported = percent;
  Report *report = g_new(Report, 1);
  *report = (Report){g_object_ref(self), CLAMP(share, 0, 1)};
  g_idle_add(report_cb, report);
}

static bool
replay_progress_cb(double share, void *data) {
  GTask *task = data;
  report_progress(g_task_get_source_object(task), share * REPLAY_SHARE);
  return !g_cancellable_is_cancelled(g_task_get_cancellable(task));
}

static gboolean
load(TdDocument *self, GTask *task, td_error *error) {
  if (td_replay_open(self->path, replay_progress_cb, task, &self->replay, error) != TD_OK)
    return FALSE;
  report_progress(self, 0.8);
  const td_graph *graph = td_document_get_graph(self);
  if (td_timeline_new(td_replay_tape(self->replay), graph, &self->timeline, error) != TD_OK)
    return FALSE;
  report_progress(self, 0.9);
  uint64_t start = self->start == UINT64_MAX ? td_document_start_position(self)
                                             : MIN(self->start, td_replay_length(self->replay));
  self->scene_task = self->wanted_task = td_document_graph_task_at(self, start);
  self->scene = td_graph_scene_new(graph, self->scene_task);
  return td_replay_seek(self->replay, start, error) == TD_OK;
}

static void
load_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  td_error error = {0};
  gboolean loaded = load(source, task, &error);
  if (g_task_return_error_if_cancelled(task)) {
    td_error_clear(&error);
  } else if (loaded) {
    g_task_return_boolean(task, TRUE);
  } else {
    GError *failure = NULL;
    td_error_propagate(&failure, &error);
    g_task_return_error(task, failure);
  }
}

void
td_document_load_async(TdDocument *self, GCancellable *cancellable, GAsyncReadyCallback done,
                       gpointer data) {
  g_autoptr(GTask) task = g_task_new(self, cancellable, done, data);
  g_task_set_source_tag(task, td_document_load_async);
  g_task_run_in_thread(task, load_worker);
}

static void
keep_scene(TdDocument *self, uint32_t graph_task, td_graph_scene *scene) {
  g_hash_table_insert(self->scenes, GUINT_TO_POINTER(graph_task), scene);
  g_queue_push_tail(&self->shown, GUINT_TO_POINTER(graph_task));
  if (g_queue_get_length(&self->shown) <= MAX_SCENES) return;
  gpointer oldest = g_queue_peek_head(&self->shown);
  if (oldest == GUINT_TO_POINTER(self->scene_task)) return;
  g_queue_pop_head(&self->shown);
  g_hash_table_remove(self->scenes, oldest);
}

gboolean
td_document_load_finish(TdDocument *self, GAsyncResult *result, GError **error) {
  gboolean loaded = g_task_propagate_boolean(G_TASK(result), error);
  if (self->scene) keep_scene(self, self->scene_task, self->scene);
  return loaded;
}

static void
show_scene(TdDocument *self, uint32_t graph_task, td_graph_scene *scene) {
  self->scene = scene;
  self->scene_task = graph_task;
  gpointer key = GUINT_TO_POINTER(graph_task);
  g_queue_remove(&self->shown, key);
  g_queue_push_tail(&self->shown, key);
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_SCENE]);
}

static void
scene_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const td_graph *graph = td_document_get_graph(source);
  g_task_return_pointer(task, td_graph_scene_new(graph, GPOINTER_TO_UINT(data)),
                        (GDestroyNotify)td_graph_scene_free);
}

static void
scene_done(GObject *source, GAsyncResult *result, gpointer data) {
  TdDocument *self = TD_DOCUMENT(source);
  uint32_t graph_task = GPOINTER_TO_UINT(g_task_get_task_data(G_TASK(result)));
  td_graph_scene *scene = g_task_propagate_pointer(G_TASK(result), NULL);
  if (!scene) return;
  if (g_hash_table_contains(self->scenes, GUINT_TO_POINTER(graph_task))) {
    td_graph_scene_free(scene); /* asked for twice before the first was done */
    return;
  }
  keep_scene(self, graph_task, scene);
  if (graph_task == self->wanted_task) show_scene(self, graph_task, scene);
}

void
td_document_show_graph_task(TdDocument *self, uint32_t graph_task) {
  if (graph_task == self->wanted_task) return;
  self->wanted_task = graph_task;
  td_graph_scene *scene = g_hash_table_lookup(self->scenes, GUINT_TO_POINTER(graph_task));
  if (scene) {
    show_scene(self, graph_task, scene);
    return;
  }
  g_autoptr(GTask) task = g_task_new(self, NULL, scene_done, NULL);
  g_task_set_task_data(task, GUINT_TO_POINTER(graph_task), NULL);
  g_task_run_in_thread(task, scene_worker);
}

const char *
td_document_get_path(TdDocument *self) {
  return self->path;
}

double
td_document_get_progress(TdDocument *self) {
  return self->progress;
}

td_replay *
td_document_get_replay(TdDocument *self) {
  return self->replay;
}

const td_graph *
td_document_get_graph(TdDocument *self) {
  return td_replay_graph(self->replay);
}

const td_state *
td_document_get_state(TdDocument *self) {
  return td_replay_state(self->replay);
}

const td_tape_info *
td_document_get_info(TdDocument *self) {
  return td_tape_info_get(td_replay_tape(self->replay));
}

td_timeline *
td_document_get_timeline(TdDocument *self) {
  return self->timeline;
}

td_graph_scene *
td_document_get_scene(TdDocument *self) {
  return self->scene;
}

uint32_t
td_document_get_graph_task(TdDocument *self) {
  return self->scene_task;
}

gboolean
td_document_is_begun(TdDocument *self, uint32_t graph_task) {
  const td_graph_task_facts *facts = &td_document_get_graph(self)->graph_tasks[graph_task];
  return facts->begin_seq > 0 || facts->root != TD_NONE || facts->owner != TD_NONE;
}

static gboolean
is_shown(TdDocument *self, uint32_t graph_task) {
  const td_graph *graph = td_document_get_graph(self);
  return td_document_is_begun(self, graph_task) &&
         (graph->n_processes < 2 || td_graph_process_of_task(graph, graph_task) == self->process);
}

uint32_t
td_document_graph_task_at(TdDocument *self, uint64_t position) {
  const td_graph *graph = td_document_get_graph(self);
  const td_graph_task_facts *tasks = graph->graph_tasks;
  uint32_t last = TD_NONE, running = TD_NONE, first = TD_NONE;
  for (uint32_t i = 0; i < graph->n_graph_tasks; i++) {
    uint64_t begin = tasks[i].begin_seq;
    if (!is_shown(self, i)) continue;
    if (first == TD_NONE || begin < tasks[first].begin_seq) first = i;
    if (begin >= position) continue;
    if (last == TD_NONE || begin > tasks[last].begin_seq) last = i;
    bool runs = tasks[i].end_seq >= position && tasks[i].end_seq < td_replay_length(self->replay);
    if (runs && (running == TD_NONE || begin > tasks[running].begin_seq)) running = i;
  }
  bool unended = last != TD_NONE && tasks[last].end_seq >= td_replay_length(self->replay);
  if (running != TD_NONE && !unended) return running;
  return last != TD_NONE ? last : first;
}

uint32_t
td_document_get_pass_number(TdDocument *self, uint32_t graph_task, uint32_t *n) {
  const td_graph *graph = td_document_get_graph(self);
  uint64_t begin = graph_task < graph->n_graph_tasks ? graph->graph_tasks[graph_task].begin_seq : 0;
  uint32_t number = 0;
  *n = 0;
  for (uint32_t i = 0; i < graph->n_graph_tasks; i++) {
    if (!is_shown(self, i)) continue;
    ++*n;
    number += graph->graph_tasks[i].begin_seq <= begin;
  }
  return number;
}

uint32_t
td_document_get_process(TdDocument *self) {
  return self->process;
}

void
td_document_set_process(TdDocument *self, uint32_t process) {
  if (process == self->process || process >= td_document_get_graph(self)->n_processes) return;
  self->process = process;
  td_document_show_graph_task(self,
                              td_document_graph_task_at(self, td_replay_position(self->replay)));
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_PROCESS]);
}

uint32_t
td_document_process_of(TdDocument *self, uint32_t node) {
  const td_graph *graph = td_document_get_graph(self);
  uint32_t thread = node < graph->n_nodes ? graph->nodes[node].thread : TD_NONE;
  return thread < graph->n_threads ? graph->threads[thread].process : 0;
}

uint64_t
td_document_start_position(TdDocument *self) {
  uint32_t first = td_document_graph_task_at(self, 0);
  if (first == TD_NONE) return 0;
  uint64_t position = td_document_get_graph(self)->graph_tasks[first].begin_seq + 1;
  return MIN(position, td_replay_length(self->replay));
}

static uint64_t
time_of(TdDocument *self, uint64_t seq) {
  td_any_event event;
  return td_replay_event(self->replay, seq, &event, NULL) == TD_OK ? event.event.time : 0;
}

static void
set_span(TdDocument *self, uint64_t first, uint64_t last, double *from_ns, double *to_ns) {
  uint64_t length = td_replay_length(self->replay);
  *from_ns = first < length ? (double)time_of(self, first) : 0;
  *to_ns = first < last && last < length ? (double)time_of(self, last)
                                         : (double)td_document_get_info(self)->duration_ns;
  double margin = (*to_ns - *from_ns) * SPAN_MARGIN;
  *from_ns -= margin;
  *to_ns += margin;
}

void
td_document_get_pass_span(TdDocument *self, uint32_t graph_task, double *from_ns, double *to_ns) {
  const td_graph_task_facts *task = &td_document_get_graph(self)->graph_tasks[graph_task];
  set_span(self, task->begin_seq, task->end_seq, from_ns, to_ns);
}

void
td_document_get_backward_span(TdDocument *self, double *from_ns, double *to_ns) {
  const td_graph *graph = td_document_get_graph(self);
  uint64_t first = UINT64_MAX, last = 0;
  for (uint32_t i = 0; i < graph->n_graph_tasks; i++) {
    if (!td_document_is_begun(self, i)) continue;
    first = MIN(first, graph->graph_tasks[i].begin_seq);
    last = MAX(last, graph->graph_tasks[i].end_seq);
  }
  set_span(self, first, last, from_ns, to_ns);
}

const td_graph_mention *
td_document_get_problems(TdDocument *self, size_t *n) {
  const td_graph *graph = td_document_get_graph(self);
  const td_graph_mentions *problems = &graph->mentions[TD_LIST_problems];
  *n = problems->n;
  return problems->items;
}

gboolean
td_document_find_anomaly(TdDocument *self, uint32_t node, uint32_t nth, td_event_anomaly *out) {
  size_t n;
  const td_graph_mention *problems = td_document_get_problems(self, &n);
  td_any_event event;
  for (size_t i = 0; i < n; i++) {
    const td_graph_mention *problem = &problems[i];
    if (problem->seq >= td_replay_position(self->replay)) return FALSE;
    if (problem->kind != TD_EVENT_anomaly || problem->node != node || nth-- > 0) continue;
    if (td_replay_event(self->replay, problem->seq, &event, NULL) != TD_OK) return FALSE;
    *out = event.anomaly;
    return TRUE;
  }
  return FALSE;
}

gboolean
td_document_is_reconstructed(TdDocument *self, uint64_t seq) {
  td_any_event event;
  return td_replay_event(self->replay, seq, &event, NULL) == TD_OK &&
         td_document_get_info(self)->known[event.event.kind] == TD_knowledge_reconstructed;
}

char *
td_document_dup_warning(TdDocument *self) {
  const td_tape_info *info = td_document_get_info(self);
  if (info->damage && !self->growing)
    return g_strdup_printf(_("This tape is damaged: %s. What could be read is shown."),
                           info->damage);
  if (info->n_dropped) {
    g_autofree char *count = td_format_count(info->n_dropped);
    return g_strdup_printf(_("%s events were dropped while recording: what is shown has gaps."),
                           count);
  }
  uint64_t first, n = td_replay_trouble(self->replay, &first);
  if (n == 0 || self->growing) return NULL;
  return g_strdup_printf(_("%" G_GUINT64_FORMAT
                           " events contradict what was before, the first is event "
                           "%" G_GUINT64_FORMAT ". `tapedeck check` tells more."),
                         n, first);
}

char *
td_document_dup_node_name(TdDocument *self, uint32_t node) {
  const td_graph *graph = td_document_get_graph(self);
  const char *name = node < graph->n_nodes ? graph->nodes[node].name : "";
  return g_strdup_printf("%s #%u", *name ? name : _("node"), node);
}

static char *
take_error_text(td_error *error) {
  char *text = g_strdup(td_error_text(error));
  td_error_clear(error);
  return text;
}

char *
td_document_dup_event_text(TdDocument *self, uint64_t seq) {
  td_any_event event;
  td_error error = {0};
  if (td_replay_event(self->replay, seq, &event, &error) != TD_OK) return take_error_text(&error);
  return td_why_describe(td_document_get_graph(self), td_replay_tape(self->replay), &event);
}

char *
td_document_dup_wait_text(TdDocument *self, uint32_t node) {
  return td_why_wait(self->replay, node);
}

char *
td_document_dup_pop_text(TdDocument *self, uint64_t seq) {
  td_error error = {0};
  char *text = NULL;
  return td_why_pop(self->replay, seq, &text, &error) == TD_OK ? text : take_error_text(&error);
}
