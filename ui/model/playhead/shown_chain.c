/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/shown_chain.h"

#include "engine/profile/chain/chain_words.h"
#include "ui/model/playhead/chain_work.h"

#include <glib/gi18n.h>

/* A chain of so many events is there at once: within a frame. A worker reads the tape for longer
 * ones. */
#define EVENTS_AT_ONCE 10000

/* A search that takes longer says so. */
#define PATIENCE_MS 700

struct _TdShownChain {
  GObject parent_instance;
  TdPlayhead *playhead; /* (owned) */
  td_chain chain;       /* (owned) no steps: nobody asked */
  guint present;        /* step */
  GArray *nodes;        /* (owned) of td_chain_node */
  GArray *places;       /* (owned) of guint: by step, which of the stops is the step's */
  gboolean moves;       /* it moves the playhead itself */
  guint check;          /* id of an idle callback, or 0 */
  GCancellable *asking; /* (owned) or NULL: no worker looks for a chain */
  uint64_t asked_at;    /* position */
  uint32_t asked_node;
  guint patience; /* source, or 0 */
};

G_DEFINE_FINAL_TYPE(TdShownChain, td_shown_chain, G_TYPE_OBJECT)

static guint changed_signal, stepped_signal;

static void
tell(TdShownChain *self) {
  g_signal_emit(self, changed_signal, 0);
}

static void
forget(TdShownChain *self) {
  td_chain_fini(&self->chain);
  g_array_set_size(self->nodes, 0);
  g_array_set_size(self->places, 0);
  self->present = 0;
}

static void
stop_asking(TdShownChain *self) {
  g_clear_handle_id(&self->patience, g_source_remove);
  if (self->asking) g_cancellable_cancel(self->asking);
  g_clear_object(&self->asking);
}

void
td_shown_chain_end(TdShownChain *self) {
  stop_asking(self);
  if (!self->chain.n) return;
  forget(self);
  tell(self);
}

static gboolean
is_at_last_node(TdShownChain *self, uint32_t node) {
  guint n = self->nodes->len;
  return n > 0 && g_array_index(self->nodes, td_chain_node, n - 1).node == node;
}

/* A step without a node is at that of the step before. */
static void
list_stops(TdShownChain *self) {
  for (uint32_t i = 0; i < self->chain.n; i++) {
    td_chain_node node = {self->chain.steps[i].node, i + 1};
    if (node.node != TD_NONE && !is_at_last_node(self, node.node))
      g_array_append_val(self->nodes, node);
    guint place = MAX(self->nodes->len, 1) - 1;
    g_array_append_val(self->places, place);
  }
}

static void
go_to(TdShownChain *self, guint step) {
  const td_chain_step *place = &self->chain.steps[step];
  self->present = step;
  self->moves = TRUE;
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_show_node(self->playhead, place->seq + 1, place->node);
  self->moves = FALSE;
  tell(self);
  g_signal_emit(self, stepped_signal, 0);
}

static void
begin(TdShownChain *self) {
  list_stops(self);
  go_to(self, 0);
}

static gboolean
patience_over(gpointer data) {
  TdShownChain *self = data;
  self->patience = 0;
  td_playhead_say(self->playhead, _("Looking for the cause; any step ends the search"));
  return G_SOURCE_REMOVE;
}

static void
answered(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdShownChain) self = data;
  g_autoptr(GError) error = NULL;
  td_chain chain = {0};
  gboolean found = td_chain_work_finish(result, &chain, &error);
  if (!self->asking || g_task_get_cancellable(G_TASK(result)) != self->asking) {
    td_chain_fini(&chain);
    return;
  }
  stop_asking(self);
  if (found) {
    self->chain = chain;
    begin(self);
  } else {
    td_playhead_say(self->playhead, error->message);
  }
}

static void
ask_worker(TdShownChain *self) {
  self->asking = g_cancellable_new();
  self->patience = g_timeout_add(PATIENCE_MS, patience_over, self);
  self->asked_at = td_playhead_get_position(self->playhead);
  self->asked_node = td_playhead_get_selection(self->playhead);
  td_chain_work_async(td_playhead_get_document(self->playhead), self->asked_at - 1,
                      self->asked_node, self->asking, answered, g_object_ref(self));
}

static void
ask(TdShownChain *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  uint64_t position = td_playhead_get_position(self->playhead);
  td_error error = {0};
  if (position == 0) {
    td_playhead_say(self->playhead, _("Nothing has happened yet"));
    return;
  }
  td_status status = td_chain_make_within(td_document_get_replay(document), position - 1,
                                          td_playhead_get_selection(self->playhead), EVENTS_AT_ONCE,
                                          &self->chain, &error);
  if (status == TD_OK && !self->chain.is_unfinished) {
    begin(self);
    return;
  }
  forget(self);
  if (status == TD_OK)
    ask_worker(self);
  else
    td_playhead_say(self->playhead, td_error_text(&error));
  td_error_clear(&error);
}

