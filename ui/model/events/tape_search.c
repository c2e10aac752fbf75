/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/events/tape_search.h"

#include "engine/replay/catalog_collect.h"
#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/facts/node_words.h"

struct TdTapeSearch {
  TdDocument *document; /* (owned) the segment shown: its nodes are found there */
  char *path, *typed;   /* (owned) */
  guint room;
  uint32_t shown, n_segments, n_seen; /* `shown` from 0 */
  /* the worker's */
  td_tape *tape;      /* (owned) or NULL: not yet open */
  TdNodeWords *words; /* (owned) or NULL likewise */
  GArray *segments;   /* (owned) of td_segment, or NULL likewise */
  gboolean is_hopeless;
};

/* What a worker found in a segment. */
typedef struct Found {
  GPtrArray *nodes; /* (owned) */
  uint64_t n;
} Found;

static void
found_node_free(gpointer data) {
  TdFoundNode *found = data;
  g_free(found->text);
  g_free(found);
}

static void
found_free(gpointer data) {
  Found *found = data;
  if (found->nodes) g_ptr_array_unref(found->nodes);
  g_free(found);
}

TdTapeSearch *
td_tape_search_new(TdDocument *document, const char *typed, guint room) {
  TdTapeSearch *self = g_atomic_rc_box_new0(TdTapeSearch);
  TdSegment segment = td_document_get_segment(document);
  self->document = g_object_ref(document);
  self->path = g_strdup(td_document_get_path(document));
  self->typed = g_strdup(typed);
  self->room = room;
  self->shown = segment.number - 1;
  self->n_segments = segment.n;
  self->n_seen = 1;
  return self;
}

static void
clear(gpointer data) {
  TdTapeSearch *self = data;
  g_object_unref(self->document);
  if (self->words) td_node_words_free(self->words);
  if (self->segments) g_array_unref(self->segments);
  td_tape_close(self->tape);
  g_free(self->path);
  g_free(self->typed);
}

TdTapeSearch *
td_tape_search_ref(TdTapeSearch *self) {
  return g_atomic_rc_box_acquire(self);
}

void
td_tape_search_unref(TdTapeSearch *self) {
  g_atomic_rc_box_release_full(self, clear);
}

gboolean
td_tape_search_is_over(TdTapeSearch *self) {
  return self->n_seen == self->n_segments || self->is_hopeless;
}

guint
td_tape_search_n_seen(TdTapeSearch *self) {
  return self->n_seen;
}

/* The segments around the one shown take turns: 1 after it, 1 before it, 2 after it. Where one side
 * has no more, the other goes on. */
static uint32_t
next_segment(const TdTapeSearch *self) {
  uint32_t before = self->shown, after = self->n_segments - 1 - self->shown;
  uint32_t turn = self->n_seen - 1, least = MIN(before, after);
  if (turn < 2 * least) return turn % 2 ? self->shown - 1 - turn / 2 : self->shown + 1 + turn / 2;
  uint32_t further = turn - least + 1;
  return after > before ? self->shown + further : self->shown - further;
}

/* ---- in the worker ---- */

static void
list_segments(TdTapeSearch *self) {
  self->segments = g_array_new(FALSE, FALSE, sizeof(td_segment));
  uint64_t first = 0;
  for (uint32_t i = 0; i < td_tape_n_segments(self->tape); i++) {
    td_segment segment = td_tape_segment_at(self->tape, first);
    g_array_append_val(self->segments, segment);
    first = segment.end;
  }
}

static gboolean
open_tape(TdTapeSearch *self, td_error *error) {
  if (self->tape) return TRUE;
  if (td_tape_open(self->path, &self->tape, error)) return FALSE;
  list_segments(self);
  self->words = td_node_words_new(self->typed);
  self->is_hopeless =
      td_node_words_is_empty(self->words) ||
      !td_node_words_may_match(self->words, self->tape, td_tape_info_get(self->tape)->n_strings);
  return TRUE;
}

