/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/document.h"

#include "engine/replay/cause_list.h"
#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"
#include "ui/model/document/passes.h"
#include "ui/model/document/scene_cache.h"

#include <malloc.h>

/* How much of the loading is the pass over the events; the rest is the first scene. */
#define REPLAY_SHARE 0.8

/* The memory of so many events takes longer to give back than a frame may take. */
#define LONG_EVENTS 100000

struct _TdDocument {
  GObject parent_instance;
  char *path;               /* (owned) */
  td_replay *replay;        /* (owned) */
  td_timeline *timeline;    /* (owned) */
  td_outline *outline;      /* (owned) NULL: the tape is not cut */
  char *refusal;            /* (owned) or NULL */
  uint64_t refused;         /* the position of that */
  td_catalog_cause *causes; /* (owned) [n_causes] unless the outline has them */
  uint32_t n_causes;
  td_scene_cache scenes;
  td_graph_scene *scene; /* (borrowed from scenes) */
  uint32_t scene_task, wanted_task;
  gboolean wants; /* a scene was asked for: that of wanted_task */
  gboolean
      is_other; /* another segment was shown before, whose picture stays until there is a scene */
  uint32_t process;
  gboolean live, growing;
  uint64_t start;      /* position to begin at; UINT64_MAX: where a reader wants to begin */
  TdFindPosition find; /* or NULL */
  gpointer find_data;  /* (borrowed) */
  double progress;
  int reported; /* percent last sent by the loading worker */
};

enum { PROP_PROGRESS = 1, PROP_SCENE, PROP_PROCESS, PROP_LIVES, N_PROPS };
static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE(TdDocument, td_document, G_TYPE_OBJECT)

/* What a document leaves. */
typedef struct Remains {
  td_scene_cache scenes;
  td_timeline *timeline; /* (owned) */
  td_replay *replay;     /* (owned) */
} Remains;

static void
remains_free(Remains *remains) {
  td_scene_cache_fini(&remains->scenes);
  td_timeline_free(remains->timeline);
  if (remains->replay) td_replay_close(remains->replay);
  g_free(remains);
}

static void
free_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  remains_free(data);
  g_task_return_boolean(task, TRUE);
}

/* A worker frees what is long. */
static void
leave_remains(TdDocument *self) {
  Remains *remains = g_new(Remains, 1);
  *remains = (Remains){self->scenes, self->timeline, self->replay};
  if (!self->replay || td_replay_end(self->replay) - td_replay_first(self->replay) < LONG_EVENTS) {
    remains_free(remains);
    return;
  }
  g_autoptr(GTask) task = g_task_new(NULL, NULL, NULL, NULL);
  g_task_set_task_data(task, remains, NULL);
  td_worker_start(task, free_worker);
}

static void
td_document_finalize(GObject *object) {
  TdDocument *self = TD_DOCUMENT(object);
  leave_remains(self);
  g_clear_pointer(&self->outline, td_outline_unref);
  free(self->causes);
  g_free(self->refusal);
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
  else if (id == PROP_SCENE)
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
  props[PROP_LIVES] = g_param_spec_pointer("lives", NULL, NULL, flags);
  g_object_class_install_properties(object_class, N_PROPS, props);
}

