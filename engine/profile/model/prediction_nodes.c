/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The nodes of a prediction, as the catalog has them. */
#include "engine/profile/model/prediction_tape.h"

enum { IS_DECLARED = 1, HAS_EDGES };

static uint32_t
intern(td_prediction_tape *self, uint64_t ns, const char *text) {
  return text ? td_maker_intern(self->maker, 0, td_prediction_tape_at(self, 0, ns), text) : 0;
}

static void
tell_texts(td_prediction_tape *self, const td_catalog_node *node, uint64_t ns) {
  if (node->label)
    TD_PREDICT(self, 0, ns, node_label, .node = node->id, .label = intern(self, ns, node->label));
  if (node->module)
    TD_PREDICT(self, 0, ns, node_module, .node = node->id, .module = intern(self, ns, node->module),
               .module_class = intern(self, ns, node->module_class));
}

static void
tell_metadata(td_prediction_tape *self, const td_catalog *catalog, const td_catalog_node *node,
              uint64_t ns) {
  for (uint32_t i = 0; i < node->n_metadata; i++) {
    const td_catalog_metadata *one = &catalog->metadata[node->first_metadata + i];
    TD_PREDICT(self, 0, ns, input_metadata, .node = node->id, .input_nr = one->input_nr,
               .shape = intern(self, ns, one->shape), .dtype = intern(self, ns, one->dtype),
               .device = one->device, .bytes = one->bytes);
  }
}

static void
declare_node(td_prediction_tape *self, const td_catalog *catalog, uint32_t id, uint64_t ns) {
  const td_catalog_node *node = td_catalog_node_find(catalog, id);
  uint64_t *is_known = td_number_map_put(&self->nodes, id);
  if (!node || *is_known) return;
  *is_known = IS_DECLARED;
  TD_PREDICT(self, 0, ns, node_new, .node = id, .name = intern(self, ns, node->name),
             .sequence_nr = node->sequence_nr, .topological_nr = node->topological_nr,
             .device = node->device, .stream = node->stream, .n_inputs = node->n_inputs,
             .n_outputs = node->n_outputs, .stack = intern(self, ns, node->stack));
  tell_texts(self, node, ns);
  tell_metadata(self, catalog, node, ns);
}

/* A node and what its edges lead to, so that it looks as on the recorded tape. */
static void
declare_task(td_prediction_tape *self, const td_catalog *catalog, uint32_t id, uint64_t ns) {
  const td_catalog_node *node = td_catalog_node_find(catalog, id);
  declare_node(self, catalog, id, ns);
  uint64_t *known = td_number_map_find(&self->nodes, id);
  if (!node || !known || *known == HAS_EDGES) return;
  *known = HAS_EDGES;
  for (uint32_t i = 0; i < node->n_out; i++) {
    const td_catalog_edge *edge = &catalog->edges[node->first_out + i];
    declare_node(self, catalog, edge->to, ns);
    TD_PREDICT(self, 0, ns, edge_new, .from = id, .output_nr = edge->output_nr, .to = edge->to,
               .input_nr = edge->input_nr);
  }
}

void
td_prediction_tape_declare(td_prediction_tape *self, const td_pass_model *model,
                           const td_catalog *catalog, uint64_t ns) {
  for (uint32_t i = 0; i < model->n_tasks; i++)
    declare_task(self, catalog, model->tasks[i].node, ns);
}
