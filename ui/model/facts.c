/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts.h"

#include "ui/geometry/format.h"

#include <glib/gi18n.h>

/* A leaf of a large model may have thousands of edges; a list that long helps nobody. */
#define MAX_EDGES_LISTED 64

struct _TdFact {
  GObject parent_instance;
  const char *section; /* translated, constant */
  char *title, *value; /* (owned) */
  uint32_t node;
};

G_DEFINE_FINAL_TYPE(TdFact, td_fact, G_TYPE_OBJECT)

static void
td_fact_finalize(GObject *object) {
  TdFact *self = TD_FACT(object);
  g_free(self->title);
  g_free(self->value);
  G_OBJECT_CLASS(td_fact_parent_class)->finalize(object);
}

static void
td_fact_class_init(TdFactClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_fact_finalize;
}

static void
td_fact_init(TdFact *self) {
  self->node = TD_NONE;
}

const char *
td_fact_get_section(TdFact *self) {
  return self->section;
}

const char *
td_fact_get_title(TdFact *self) {
  return self->title;
}

const char *
td_fact_get_value(TdFact *self) {
  return self->value;
}

uint32_t
td_fact_get_node(TdFact *self) {
  return self->node;
}

/* The list under construction and what it is read from. */
typedef struct Facts {
  GListStore *store;
  TdDocument *document;
  const td_graph *graph;
  const td_state *state;
  const char *section;
} Facts;

static Facts
facts_new(TdDocument *document) {
  return (Facts){g_list_store_new(TD_TYPE_FACT), document, td_document_get_graph(document),
                 td_document_get_state(document), NULL};
}

/* Takes the value. */
static void
add_link(Facts *facts, const char *title, char *value, uint32_t node) {
  g_autoptr(TdFact) fact = g_object_new(TD_TYPE_FACT, NULL);
  fact->section = facts->section;
  fact->title = g_strdup(title);
  fact->value = value;
  fact->node = node;
  g_list_store_append(facts->store, fact);
}

static void
add(Facts *facts, const char *title, char *value) {
  add_link(facts, title, value, TD_NONE);
}

static void
add_count(Facts *facts, const char *title, uint64_t count) {
  add(facts, title, td_format_count(count));
}

static const char *const state_names[TD_N_NODE_STATES] = {
    [TD_NODE_created] = N_("created"),
    [TD_NODE_waiting] = N_("waiting for gradients"),
    [TD_NODE_partial] = N_("waiting, some gradients arrived"),
    [TD_NODE_queued] = N_("in a ready queue"),
    [TD_NODE_running] = N_("running"),
    [TD_NODE_done] = N_("done"),
    [TD_NODE_skipped] = N_("skipped"),
    [TD_NODE_captured] = N_("gradient captured"),
    [TD_NODE_failed] = N_("failed"),
    [TD_NODE_released] = N_("released"),
    [TD_NODE_absent] = N_("not created yet"),
};

const char *
td_facts_state_name(td_node_state state) {
  return state < TD_N_NODE_STATES ? _(state_names[state]) : "";
}

const char *
td_facts_node_state(TdDocument *document, uint32_t node) {
  const td_state *state = td_document_get_state(document);
  const td_task_now *task = td_state_task_find(state, node, TD_NONE);
  td_node_state now = state->nodes[node].state;
  if (now == TD_NODE_partial && task && task->expected && !task->dependencies)
    return _("has all its gradients");
  return td_facts_state_name(now);
}

static char *
queue_name(const td_graph *graph, uint32_t queue) {
  if (queue >= graph->n_queues) return g_strdup("");
  const char *device = td_graph_device_name(graph, graph->queues[queue].device);
  return g_strdup_printf(_("queue %u (%s)"), queue, device);
}

static char *
thread_name(const td_graph *graph, uint32_t thread) {
  const char *name = thread < graph->n_threads ? graph->threads[thread].name : NULL;
  return name && *name ? g_strdup_printf("%s (%u)", name, thread)
                       : g_strdup_printf(_("thread %u"), thread);
}

static const char *const birthplaces[TD_birthplace_LIMIT] = {
    [TD_birthplace_node] = N_("in this node's output #"),
    [TD_birthplace_sum] = N_("in the sum inside the input buffer, at input #"),
    [TD_birthplace_hook] = N_("in a hook"),
    [TD_birthplace_forward] = N_("in the forward pass"),
    [TD_birthplace_input] = N_("in the gradient handed to backward, input #"),
    [TD_birthplace_accumulate] = N_("while adding to the stored gradient"),
};

/* The number goes where the (translated) text has its '#'. */
static char *
with_number(const char *text, uint32_t number) {
  g_autofree char *digits = g_strdup_printf("%u", number);
  g_auto(GStrv) parts = g_strsplit(text, "#", 2);
  return g_strjoinv(digits, parts);
}