/* A node that lives for long is of the segment that made it, or of the first one that has it. */
static gboolean
is_of_segment(TdTapeSearch *self, const td_catalog_node *node, const td_segment *segment) {
  if (td_catalog_has_node(td_document_get_catalog(self->document), node->id)) return FALSE;
  if (node->created_seq >= segment->end) return FALSE;
  return node->created_seq >= segment->first || segment->number == 0;
}

/* A node is best seen where its pass has begun. */
static void
show_in_passes(const td_catalog *catalog, GPtrArray *nodes) {
  g_autoptr(GHashTable) by_id = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < nodes->len; i++) {
    TdFoundNode *found = nodes->pdata[i];
    g_hash_table_insert(by_id, GUINT_TO_POINTER(found->node + 1u), found);
  }
  for (uint32_t pass = 0; pass < catalog->n_graph_tasks; pass++) {
    const td_catalog_graph_task *facts = &catalog->graph_task_rows[pass];
    for (uint32_t i = facts->first_ran; i < facts->first_ran + facts->n_ran; i++) {
      TdFoundNode *found = g_hash_table_lookup(by_id, GUINT_TO_POINTER(catalog->ran[i] + 1u));
      if (!found) continue;
      found->position = facts->begin_seq + 1;
      g_hash_table_remove(by_id, GUINT_TO_POINTER(found->node + 1u));
    }
  }
}

static void
look_through(TdTapeSearch *self, const td_catalog *catalog, const td_segment *segment,
             uint32_t number, Found *found) {
  for (uint32_t i = 0; i < catalog->n_nodes; i++) {
    const td_catalog_node *node = &catalog->node_rows[i];
    if (!is_of_segment(self, node, segment)) continue;
    if (!td_node_words_match(self->words, node, 0)) continue;
    if (found->n++ >= self->room) continue;
    TdFoundNode *one = g_new0(TdFoundNode, 1);
    *one = (TdFoundNode){.node = node->id,
                         .segment = number + 1,
                         .position = MAX(node->created_seq, segment->first) + 1,
                         .text = td_node_words_describe(catalog, node, NULL)};
    g_ptr_array_add(found->nodes, one);
  }
  show_in_passes(catalog, found->nodes);
}

static void
search_worker(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  TdTapeSearch *self = data;
  td_error error = {0};
  if (!open_tape(self, &error)) {
    GError *failure = NULL;
    td_error_propagate(&failure, &error);
    g_task_return_error(task, failure);
    return;
  }
  Found *found = g_new0(Found, 1);
  found->nodes = g_ptr_array_new_with_free_func(found_node_free);
  uint32_t number = next_segment(self);
  gboolean is_there = number < self->segments->len; /* nobody has put another tape there */
  td_catalog *catalog = NULL;
  td_segment segment = {0};
  if (is_there) segment = g_array_index(self->segments, td_segment, number);
  if (is_there && !self->is_hopeless &&
      td_catalog_collect(self->tape, &segment, &catalog, &error) == TD_OK)
    look_through(self, catalog, &segment, number, found);
  td_error_clear(&error);
  td_catalog_free(catalog);
  g_task_return_pointer(task, found, found_free);
}

void
td_tape_search_next_async(TdTapeSearch *self, GCancellable *cancellable, GAsyncReadyCallback done,
                          gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, done, data);
  g_task_set_task_data(task, td_tape_search_ref(self), (GDestroyNotify)td_tape_search_unref);
  td_worker_start(task, search_worker);
}

GPtrArray *
td_tape_search_next_finish(GAsyncResult *result, uint64_t *n, GError **error) {
  TdTapeSearch *self = g_task_get_task_data(G_TASK(result));
  Found *found = g_task_propagate_pointer(G_TASK(result), error);
  if (!found) return NULL;
  GPtrArray *nodes = g_steal_pointer(&found->nodes);
  *n += found->n;
  self->n_seen++;
  found_free(found);
  return nodes;
}
