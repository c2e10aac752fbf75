/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/facts/edge_list.h"

#include "ui/model/document/document_texts.h"
#include "ui/model/facts/fact.h"

#include <glib/gi18n.h>

struct _TdEdgeList {
  GObject parent_instance;
  TdDocument *document; /* (owned) */
  uint32_t node;
  TdEdgeSide side;
  guint n;
};

static GType
get_item_type(GListModel *model) {
  return TD_TYPE_FACT;
}

static guint
get_n_items(GListModel *model) {
  return TD_EDGE_LIST(model)->n;
}

char *
td_edge_list_dup_title(TdEdgeSide side, const td_catalog_edge *edge) {
  if (side == TD_EDGES_IN)
    return edge->input_nr == TD_NONE ? g_strdup(_("into an input"))
                                     : g_strdup_printf(_("into input %u"), edge->input_nr);
  return edge->output_nr == TD_NONE ? g_strdup(_("an output"))
                                    : g_strdup_printf(_("output %u"), edge->output_nr);
}

static const td_catalog_edge *
find_edge(TdEdgeList *self, guint position) {
  const td_catalog *catalog = td_document_get_catalog(self->document);
  if (!td_catalog_has_node(catalog, self->node)) return NULL;
  const td_catalog_node *known = td_catalog_node_get(catalog, self->node);
  if (position >= (self->side == TD_EDGES_IN ? known->n_in : known->n_out)) return NULL;
  uint32_t edge = self->side == TD_EDGES_IN ? catalog->in_edges[known->first_in + position]
                                            : known->first_out + position;
  return &catalog->edges[edge];
}

static gpointer
get_item(GListModel *model, guint position) {
  TdEdgeList *self = TD_EDGE_LIST(model);
  if (position >= self->n) return NULL;
  const td_catalog_edge *edge = find_edge(self, position);
  if (!edge) return td_fact_new("", "", g_strdup(""), TD_NONE, NULL);
  uint32_t other = self->side == TD_EDGES_IN ? edge->from : edge->to;
  g_autofree char *title = td_edge_list_dup_title(self->side, edge);
  return td_fact_new("", title, td_document_dup_node_words(self->document, other), other, NULL);
}

static void
list_model_init(GListModelInterface *iface) {
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(TdEdgeList, td_edge_list, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, list_model_init))

static void
td_edge_list_finalize(GObject *object) {
  g_object_unref(TD_EDGE_LIST(object)->document);
  G_OBJECT_CLASS(td_edge_list_parent_class)->finalize(object);
}

static void
td_edge_list_class_init(TdEdgeListClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_edge_list_finalize;
}

static void
td_edge_list_init(TdEdgeList *self) {
}

TdEdgeList *
td_edge_list_new(TdDocument *document, uint32_t node, TdEdgeSide side) {
  TdEdgeList *self = g_object_new(TD_TYPE_EDGE_LIST, NULL);
  const td_catalog_node *known = td_catalog_node_get(td_document_get_catalog(document), node);
  self->document = g_object_ref(document);
  self->node = node;
  self->side = side;
  self->n = side == TD_EDGES_IN ? known->n_in : known->n_out;
  return self;
}