static void
add_anomaly(Facts *facts, uint32_t node) {
  td_event_anomaly anomaly;
  if (!facts->state->nodes[node].anomaly) return;
  if (!td_document_find_anomaly(facts->document, node, &anomaly)) return;
  facts->section = _("Not finite");
  const char *kind = anomaly.kind == TD_anomaly_kind_inf ? "Inf" : "NaN";
  const char *place = anomaly.born < TD_birthplace_LIMIT ? _(birthplaces[anomaly.born]) : "";
  g_autofree char *where = with_number(place, anomaly.number);
  add(facts, _("Born here"), g_strdup_printf("%s, %s", kind, where));
  if (anomaly.from != TD_NONE)
    add_link(facts, _("Completed by"), td_document_dup_node_name(facts->document, anomaly.from),
             anomaly.from);
}

static void
add_now(Facts *facts, uint32_t node) {
  const td_node_now *now = &facts->state->nodes[node];
  const td_task_now *task = td_state_task_find(facts->state, node, TD_NONE);
  facts->section = _("Now");
  add(facts, _("State"), g_strdup(td_facts_node_state(facts->document, node)));
  if (task && task->expected)
    add(facts, _("Gradients arrived"),
        g_strdup_printf(_("%u of %u"), task->expected - MIN(task->dependencies, task->expected),
                        task->expected));
  if (task && task->queue != TD_NONE)
    add(facts, _("Waits in"), queue_name(facts->graph, task->queue));
  if (now->graph_task != TD_NONE)
    add(facts, _("Backward pass"),
        g_strdup_printf(_("%u of %u (graph task %u)"), now->graph_task + 1,
                        facts->graph->n_graph_tasks, now->graph_task));
  if (now->thread != TD_NONE) add(facts, _("Thread"), thread_name(facts->graph, now->thread));
  if (now->begin_ns) add(facts, _("Began at"), td_format_ns(now->begin_ns));
  if (now->begin_ns && now->end_ns >= now->begin_ns)
    add(facts, _("Took"), td_format_ns(now->end_ns - now->begin_ns));
}

static void
add_identity(Facts *facts, uint32_t node) {
  const td_graph_node *facts_of = &facts->graph->nodes[node];
  facts->section = _("Node");
  if (facts_of->label) add(facts, _("Known as"), g_strdup(facts_of->label));
  add(facts, _("Number"), g_strdup_printf(_("#%u on this tape"), node));
  /* AccumulateGrad has the greatest number there is: it goes first. */
  if (facts_of->sequence_nr == UINT64_MAX)
    add(facts, "sequence_nr", g_strdup(_("max: a leaf goes first")));
  else {
    g_autofree char *number = td_format_count(facts_of->sequence_nr);
    add(facts, "sequence_nr", g_strdup_printf(_("%s: higher goes first"), number));
  }
  add_count(facts, "topological_nr", facts_of->topological_nr);
  add(facts, _("Device"), g_strdup(td_graph_device_name(facts->graph, facts_of->device)));
  add(facts, _("Inputs, outputs"),
      g_strdup_printf("%u, %u", facts_of->n_inputs, facts_of->n_outputs));
  if (facts_of->stack) add(facts, _("Made at"), g_strdup(facts_of->stack));
}

static char *
arrivals_text(Facts *facts, const td_task_now *task, uint32_t input_nr) {
  GString *text = g_string_new(NULL);
  uint32_t at = task ? task->first_arrival : TD_NONE;
  for (; at != TD_NONE; at = facts->state->arrivals[at].next) {
    const td_arrival_now *arrival = &facts->state->arrivals[at];
    if (arrival->input_nr != input_nr) continue;
    g_autofree char *from = arrival->from == TD_NONE
                                ? g_strdup(_("the caller"))
                                : td_document_dup_node_name(facts->document, arrival->from);
    g_autofree char *before = g_strdup(text->str);
    g_string_printf(text, "%s%s%s", from, *before ? ", " : "", before);
  }
  return g_string_free(text, FALSE);
}

static char *
metadata_text(const td_graph *graph, const td_graph_node *node, uint32_t input_nr) {
  if (input_nr >= node->n_metadata) return g_strdup(_("unknown shape"));
  const td_graph_metadata *metadata = &graph->metadata[node->first_metadata + input_nr];
  g_autofree char *bytes = td_format_bytes(metadata->bytes);
  g_auto(GStrv) words = g_strsplit(bytes, " ", -1);
  g_autofree char *unbroken = g_strjoinv("\u00a0", words);
  return g_strdup_printf("%s %s · %s", metadata->dtype, metadata->shape, unbroken);
}

static void
add_inputs(Facts *facts, uint32_t node) {
  const td_graph_node *facts_of = &facts->graph->nodes[node];
  const td_task_now *task = td_state_task_find(facts->state, node, TD_NONE);
  facts->section = _("Input buffer");
  for (uint32_t i = 0; i < MIN(facts_of->n_inputs, MAX_EDGES_LISTED); i++) {
    g_autofree char *title = g_strdup_printf(_("Input %u"), i);
    g_autofree char *shape = metadata_text(facts->graph, facts_of, i);
    g_autofree char *from = arrivals_text(facts, task, i);
    add(facts, title,
        *from ? g_strdup_printf(_("%s\narrived from %s"), shape, from) : g_strdup(shape));
  }
}

