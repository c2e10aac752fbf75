/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/geometry/format.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/facts/edge_list.h"
#include "ui/model/facts/facts.h"
#include "ui/model/facts/facts_origin.h"
#include "ui/model/facts/facts_parts.h"
#include "ui/model/facts/node_state_text.h"
#include "ui/model/findings/problems.h"

#include <glib/gi18n.h>

/* A leaf of a large model may have thousands of edges; a list that long helps nobody. */
#define MAX_EDGES_LISTED 64
#define MAX_ARRIVALS_NAMED 6

static char *
queue_name(const td_catalog *catalog, uint32_t queue) {
  if (queue >= catalog->n_queues) return g_strdup("");
  const char *device = td_catalog_device_label(catalog, catalog->queues[queue].device);
  return g_strdup_printf(_("queue %u (%s)"), queue, device);
}

static char *
thread_name(const td_catalog *catalog, uint32_t thread) {
  const char *name = thread < catalog->n_threads ? catalog->threads[thread].name : NULL;
  return name && *name ? g_strdup_printf("%s (%u)", name, thread)
                       : g_strdup_printf(_("thread %u"), thread);
}

static const char *const birthplaces[TD_birthplace_LIMIT] = {
    [TD_birthplace_node] = N_("in this node's output #"),
    [TD_birthplace_sum] = N_("in the sum inside the input buffer, at input #"),
    [TD_birthplace_hook] = N_("in a hook, in gradient # that it gave back"),
    [TD_birthplace_forward] = N_("in the forward pass, result # of the operation"),
    [TD_birthplace_input] = N_("in the gradient handed to backward, input #"),
    [TD_birthplace_accumulate] = N_("while adding to the stored gradient"),
    [TD_birthplace_data] = N_("in the data, operand # of the forward operation"),
    [TD_birthplace_parameter] = N_("in a leaf, operand # of the forward operation"),
    [TD_birthplace_cast] = N_("where the engine cast the gradient for input #"),
    [TD_birthplace_reduced] = N_("where the engine summed the gradient for input #"),
};

/* The number goes where the (translated) text has its '#'. */
static char *
with_number(const char *text, uint32_t number) {
  g_autofree char *digits = g_strdup_printf("%u", number);
  g_auto(GStrv) parts = g_strsplit(text, "#", 2);
  return g_strjoinv(digits, parts);
}

static void
add_contributor(TdFactList *facts, const char *title, uint32_t node, uint32_t output_nr) {
  if (node == TD_NONE) return;
  g_autofree char *name = td_document_dup_node_words(facts->document, node);
  td_fact_list_add_link(facts, title, g_strdup_printf(_("output %u of %s"), output_nr, name), node);
}

static void
add_birth(TdFactList *facts, const td_event_anomaly *anomaly) {
  gboolean is_inf = anomaly->kind == TD_anomaly_kind_inf;
  const char *place = anomaly->born < TD_birthplace_LIMIT ? birthplaces[anomaly->born] : NULL;
  g_autofree char *where = place ? with_number(_(place), anomaly->number) : g_strdup("");
  td_fact_list_add(facts, _("Born here"), g_strdup_printf("%s, %s", is_inf ? "Inf" : "NaN", where));
  if (anomaly->born != TD_birthplace_sum) return;
  add_contributor(facts, is_inf ? _("Too great together") : _("+Inf and -Inf met"), anomaly->other,
                  anomaly->other_output_nr);
  add_contributor(facts, _("Completed by"), anomaly->from, anomaly->from_output_nr);
}

static void
add_cause(TdFactList *facts, uint64_t seq) {
  char *cause = td_document_dup_cause(facts->document, seq);
  if (*cause)
    td_fact_list_add(facts, _("Cause"), cause);
  else
    g_free(cause);
}

static void
add_anomalies(TdFactList *facts, uint32_t node) {
  td_event_anomaly anomaly;
  uint64_t seq;
  if (!td_state_node(facts->state, node)->anomaly) return;
  facts->section = _("Not finite");
  for (uint32_t i = 0; td_document_find_anomaly(facts->document, node, i, &seq, &anomaly); i++) {
    add_birth(facts, &anomaly);
    add_cause(facts, seq);
  }
}

/* The graph on the screen is that of one pass. A node of another one may be selected. */
static void
add_elsewhere(TdFactList *facts, uint32_t node) {
  double x, y;
  td_graph_scene *scene = td_document_get_scene(facts->document);
  if (scene && !td_graph_scene_place(scene, node, &x, &y))
    td_fact_list_add(facts, _("In the picture"), g_strdup(_("no: it shows another pass")));
}

