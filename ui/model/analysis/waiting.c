/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/analysis/waiting.h"

#include "ui/geometry/format.h"
#include "ui/model/analysis/analysis_tables.h"
#include "ui/model/document/document_texts.h"

#include <glib/gi18n.h>

/* The table follows each step. */
#define ROWS_MAX 200
#define NAMES_MAX 3
#define EDGES_MAX 256 /* of a leaf with many users, to find the names */

enum { NODE, COUNT, MISSING, BYTES, ARRIVED, N_COLUMNS };

static const TdColumn columns[N_COLUMNS] = {
    [NODE] = {N_("Node"), TD_UNIT_TEXT, NULL, 110},
    [COUNT] = {N_("Here"), TD_UNIT_TEXT, N_("gradients that are there, of those that it needs"),
               60},
    [MISSING] = {N_("Missing, from"), TD_UNIT_TEXT, N_("nodes that have not run yet"), 130},
    [BYTES] = {N_("Bytes"), TD_UNIT_BYTES, N_("size of the gradients that wait in its buffer")},
    [ARRIVED] = {N_("Arrived, from"), TD_UNIT_TEXT, N_("nodes that have sent their gradient"), 130},
};

/* The first names of many. */
typedef struct Names {
  TdDocument *document;
  GString *text;
  guint n;
} Names;

static Names
names_of(TdDocument *document) {
  return (Names){document, g_string_new(NULL), 0};
}

static void
add_name(Names *names, uint32_t node) {
  if (++names->n > NAMES_MAX) return;
  g_autofree char *name = node == TD_NONE ? g_strdup(_("the caller"))
                                          : td_document_dup_node_name(names->document, node);
  g_string_append_printf(names->text, "%s%s", names->text->len ? ", " : "", name);
}

static char *
end_names(Names *names, guint n) {
  guint shown = MIN(names->n, NAMES_MAX);
  g_autofree char *text = g_string_free(names->text, FALSE);
  if (n <= shown) return g_steal_pointer(&text);
  return shown ? g_strdup_printf(_("%s and %u more"), text, n - shown) : g_strdup_printf("%u", n);
}

static char *
dup_arrived(TdDocument *document, const td_task_now *task) {
  const td_state *state = td_document_get_state(document);
  Names names = names_of(document);
  for (uint32_t i = task->first_arrival; i != TD_NONE; i = td_state_arrival(state, i)->next)
    add_name(&names, td_state_arrival(state, i)->from);
  return end_names(&names, names.n);
}

/* An input holds one gradient: the sum of what has arrived. */
static double
bytes_held(TdDocument *document, const td_task_now *task) {
  const td_state *state = td_document_get_state(document);
  g_autoptr(GHashTable) by_input = g_hash_table_new(NULL, NULL);
  double sum = 0;
  for (uint32_t i = task->first_arrival; i != TD_NONE; i = td_state_arrival(state, i)->next) {
    const td_arrival_now *arrival = td_state_arrival(state, i);
    gpointer input = GUINT_TO_POINTER(arrival->input_nr);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(by_input, input));
    if (arrival->bytes <= known) continue;
    sum += arrival->bytes - known;
    g_hash_table_insert(by_input, input, GUINT_TO_POINTER(arrival->bytes));
  }
  return sum;
}

static gboolean
has_arrived(const td_state *state, const td_task_now *task, const td_catalog_edge *edge) {
  for (uint32_t i = task->first_arrival; i != TD_NONE; i = td_state_arrival(state, i)->next) {
    const td_arrival_now *arrival = td_state_arrival(state, i);
    if (arrival->from == edge->from && arrival->input_nr == edge->input_nr) return TRUE;
  }
  return FALSE;
}

/* Nodes whose gradient has not come and that still can send it. */
static gboolean
can_send(const td_state *state, uint32_t node, uint32_t graph_task) {
  return td_state_task_find(state, node, graph_task) ||
         td_state_pair(state, node, graph_task).state == TD_NODE_running;
}

static char *
dup_missing(TdDocument *document, const td_task_now *task) {
  const td_catalog *catalog = td_document_get_catalog(document);
  const td_state *state = td_document_get_state(document);
  const td_catalog_node *facts = td_catalog_node_get(catalog, task->node);
  Names names = names_of(document);
  for (uint32_t i = 0; i < MIN(facts->n_in, EDGES_MAX) && names.n < NAMES_MAX; i++) {
    const td_catalog_edge *edge = &catalog->edges[catalog->in_edges[facts->first_in + i]];
    if (has_arrived(state, task, edge) || !can_send(state, edge->from, task->graph_task)) continue;
    add_name(&names, edge->from);
  }
  return end_names(&names, task->dependencies);
}

static void
add_row(TdTable *table, TdDocument *document, const td_task_now *task) {
  TdRowPlace place = TD_NOWHERE;
  place.node = task->node;
  TdTableRow *row = td_table_add(table, place);
  g_autofree char *name = td_document_dup_node_name(document, task->node);
  g_autofree char *count = g_strdup_printf(
      _("%u of %u"), task->expected - MIN(task->dependencies, task->expected), task->expected);
  g_autofree char *arrived = dup_arrived(document, task);
  g_autofree char *missing = dup_missing(document, task);
  td_table_row_set_text(row, NODE, name);
  td_table_row_set_text(row, COUNT, count);
  td_table_row_set_text(row, MISSING, missing);
  td_table_row_set_text(row, ARRIVED, arrived);
  td_table_row_set_number(row, BYTES, bytes_held(document, task));
}

static void
tell(TdTable *table, guint n, td_knowledge known) {
  g_autofree char *count = td_format_count(n);
  td_table_set_summary(
      table, n ? g_strdup_printf(
                     ngettext("%s node has some of its gradients, and waits for the others.",
                              "%s nodes have some of their gradients, and wait for the others.", n),
                     count)
               : g_strdup(_("No node waits for the rest of its gradients at this moment.")));
  if (known == TD_knowledge_absent)
    td_table_add_note(table,
                      g_strdup(_("– The arrival of gradients was not observed on this tape.")));
  else if (known == TD_knowledge_reconstructed)
    td_table_add_note(table, g_strdup(_("Arrivals follow from other events.")));
  else
    td_table_add_note(table, g_strdup(_("Arrivals were observed.")));
  if (n > ROWS_MAX) td_table_note_left_out(table, n, "state --json");
}

TdTable *
td_waiting_table(TdDocument *document) {
  const td_state *state = td_document_get_state(document);
  const td_tape_info *info = td_document_get_info(document);
  TdTable *table = td_table_new(columns, N_COLUMNS, G_MAXUINT);
  guint n = 0;
  for (uint32_t i = state->header->first_parked; i != TD_NONE;
       i = td_state_task(state, i)->parked_next)
    if (n++ < ROWS_MAX) add_row(table, document, td_state_task(state, i));
  tell(table, n, info->known[TD_EVENT_buffer_add]);
  return table;
}