static char *
edge_text(Facts *facts, uint32_t node) {
  g_autofree char *name = td_document_dup_node_name(facts->document, node);
  return g_strdup_printf("%s · %s", name, td_node_state_name(facts->state->nodes[node].state));
}

/* Nodes of earlier passes that used the same leaf, and of later ones, say nothing about now. */
static gboolean
is_current(Facts *facts, uint32_t node) {
  td_node_state state = facts->state->nodes[node].state;
  return state != TD_NODE_released && state != TD_NODE_absent;
}

static void
add_rest(Facts *facts, uint32_t n_left_out) {
  if (!n_left_out) return;
  g_autofree char *count = td_format_count(n_left_out);
  add(facts, _("and more"), g_strdup_printf(_("%s not listed"), count));
}

static void
add_edges_in(Facts *facts, uint32_t node) {
  const td_graph_node *known = &facts->graph->nodes[node];
  uint32_t n_listed = 0;
  facts->section = _("Gradients come from");
  for (uint32_t i = 0; i < known->n_in; i++) {
    const td_graph_edge *edge = &facts->graph->edges[facts->graph->in_edges[known->first_in + i]];
    if (!is_current(facts, edge->from) || n_listed == MAX_EDGES_LISTED) continue;
    g_autofree char *title = g_strdup_printf(_("into input %u"), edge->input_nr);
    add_link(facts, title, edge_text(facts, edge->from), edge->from);
    n_listed++;
  }
  add_rest(facts, known->n_in - n_listed);
}

static void
add_edges_out(Facts *facts, uint32_t node) {
  const td_graph_node *known = &facts->graph->nodes[node];
  facts->section = _("Gradients go to");
  for (uint32_t i = 0; i < MIN(known->n_out, MAX_EDGES_LISTED); i++) {
    const td_graph_edge *edge = &facts->graph->edges[known->first_out + i];
    g_autofree char *title = g_strdup_printf(_("output %u"), edge->output_nr);
    if (edge->to < facts->graph->n_nodes)
      add_link(facts, title, edge_text(facts, edge->to), edge->to);
  }
  add_rest(facts, known->n_out - MIN(known->n_out, MAX_EDGES_LISTED));
}

GListModel *
td_facts_of_node(TdDocument *document, uint32_t node) {
  Facts facts = facts_new(document);
  if (node < facts.graph->n_nodes) {
    add_anomaly(&facts, node);
    add_now(&facts, node);
    add_inputs(&facts, node);
    add_edges_in(&facts, node);
    add_edges_out(&facts, node);
    add_identity(&facts, node);
  }
  return G_LIST_MODEL(facts.store);
}

static char *
devices_text(const td_graph *graph) {
  GString *text = g_string_new(NULL);
  for (uint32_t i = 0; i < graph->n_devices; i++)
    g_string_append_printf(text, "%s%s", i ? ", " : "", graph->devices[i].name);
  return g_string_free(text, FALSE);
}

static char *
started_text(const td_tape_info *info) {
  g_autoptr(GDateTime) start =
      g_date_time_new_from_unix_local((gint64)(info->started_ns / 1000000000u));
  return start ? g_date_time_format(start, "%x %X") : g_strdup("");
}

static void
add_recording(Facts *facts) {
  const td_tape_info *info = td_document_get_info(facts->document);
  const td_graph *graph = facts->graph;
  facts->section = _("Recording");
  if (*graph->source) add(facts, _("Script"), g_path_get_basename(graph->source));
  if (*graph->engine)
    add(facts, _("Engine"), g_strdup_printf("%s %s", graph->engine, graph->version));
  add(facts, _("Recorded"), started_text(info));
  add(facts, _("Duration"), td_format_ns(info->duration_ns));
  add_count(facts, _("Events"), info->n_events);
  add(facts, _("Size"), td_format_bytes(info->file_bytes));
}

static void
add_contents(Facts *facts) {
  const td_graph *graph = facts->graph;
  size_t n_problems;
  td_document_get_problems(facts->document, &n_problems);
  facts->section = _("What is on it");
  add_count(facts, _("Backward passes"), graph->n_graph_tasks);
  add_count(facts, _("Nodes"), graph->n_nodes);
  add_count(facts, _("Edges"), graph->n_edges);
  add_count(facts, _("Threads"), graph->n_threads);
  add_count(facts, _("Ready queues"), graph->n_queues);
  if (graph->n_devices) add(facts, _("Devices"), devices_text(graph));
  add_count(facts, _("Problems"), n_problems);
}

GListModel *
td_facts_of_tape(TdDocument *document) {
  Facts facts = facts_new(document);
  add_recording(&facts);
  add_contents(&facts);
  return G_LIST_MODEL(facts.store);
}