static void
td_document_init(TdDocument *self) {
  td_scene_cache_init(&self->scenes);
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

TdDocument *
td_document_new_segment(TdDocument *other, uint64_t position) {
  TdDocument *self = td_document_new(other->path);
  self->outline = td_outline_ref(other->outline);
  self->is_other = TRUE;
  self->process = other->process;
  self->start = position;
  return self;
}

void
td_document_set_start(TdDocument *self, TdFindPosition find, gpointer data) {
  self->find = find;
  self->find_data = data;
}

gboolean
td_document_is_live(TdDocument *self) {
  return self->live;
}

gboolean
td_document_is_growing(TdDocument *self) {
  return self->growing;
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

/* Replay and timeline come from one pass over the events. Their tables leave gaps as they grow. */
typedef struct Reading {
  GTask *task;                     /* (borrowed) */
  td_timeline_collector *timeline; /* (owned) */
} Reading;

static bool
replay_progress_cb(double share, void *data) {
  const Reading *reading = data;
  report_progress(g_task_get_source_object(reading->task), share * REPLAY_SHARE);
  return !g_cancellable_is_cancelled(g_task_get_cancellable(reading->task));
}

static void
event_cb(const td_any_event *event, uint64_t seq, void *data) {
  const Reading *reading = data;
  td_timeline_collector_take(reading->timeline, event, seq);
}

static td_status
read_segment(TdDocument *self, td_tape *tape, const td_segment *segment, GTask *task,
             td_error *error) {
  Reading reading = {task, td_timeline_collector_new(tape)};
  td_status status = td_replay_new_along(tape, segment, replay_progress_cb, event_cb, &reading,
                                         &self->replay, error);
  if (status)
    td_timeline_collector_free(reading.timeline);
  else
    self->timeline = td_timeline_collector_end(reading.timeline, td_replay_catalog(self->replay));
  malloc_trim(0);
  return status;
}

/* The layout of a large graph needs much memory for a moment. */
static td_graph_scene *
make_scene(const td_catalog *catalog, uint32_t graph_task) {
  td_graph_scene *scene = td_graph_scene_new(catalog, graph_task);
  malloc_trim(0);
  return scene;
}

/* FALSE: the tape does not have the place. */
static gboolean
find_start(TdDocument *self, td_tape *tape, const td_catalog *whole, uint64_t *start) {
  uint64_t length = td_tape_info_get(tape)->n_events;
  if (self->find) return self->find(tape, whole, self->find_data, start);
  *start =
      self->start == UINT64_MAX ? td_pass_first_position(whole, length) : MIN(self->start, length);
  return TRUE;
}

static td_status
refuse_place(td_error *error) {
  return td_error_set(error, TD_OUT_OF_RANGE, "the tape does not have that place");
}

static td_status
open_whole(TdDocument *self, td_tape *tape, GTask *task, uint64_t *start, td_error *error) {
  td_segment whole = td_tape_whole(tape);
  td_status status = read_segment(self, tape, &whole, task, error);
  if (status) return status;
  bool found = find_start(self, tape, td_document_get_catalog(self), start);
  return found ? TD_OK : refuse_place(error);
}

/* The first segment needs no keyframe, so a tape can be opened even if its keyframes are damaged.
 */
static td_status
open_first(TdDocument *self, GTask *task, uint64_t *start, td_error *error) {
  td_tape *tape;
  td_status status = td_tape_open(self->path, &tape, error);
  if (status) return status;
  td_segment segment = td_tape_segment_at(tape, 0);
  *start = MIN(td_pass_first_position(td_outline_catalog(self->outline), segment.end), segment.end);
  return read_segment(self, tape, &segment, task, error);
}

/* `is_first`: no segment of the tape is shown yet. */
static td_status
open_segment(TdDocument *self, td_tape *tape, bool is_first, GTask *task, uint64_t *start,
             td_error *error) {
  if (!find_start(self, tape, td_outline_catalog(self->outline), start)) {
    td_tape_close(tape);
    return refuse_place(error);
  }
  td_segment segment = td_tape_segment_at(tape, *start ? *start - 1 : 0);
  td_status status = read_segment(self, tape, &segment, task, error);
  if (status != TD_DAMAGED) return status;
  td_document_set_refusal(self, *start, td_error_text(error));
  if (!is_first || segment.first == 0) return status;
  td_error_clear(error);
  return open_first(self, task, start, error);
}

/* A tape whose outline is damaged is read whole. */
static td_status
open_tape(TdDocument *self, GTask *task, uint64_t *start, td_error *error) {
  td_tape *tape;
  td_status status = td_tape_open(self->path, &tape, error);
  if (status) return status;
  if (self->is_other)
    status = td_outline_check(self->outline, tape, error);
  else if (td_tape_n_segments(tape))
    status = td_outline_new(self->path, &self->outline, error);
  if (status && status != TD_DAMAGED) {
    td_tape_close(tape);
    return status;
  }
  if (status) td_document_set_refusal(self, 0, td_error_text(error));
  td_error_clear(error);
  return self->outline ? open_segment(self, tape, !self->is_other, task, start, error)
                       : open_whole(self, tape, task, start, error);
}

static bool
has_told_causes(TdDocument *self) {
  return self->outline && td_outline_catalog(self->outline)->n_causes > 0;
}

static void
find_causes(TdDocument *self) {
  td_cause_list list = {0};
  if (has_told_causes(self)) return;
  td_cause_list_read(&list, td_document_get_catalog(self), td_replay_tape(self->replay));
  self->causes = td_cause_list_make(&list, &self->n_causes);
  td_cause_list_fini(&list);
}

static void
make_first_scene(TdDocument *self) {
  self->scene = make_scene(td_document_get_catalog(self), self->scene_task);
  self->wants = TRUE;
}

static td_status
load(TdDocument *self, GTask *task, td_error *error) {
  uint64_t start;
  td_status status = open_tape(self, task, &start, error);
  if (status) return status;
  report_progress(self, 0.8);
  self->scene_task = self->wanted_task = td_document_graph_task_at(self, start);
  if (!self->is_other) make_first_scene(self);
  find_causes(self);
  return td_replay_seek(self->replay, start, error);
}

static void
load_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  td_error error = {0};
  td_status status = load(source, task, &error);
  if (g_task_return_error_if_cancelled(task)) {
    td_error_clear(&error);
  } else if (status == TD_OK) {
    g_task_return_boolean(task, TRUE);
  } else if (status == TD_OUT_OF_RANGE) {
    g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s", td_error_text(&error));
    td_error_clear(&error);
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
  td_worker_start(task, load_worker);
}

gboolean
td_document_load_finish(TdDocument *self, GAsyncResult *result, GError **error) {
  gboolean loaded = g_task_propagate_boolean(G_TASK(result), error);
  if (self->scene)
    td_scene_cache_take(&self->scenes, self->scene_task, self->scene, self->scene_task);
  return loaded;
}

static void
show_scene(TdDocument *self, uint32_t graph_task, td_graph_scene *scene) {
  self->scene = scene;
  self->scene_task = graph_task;
  td_scene_cache_show(&self->scenes, graph_task);
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_SCENE]);
}

