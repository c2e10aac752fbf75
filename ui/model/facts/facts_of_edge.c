/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/format.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/facts/edge_list.h"
#include "ui/model/facts/fact_list.h"
#include "ui/model/facts/facts.h"

#include <glib/gi18n.h>

/* After its node, a gradient moves within a few events; other threads' come between. */
#define MOST_EVENTS 4096

static gboolean
is_same_chain(const td_catalog_edge *edge, const td_any_event *event) {
  return event->event.kind == TD_EVENT_buffer_add && event->buffer_add.from == edge->from &&
         event->buffer_add.node == edge->to && event->buffer_add.input_nr == edge->input_nr;
}

/* x * x sends two gradients to the same input of x. The edges before this one send theirs first. */
static uint32_t
count_before(const td_catalog *catalog, uint32_t number) {
  const td_catalog_edge *edge = &catalog->edges[number];
  uint32_t n, n_before = 0;
  const uint32_t *twins = td_catalog_edges_between(catalog, edge->from, edge->to, &n);
  for (uint32_t i = 0; i < n; i++)
    n_before += twins[i] < number && catalog->edges[twins[i]].input_nr == edge->input_nr;
  return n_before;
}

/* Looks from a time on, but not beyond the playhead. */
static gboolean
find_from(TdFactList *facts, uint32_t number, uint64_t ns, uint64_t *seq, td_any_event *event) {
  td_replay *replay = td_document_get_replay(facts->document);
  uint64_t first = MAX(td_tape_seq_at(td_replay_tape(replay), ns), td_replay_first(replay));
  uint64_t end = MIN(facts->state->header->seq, first + MOST_EVENTS);
  uint32_t n_before = count_before(facts->catalog, number);
  for (*seq = first; *seq < end; (*seq)++) {
    if (td_replay_event(replay, *seq, event, NULL) != TD_OK) return FALSE;
    if (is_same_chain(&facts->catalog->edges[number], event) && n_before-- == 0) return TRUE;
  }
  return FALSE;
}

/* In the pass that is shown; where it has not run in that, in the one in which it ran last. */
static td_pair_now
producer_now(TdFactList *facts, const td_catalog_edge *edge) {
  uint32_t pass = td_document_pass_of(facts->document, edge->from);
  td_pair_now shown = td_state_pair(facts->state, edge->from, pass);
  return shown.begin_ns ? shown : td_state_pair(facts->state, edge->from, TD_NONE);
}

/* The gradient moves when its producer has ended. Schedulers of 2017 add some before that. */
static gboolean
find_gradient(TdFactList *facts, uint32_t number, uint64_t *seq, td_any_event *event) {
  td_pair_now run = producer_now(facts, &facts->catalog->edges[number]);
  if (!run.begin_ns) return FALSE;
  return (run.end_ns >= run.begin_ns && find_from(facts, number, run.end_ns, seq, event)) ||
         find_from(facts, number, run.begin_ns, seq, event);
}

static const char *const modes[TD_accumulation_LIMIT] = {
    [TD_accumulation_move] = N_("the first: moved into the buffer"),
    [TD_accumulation_in_place] = N_("added in place"),
    [TD_accumulation_out_of_place] = N_("added, into a new tensor"),
    [TD_accumulation_sparse] = N_("added as a sparse tensor"),
    [TD_accumulation_undefined] = N_("undefined: nothing to add"),
    [TD_accumulation_steal] = N_("taken over"),
    [TD_accumulation_copy] = N_("copied"),
    [TD_accumulation_direct] = N_("added by the node itself"),
};

static void
add_moved(TdFactList *facts, uint64_t seq, const td_any_event *event) {
  const td_event_buffer_add *moved = &event->buffer_add;
  g_autofree char *number = td_format_count(seq), *time = td_format_ns((double)event->event.time);
  td_fact_list_add_known(facts, _("Went over"), g_strdup_printf(_("at %s, event %s"), time, number),
                         TD_EVENT_buffer_add);
  if (moved->mode < TD_accumulation_LIMIT && modes[moved->mode])
    td_fact_list_add_known(facts, _("How"), g_strdup(_(modes[moved->mode])), TD_EVENT_buffer_add);
  if (moved->bytes) td_fact_list_add(facts, _("Size"), td_format_bytes(moved->bytes));
}

static const char *
why_unknown(TdFactList *facts, const td_catalog_edge *edge) {
  if (td_document_get_info(facts->document)->known[TD_EVENT_buffer_add] == TD_knowledge_absent)
    return _("unknown: a recording of this level does not observe input buffers");
  return producer_now(facts, edge).begin_ns ? _("unknown, or on its way")
                                            : _("not yet: its producer has not run");
}

static void
add_gradient(TdFactList *facts, uint32_t number) {
  const td_catalog_edge *edge = &facts->catalog->edges[number];
  const td_catalog_node *to = td_catalog_node_get(facts->catalog, edge->to);
  const td_catalog_metadata *metadata =
      td_catalog_metadata_find(facts->catalog, to, edge->input_nr);
  uint64_t seq;
  td_any_event event;
  facts->section = _("Gradient");
  if (metadata)
    td_fact_list_add_known(facts, _("Shape"),
                           g_strdup_printf("%s %s", metadata->dtype, metadata->shape),
                           TD_EVENT_input_metadata);
  if (find_gradient(facts, number, &seq, &event))
    add_moved(facts, seq, &event);
  else
    td_fact_list_add(facts, _("Went over"), g_strdup(why_unknown(facts, edge)));
}

static void
add_end(TdFactList *facts, const char *title, TdEdgeSide side, const td_catalog_edge *edge) {
  uint32_t node = side == TD_EDGES_IN ? edge->to : edge->from;
  g_autofree char *name = td_document_dup_node_words(facts->document, node);
  g_autofree char *slot = td_edge_list_dup_title(side, edge);
  td_fact_list_add_link(facts, title, g_strdup_printf("%s · %s", name, slot), node);
}

GListModel *
td_facts_of_edge(TdDocument *document, uint32_t edge) {
  TdFactList facts = td_fact_list_new(document);
  facts.section = _("Edge");
  add_end(&facts, _("Producer"), TD_EDGES_OUT, &facts.catalog->edges[edge]);
  add_end(&facts, _("Consumer"), TD_EDGES_IN, &facts.catalog->edges[edge]);
  add_gradient(&facts, edge);
  return G_LIST_MODEL(facts.store);
}
