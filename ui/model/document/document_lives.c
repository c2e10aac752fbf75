/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/document_lives.h"

#include "ui/model/base/worker.h"
#include "ui/model/document/document_segment.h"

/* A life may end after its pass: its thread still releases what the node had. */
#define LIVES_END 256

typedef struct Cache {
  td_pass_lives *lives; /* (owned) or NULL */
  uint32_t made;        /* graph task that a worker collects, or TD_NONE */
  uint32_t failed;      /* of which nothing can be had, or TD_NONE */
} Cache;

typedef struct Job {
  char *path; /* (owned) */
  uint32_t graph_task;
  uint64_t first, end;
} Job;

static void
lives_free(gpointer data) {
  td_pass_lives *lives = data;
  if (lives) td_pass_lives_fini(lives);
  g_free(lives);
}

static void
cache_free(gpointer data) {
  Cache *cache = data;
  lives_free(cache->lives);
  g_free(cache);
}

static Cache *
cache_of(TdDocument *self) {
  Cache *cache = g_object_get_data(G_OBJECT(self), "td-lives");
  if (cache) return cache;
  cache = g_new0(Cache, 1);
  cache->made = cache->failed = TD_NONE;
  g_object_set_data_full(G_OBJECT(self), "td-lives", cache, cache_free);
  return cache;
}

static void
job_free(gpointer data) {
  Job *job = data;
  g_free(job->path);
  g_free(job);
}

static void
worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  const Job *job = data;
  td_tape *tape;
  td_pass_lives *lives = NULL;
  if (td_tape_open(job->path, &tape, NULL) == TD_OK) {
    lives = g_new0(td_pass_lives, 1);
    td_pass_lives_read(lives, tape, job->graph_task, job->first,
                       MIN(job->end, td_tape_info_get(tape)->n_events));
    td_tape_close(tape);
  }
  g_task_return_pointer(task, lives, lives_free);
}

static void
made(GObject *source, GAsyncResult *result, gpointer data) {
  Cache *cache = cache_of(TD_DOCUMENT(source));
  td_pass_lives *lives = g_task_propagate_pointer(G_TASK(result), NULL);
  lives_free(cache->lives);
  cache->lives = lives;
  if (!lives) cache->failed = cache->made;
  cache->made = TD_NONE;
  g_object_notify(source, "lives");
}

static void
make(TdDocument *self, Cache *cache, const td_catalog_graph_task *facts) {
  TdSegment segment = td_document_get_segment(self);
  uint64_t begin = td_pass_lives_begin(td_document_get_catalog(self), facts->id);
  Job *job = g_new0(Job, 1);
  *job = (Job){g_strdup(td_document_get_path(self)), facts->id, MAX(begin, segment.first),
               MIN(facts->end_seq + LIVES_END, segment.end)};
  cache->made = facts->id;
  g_autoptr(GTask) task = g_task_new(self, NULL, made, NULL);
  g_task_set_task_data(task, job, job_free);
  td_worker_start(task, worker);
}

static const td_pass_lives *
want_lives(TdDocument *self) {
  Cache *cache = cache_of(self);
  uint32_t graph_task = td_document_get_graph_task(self);
  if (cache->lives && cache->lives->graph_task == graph_task) return cache->lives;
  const td_catalog_graph_task *facts =
      td_catalog_graph_task_find(td_document_get_catalog(self), graph_task);
  if (cache->made == TD_NONE && cache->failed != graph_task && facts) make(self, cache, facts);
  return NULL;
}

gboolean
td_document_want_life(TdDocument *self, uint32_t node, TdNodeLife *life) {
  const td_pass_lives *lives = want_lives(self);
  const td_life *found = lives ? td_pass_lives_find(lives, node) : NULL;
  *life = (TdNodeLife){0};
  if (!found) return FALSE;
  for (int part = 0; part < TD_N_LIFE_PARTS; part++) {
    life->is_known[part] = lives->is_known[part];
    life->parts[part] = lives->is_known[part] ? found->parts[part] : 0;
    life->sum += life->parts[part];
  }
  life->were_observed = lives->known == TD_knowledge_observed;
  return TRUE;
}

gboolean
td_document_makes_lives(TdDocument *self) {
  return cache_of(self)->made != TD_NONE;
}