static void
scene_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const td_catalog *catalog = td_document_get_catalog(source);
  g_task_return_pointer(task, make_scene(catalog, GPOINTER_TO_UINT(data)),
                        (GDestroyNotify)td_graph_scene_free);
}

static void
scene_done(GObject *source, GAsyncResult *result, gpointer data) {
  TdDocument *self = TD_DOCUMENT(source);
  uint32_t graph_task = GPOINTER_TO_UINT(g_task_get_task_data(G_TASK(result)));
  td_graph_scene *scene = g_task_propagate_pointer(G_TASK(result), NULL);
  if (!scene) return;
  if (td_scene_cache_find(&self->scenes, graph_task)) {
    td_graph_scene_free(scene); /* two workers built it */
    return;
  }
  td_scene_cache_take(&self->scenes, graph_task, scene, self->scene_task);
  if (graph_task == self->wanted_task) show_scene(self, graph_task, scene);
}

void
td_document_show_graph_task(TdDocument *self, uint32_t graph_task) {
  if (self->wants && graph_task == self->wanted_task) return;
  self->wants = TRUE;
  self->wanted_task = graph_task;
  td_graph_scene *scene = td_scene_cache_find(&self->scenes, graph_task);
  if (scene) {
    show_scene(self, graph_task, scene);
    return;
  }
  g_autoptr(GTask) task = g_task_new(self, NULL, scene_done, NULL);
  g_task_set_task_data(task, GUINT_TO_POINTER(graph_task), NULL);
  td_worker_start(task, scene_worker);
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

const td_catalog *
td_document_get_catalog(TdDocument *self) {
  return td_replay_catalog(self->replay);
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

td_outline *
td_document_get_outline(TdDocument *self) {
  return self->outline;
}

const char *
td_document_get_refusal(TdDocument *self, uint64_t *position) {
  if (self->refusal) *position = self->refused;
  return self->refusal;
}

void
td_document_set_refusal(TdDocument *self, uint64_t position, const char *why) {
  g_free(self->refusal);
  self->refused = position;
  self->refusal = g_strdup(why);
}

td_graph_scene *
td_document_get_scene(TdDocument *self) {
  return self->scene;
}

uint32_t
td_document_get_graph_task(TdDocument *self) {
  return self->scene_task;
}

uint32_t
td_document_get_root(TdDocument *self) {
  const td_catalog_graph_task *pass =
      td_catalog_graph_task_find(td_document_get_catalog(self), self->scene_task);
  return pass ? pass->root : TD_NONE;
}

uint32_t
td_document_pass_of(TdDocument *self, uint32_t node) {
  double x, y;
  bool is_shown = self->scene && td_graph_scene_place(self->scene, node, &x, &y);
  return is_shown ? self->scene_task : TD_NONE;
}

uint32_t
td_document_graph_task_at(TdDocument *self, uint64_t position) {
  return td_pass_at(td_document_get_catalog(self), td_replay_end(self->replay), self->process,
                    position);
}

uint32_t
td_document_get_process(TdDocument *self) {
  return self->process;
}

void
td_document_set_process(TdDocument *self, uint32_t process) {
  if (process == self->process || process >= td_document_get_catalog(self)->n_processes) return;
  self->process = process;
  td_document_show_graph_task(self,
                              td_document_graph_task_at(self, td_replay_position(self->replay)));
  g_object_notify_by_pspec(G_OBJECT(self), props[PROP_PROCESS]);
}

uint32_t
td_document_process_of(TdDocument *self, uint32_t node) {
  const td_catalog *catalog = td_document_get_catalog(self);
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  uint32_t thread = facts ? facts->thread : TD_NONE;
  return thread < catalog->n_threads ? catalog->threads[thread].process : 0;
}

const td_catalog_cause *
td_document_get_causes(TdDocument *self, uint32_t *n) {
  bool told = has_told_causes(self);
  *n = told ? td_outline_catalog(self->outline)->n_causes : self->n_causes;
  return told ? td_outline_catalog(self->outline)->causes : self->causes;
}

gboolean
td_document_is_reconstructed(TdDocument *self, uint64_t seq) {
  td_any_event event;
  td_tape *tape = self->outline ? td_outline_tape(self->outline) : td_replay_tape(self->replay);
  return td_tape_get(tape, seq, &event, NULL) == TD_OK &&
         td_document_get_info(self)->known[event.event.kind] == TD_knowledge_reconstructed;
}
