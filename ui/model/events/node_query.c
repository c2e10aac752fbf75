/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/events/node_query.h"

#include "ui/model/facts/node_state_text.h"
#include "ui/model/facts/node_words.h"

struct TdNodeQuery {
  TdDocument *document;                /* (borrowed) */
  TdNodeWords *words;                  /* (owned) */
  uint32_t in_state[TD_N_NODE_STATES]; /* which words its text has, as bits */
};

TdNodeQuery *
td_node_query_new(TdDocument *document, const char *typed) {
  TdNodeQuery *self = g_new0(TdNodeQuery, 1);
  self->document = document;
  self->words = td_node_words_new(typed);
  for (guint state = 0; state < TD_N_NODE_STATES; state++)
    self->in_state[state] = td_node_words_in(self->words, td_node_state_text((td_node_state)state));
  return self;
}

void
td_node_query_free(TdNodeQuery *self) {
  td_node_words_free(self->words);
  g_free(self);
}

gboolean
td_node_query_matches(TdNodeQuery *self, uint32_t node) {
  const td_catalog *catalog = td_document_get_catalog(self->document);
  uint32_t pass = td_document_pass_of(self->document, node);
  uint32_t state = td_state_pair(td_document_get_state(self->document), node, pass).state;
  return td_node_words_match(self->words, td_catalog_node_get(catalog, node),
                             self->in_state[state]);
}

uint32_t
td_node_query_run(TdNodeQuery *self, uint32_t *nodes, uint32_t room) {
  td_graph_scene *scene = td_document_get_scene(self->document);
  uint32_t n_scene = scene ? td_graph_scene_n_nodes(scene) : 0, n = 0;
  for (uint32_t i = 0; i < n_scene; i++) {
    uint32_t node = td_graph_scene_node(scene, i);
    if (!td_node_query_matches(self, node)) continue;
    if (n++ < room) nodes[n - 1] = node;
  }
  double x, y;
  const td_catalog *catalog = td_document_get_catalog(self->document);
  for (uint32_t i = 0; i < catalog->n_nodes; i++) {
    uint32_t node = catalog->node_rows[i].id;
    if (!td_node_query_matches(self, node)) continue;
    if (scene && td_graph_scene_place(scene, node, &x, &y)) continue;
    if (n++ < room) nodes[n - 1] = node;
  }
  return n;
}

char *
td_node_query_describe(TdDocument *document, uint32_t node) {
  const td_catalog *catalog = td_document_get_catalog(document);
  return td_node_words_describe(catalog, td_catalog_node_get(catalog, node),
                                td_node_state_text_now(document, node));
}