static void
add_now(TdFactList *facts, uint32_t node) {
  uint32_t shown = td_document_pass_of(facts->document, node);
  uint32_t last = td_state_node(facts->state, node)->graph_task;
  uint32_t pass = shown != TD_NONE ? shown : last;
  td_pair_now now = td_state_pair(facts->state, node, shown);
  const td_task_now *task = td_state_task_find(facts->state, node, shown);
  facts->section = _("Now");
  td_fact_list_add(facts, _("State"), g_strdup(td_node_state_text_now(facts->document, node)));
  if (task && task->expected)
    td_fact_list_add_known(facts, _("Gradients arrived"),
                           g_strdup_printf(_("%u of %u"),
                                           task->expected - MIN(task->dependencies, task->expected),
                                           task->expected),
                           TD_EVENT_dependency_dec);
  if (task && task->queue != TD_NONE)
    td_fact_list_add_known(facts, _("Waits in"), queue_name(facts->catalog, task->queue),
                           TD_EVENT_queue_push);
  if (last != TD_NONE)
    td_fact_list_add(facts, _("Backward pass"),
                     g_strdup_printf(_("%u of %u (graph task %u)"),
                                     td_catalog_graph_task_row(facts->whole, pass) + 1,
                                     facts->whole->n_graph_tasks, pass));
  add_elsewhere(facts, node);
  if (now.thread != TD_NONE)
    td_fact_list_add(facts, _("Thread"), thread_name(facts->catalog, now.thread));
  if (now.begin_ns) td_fact_list_add(facts, _("Began at"), td_format_ns(now.begin_ns));
  if (now.begin_ns && now.end_ns >= now.begin_ns)
    td_fact_list_add(facts, _("Took"), td_format_ns(now.end_ns - now.begin_ns));
}

static void
add_identity(TdFactList *facts, uint32_t node) {
  const td_catalog_node *facts_of = td_catalog_node_get(facts->catalog, node);
  facts->section = _("Node");
  if (facts_of->label) td_fact_list_add(facts, _("Known as"), g_strdup(facts_of->label));
  td_fact_list_add(facts, _("Number"), g_strdup_printf(_("#%u on this tape"), node));
  /* AccumulateGrad has the greatest number there is: it goes first. */
  if (facts_of->sequence_nr == UINT64_MAX)
    td_fact_list_add(facts, "sequence_nr", g_strdup(_("max: a leaf goes first")));
  else {
    g_autofree char *number = td_format_count(facts_of->sequence_nr);
    td_fact_list_add(facts, "sequence_nr", g_strdup_printf(_("%s: higher goes first"), number));
  }
  td_fact_list_add_count(facts, "topological_nr", facts_of->topological_nr);
  td_fact_list_add(facts, _("Device"),
                   g_strdup(td_catalog_device_label(facts->catalog, facts_of->device)));
  td_fact_list_add(facts, _("Inputs, outputs"),
                   g_strdup_printf("%u, %u", facts_of->n_inputs, facts_of->n_outputs));
}

/* The last to arrive is the first in the state's list. */
static GArray *
arrived_at(TdFactList *facts, const td_task_now *task, uint32_t input_nr) {
  GArray *from = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  uint32_t at = task ? task->first_arrival : TD_NONE;
  for (; at != TD_NONE; at = td_state_arrival(facts->state, at)->next) {
    const td_arrival_now *arrival = td_state_arrival(facts->state, at);
    if (arrival->input_nr == input_nr) g_array_append_val(from, arrival->from);
  }
  return from;
}

static char *
arrivals_text(TdFactList *facts, const td_task_now *task, uint32_t input_nr) {
  g_autoptr(GArray) from = arrived_at(facts, task, input_nr);
  guint n_named = MIN(from->len, MAX_ARRIVALS_NAMED);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < n_named; i++) {
    uint32_t node = g_array_index(from, uint32_t, from->len - 1 - i);
    g_autofree char *name = node == TD_NONE ? g_strdup(_("the caller"))
                                            : td_document_dup_node_words(facts->document, node);
    g_string_append_printf(text, "%s%s", i ? ", " : "", name);
  }
  g_autofree char *names = g_string_free(text, FALSE);
  if (n_named == from->len) return g_steal_pointer(&names);
  g_autofree char *count = td_format_count(from->len - n_named);
  return g_strdup_printf(_("%s and %s more"), names, count);
}

static char *
metadata_text(const td_catalog *catalog, const td_catalog_node *node, uint32_t input_nr) {
  const td_catalog_metadata *metadata = td_catalog_metadata_find(catalog, node, input_nr);
  if (!metadata) return g_strdup(_("unknown shape"));
  g_autofree char *bytes = td_format_bytes(metadata->bytes);
  g_auto(GStrv) words = g_strsplit(bytes, " ", -1);
  g_autofree char *unbroken = g_strjoinv("\u00a0", words);
  return g_strdup_printf("%s %s · %s", metadata->dtype, metadata->shape, unbroken);
}