static gboolean
is_at(TdShownChain *self, guint step) {
  return self->chain.steps[step].seq + 1 == td_playhead_get_position(self->playhead) &&
         self->chain.steps[step].node == td_playhead_get_selection(self->playhead);
}

/* Whoever goes back to a step of the way stays on it, and so does whoever only moves the playhead.
 */
static void
check(TdShownChain *self) {
  g_clear_handle_id(&self->check, g_source_remove);
  if (!self->chain.n || is_at(self, self->present)) return;
  for (guint i = 0; i < self->chain.n; i++) {
    if (!is_at(self, i)) continue;
    self->present = i;
    tell(self);
    return;
  }
  if (td_playhead_get_selection(self->playhead) != self->chain.steps[self->present].node)
    td_shown_chain_end(self);
}

void
td_shown_chain_step(TdShownChain *self) {
  if (!td_playhead_get_document(self->playhead) || td_playhead_is_travelling(self->playhead))
    return;
  if (self->asking) return;
  check(self);
  if (!self->chain.n)
    ask(self);
  else if (self->present + 1 < self->chain.n)
    go_to(self, self->present + 1);
  else
    td_playhead_say(self->playhead, _("Nothing leads further back"));
}

gboolean
td_shown_chain_is_busy(TdShownChain *self) {
  return self->asking != NULL;
}

const td_chain_node *
td_shown_chain_get_nodes(TdShownChain *self, guint *n, guint *present) {
  *n = self->nodes->len;
  *present = self->chain.n ? g_array_index(self->places, guint, self->present) : 0;
  return (const td_chain_node *)(void *)self->nodes->data;
}

char *
td_shown_chain_dup_place(TdShownChain *self) {
  if (!self->chain.n) return NULL;
  uint64_t n = self->chain.n + self->chain.n_left_out, number = self->present + 1;
  if (td_shown_chain_is_over(self)) number = n;
  return g_strdup_printf(_("Step %llu of %llu"), (unsigned long long)number, (unsigned long long)n);
}

char *
td_shown_chain_dup_text(TdShownChain *self) {
  if (!self->chain.n) return NULL;
  TdDocument *document = td_playhead_get_document(self->playhead);
  return td_chain_words(td_document_get_catalog(document),
                        td_replay_tape(td_document_get_replay(document)), &self->chain,
                        self->present);
}

gboolean
td_shown_chain_is_over(TdShownChain *self) {
  return self->present + 1 == self->chain.n;
}

static gboolean
check_cb(gpointer data) {
  TdShownChain *self = data;
  self->check = 0;
  check(self);
  return G_SOURCE_REMOVE;
}

/* Whoever moves the playhead meanwhile wants to be there. */
static void
forget_question(TdShownChain *self) {
  if (!self->asking) return;
  if (td_playhead_get_target(self->playhead) != self->asked_at ||
      td_playhead_get_selection(self->playhead) != self->asked_node)
    stop_asking(self);
}

/* Position and selection change one after the other. */
static void
moved(TdShownChain *self) {
  forget_question(self);
  if (self->moves || self->check || !self->chain.n) return;
  self->check = g_idle_add(check_cb, self);
}

TdShownChain *
td_shown_chain_new(TdPlayhead *playhead) {
  TdShownChain *self = g_object_new(TD_TYPE_SHOWN_CHAIN, NULL);
  self->playhead = g_object_ref(playhead);
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(moved), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(moved), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(td_shown_chain_end), self,
                          G_CONNECT_SWAPPED);
  return self;
}

static void
td_shown_chain_finalize(GObject *object) {
  TdShownChain *self = TD_SHOWN_CHAIN(object);
  g_clear_handle_id(&self->check, g_source_remove);
  stop_asking(self);
  g_clear_object(&self->playhead);
  td_chain_fini(&self->chain);
  g_array_unref(self->nodes);
  g_array_unref(self->places);
  G_OBJECT_CLASS(td_shown_chain_parent_class)->finalize(object);
}

static void
td_shown_chain_class_init(TdShownChainClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_shown_chain_finalize;
  changed_signal = g_signal_new("changed", TD_TYPE_SHOWN_CHAIN, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
  stepped_signal = g_signal_new("stepped", TD_TYPE_SHOWN_CHAIN, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
}

static void
td_shown_chain_init(TdShownChain *self) {
  self->nodes = g_array_new(FALSE, FALSE, sizeof(td_chain_node));
  self->places = g_array_new(FALSE, FALSE, sizeof(guint));
}