static void
add_inputs(TdFactList *facts, uint32_t node) {
  const td_catalog_node *facts_of = td_catalog_node_get(facts->catalog, node);
  const td_task_now *task = td_state_task_find(facts->state, node, TD_NONE);
  facts->section = _("Input buffer");
  for (uint32_t i = 0; i < MIN(facts_of->n_inputs, MAX_EDGES_LISTED); i++) {
    g_autofree char *title = g_strdup_printf(_("Input %u"), i);
    g_autofree char *shape = metadata_text(facts->catalog, facts_of, i);
    g_autofree char *from = arrivals_text(facts, task, i);
    td_fact_list_add_known(facts, title,
                           *from ? g_strdup_printf(_("%s\narrived from %s"), shape, from)
                                 : g_strdup(shape),
                           *from ? TD_EVENT_buffer_add : TD_EVENT_input_metadata);
  }
}

static td_node_state
state_of(TdFactList *facts, uint32_t node) {
  uint32_t pass = td_document_pass_of(facts->document, node);
  return (td_node_state)td_state_pair(facts->state, node, pass).state;
}

static char *
edge_text(TdFactList *facts, uint32_t node) {
  g_autofree char *name = td_document_dup_node_words(facts->document, node);
  return g_strdup_printf("%s · %s", name, _(td_node_state_name(state_of(facts, node))));
}

/* Nodes of earlier passes that used the same leaf, and of later ones, say nothing about now. */
static gboolean
is_current(TdFactList *facts, uint32_t node) {
  td_node_state state = td_state_node(facts->state, node)->state;
  return state != TD_NODE_released && state != TD_NODE_absent;
}

/* The last row of a side that is not listed whole. Somebody who wants can see all edges. */
static void
add_rest(TdFactList *facts, uint32_t node, TdEdgeSide side, uint32_t n_more, uint32_t n_idle,
         bool is_first) {
  if (!n_more && !n_idle) return;
  g_autofree char *more = td_format_count(n_more), *idle = td_format_count(n_idle);
  char *value = n_more && n_idle ? g_strdup_printf(_("%s more, %s not in use now"), more, idle)
                : n_more         ? g_strdup_printf(_("%s more"), more)
                                 : g_strdup_printf(_("%s not in use now"), idle);
  td_fact_list_add_all(facts, is_first ? _("edges") : _("and"), value,
                       G_LIST_MODEL(td_edge_list_new(facts->document, node, side)));
}

static void
add_edges_in(TdFactList *facts, uint32_t node) {
  const td_catalog_node *known = td_catalog_node_get(facts->catalog, node);
  uint32_t n_current = 0;
  facts->section = _("Gradients come from");
  for (uint32_t i = 0; i < known->n_in; i++) {
    const td_catalog_edge *edge =
        &facts->catalog->edges[facts->catalog->in_edges[known->first_in + i]];
    if (!is_current(facts, edge->from) || n_current++ >= MAX_EDGES_LISTED) continue;
    g_autofree char *title = td_edge_list_dup_title(TD_EDGES_IN, edge);
    td_fact_list_add_link(facts, title, edge_text(facts, edge->from), edge->from);
  }
  add_rest(facts, node, TD_EDGES_IN, n_current - MIN(n_current, MAX_EDGES_LISTED),
           known->n_in - n_current, n_current == 0);
}

static void
add_edges_out(TdFactList *facts, uint32_t node) {
  const td_catalog_node *known = td_catalog_node_get(facts->catalog, node);
  facts->section = _("Gradients go to");
  for (uint32_t i = 0; i < MIN(known->n_out, MAX_EDGES_LISTED); i++) {
    const td_catalog_edge *edge = &facts->catalog->edges[known->first_out + i];
    g_autofree char *title = td_edge_list_dup_title(TD_EDGES_OUT, edge);
    td_fact_list_add_link(facts, title, edge_text(facts, edge->to), edge->to);
  }
  add_rest(facts, node, TD_EDGES_OUT, known->n_out - MIN(known->n_out, MAX_EDGES_LISTED), 0, false);
}

GListModel *
td_facts_of_node(TdDocument *document, uint32_t node) {
  TdFactList facts = td_fact_list_new(document);
  if (td_catalog_has_node(facts.catalog, node)) {
    add_anomalies(&facts, node);
    td_facts_add_error(&facts, node);
    td_facts_add_conflicts(&facts, node);
    add_now(&facts, node);
    td_facts_add_origin(&facts, node);
    td_facts_add_numbers(&facts, node);
    add_inputs(&facts, node);
    td_facts_add_hooks(&facts, node);
    td_facts_add_saved(&facts, node);
    add_edges_in(&facts, node);
    add_edges_out(&facts, node);
    add_identity(&facts, node);
  }
  return G_LIST_MODEL(facts.store);
}
