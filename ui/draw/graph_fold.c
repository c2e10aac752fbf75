/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/graph_fold.h"

#include "engine/base/alloc.h"
#include "engine/base/text_table.h"
#include "ui/draw/node_label.h"
#include "ui/draw/scene.h"
#include "ui/geometry/folding.h"

#include <string.h>

struct td_graph_folds {
  td_graph_scene bare;                 /* nodes and edges, without texts and layout */
  uint32_t *from, *to, *kind, *module; /* (owned, as all below) */
  td_text_table texts;                 /* paths of modules */
  const char **paths;
  td_fold_graph graph;
  td_fold_tree *tree;
};

/* The path of a node's module and its length, or NULL. */
static const char *
module_of(const td_catalog *catalog, uint32_t node, size_t *length) {
  const td_catalog_node *facts = td_catalog_node_get(catalog, node);
  const char *path = facts->module, *dot = NULL;
  if (path && *path && *path != '(') {
    *length = strlen(path);
    return path;
  }
  if (!path && facts->label && td_node_is_leaf(catalog, node)) dot = strrchr(facts->label, '.');
  if (!dot || dot == facts->label) return NULL;
  *length = (size_t)(dot - facts->label);
  return facts->label;
}

static void
find_modules(td_graph_folds *self) {
  const td_graph_scene *bare = &self->bare;
  for (uint32_t i = 0; i < bare->n_nodes; i++) {
    size_t length;
    const char *path = module_of(bare->catalog, bare->nodes[i].node, &length);
    if (path) self->module[i] = td_text_table_put(&self->texts, path, length);
  }
  self->graph.n_paths = self->texts.n;
}

/* A parameter without a name is where its users are, if these are in one module. */
static void
place_leaves(td_graph_folds *self) {
  const td_graph_scene *bare = &self->bare;
  uint32_t *of_users = TD_NEW_N(uint32_t, bare->n_nodes);
  for (uint32_t e = 0; e < bare->n_edges; e++) {
    uint32_t to = bare->edges[e].to, module = self->module[bare->edges[e].from];
    of_users[to] = of_users[to] && of_users[to] != module + 1 ? 1 : module + 1;
  }
  for (uint32_t i = 0; i < bare->n_nodes; i++)
    if (!self->module[i] && of_users[i] && td_node_is_leaf(bare->catalog, bare->nodes[i].node))
      self->module[i] = of_users[i] - 1;
  free(of_users);
}

static void
find_kinds(td_graph_folds *self) {
  const td_graph_scene *bare = &self->bare;
  td_text_table kinds = {0};
  for (uint32_t i = 0; i < bare->n_nodes; i++) {
    const char *name = td_catalog_node_get(bare->catalog, bare->nodes[i].node)->name;
    self->kind[i] = td_text_table_put(&kinds, name, strlen(name));
  }
  td_text_table_fini(&kinds);
}

static void
find_ends(td_graph_folds *self) {
  for (uint32_t e = 0; e < self->bare.n_edges; e++) {
    self->from[e] = self->bare.edges[e].from;
    self->to[e] = self->bare.edges[e].to;
  }
}

td_graph_folds *
td_graph_folds_new(const td_catalog *catalog, uint32_t graph_task) {
  td_graph_folds *self = TD_NEW(td_graph_folds);
  td_graph_scene_init(&self->bare, catalog, graph_task);
  td_scene_collect(&self->bare, NULL, 0);
  uint32_t n = self->bare.n_nodes, m = self->bare.n_edges;
  self->from = TD_NEW_N(uint32_t, m);
  self->to = TD_NEW_N(uint32_t, m);
  self->kind = TD_NEW_N(uint32_t, n);
  self->module = TD_NEW_N(uint32_t, n);
  find_ends(self);
  find_kinds(self);
  find_modules(self);
  place_leaves(self);
  self->paths = TD_NEW_N(const char *, self->graph.n_paths);
  for (uint32_t i = 0; i < self->graph.n_paths; i++)
    self->paths[i] = td_text_table_get(&self->texts, i + 1);
  self->graph = (td_fold_graph){n,        m,          self->graph.n_paths, self->from,
                                self->to, self->kind, self->module,        self->paths};
  self->tree = td_fold_tree_new(&self->graph);
  return self;
}

void
td_graph_folds_free(td_graph_folds *self) {
  if (!self) return;
  void *owned[] = {self->from, self->to, self->kind, self->module, self->paths};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
  td_fold_tree_free(self->tree);
  td_text_table_fini(&self->texts);
  td_graph_scene_fini(&self->bare);
  free(self);
}

const td_fold_tree *
td_graph_folds_tree(const td_graph_folds *self) {
  return self->tree;
}

uint32_t
td_graph_folds_n_nodes(const td_graph_folds *self) {
  return self->bare.n_nodes;
}

uint32_t
td_graph_folds_group(const td_graph_folds *self, uint32_t node) {
  uint32_t found = td_scene_find(&self->bare, node);
  return found == TD_NONE ? 0 : self->tree->group_of[found];
}

/* "h.0–15 × 16", "cell · 3 of 60". */
static char *
block_name(const td_fold_group *group, const td_fold_item *item) {
  if (item->n_parts > 1) return td_format("%s · %u of %u", group->path, item->part, item->n_parts);
  return group->n_blocks > 1 ? td_format("%s × %u", group->path, group->n_blocks)
                             : td_dup_string(group->path);
}

static void
add_block(td_graph_scene *scene, const td_graph_folds *folds, const td_fold_item *item,
          uint32_t *capacity) {
  const td_fold_group *group = &folds->tree->groups[item->group];
  TD_GROW(scene->blocks, scene->n_blocks, *capacity);
  char *path = td_dup_string(group->path);
  scene->blocks[scene->n_blocks++] = (td_scene_block){
      .first_member = item->first_member,
      .n_members = item->n_members,
      .group = item->group,
      .n_modules = group->n_blocks,
      .path = td_text_blocks_take(&scene->texts, path),
      .name = td_text_blocks_take(&scene->texts, block_name(group, item)),
  };
}

static void
take_items(td_graph_scene *scene, const td_graph_folds *folds, const td_folding *folding) {
  uint32_t capacity = 0;
  scene->n_nodes = folding->n_items;
  scene->nodes = TD_NEW_N(td_scene_node, folding->n_items);
  for (uint32_t i = 0; i < folding->n_items; i++) {
    const td_fold_item *item = &folding->items[i];
    scene->nodes[i].node = scene->members[item->first_member];
    if (item->group) add_block(scene, folds, item, &capacity);
    scene->nodes[i].block = item->group ? scene->n_blocks : 0;
    for (uint32_t k = 0; k < item->n_members; k++) {
      uint32_t node = scene->members[item->first_member + k];
      scene->numbers[td_catalog_node_row(scene->catalog, node)] = i + 1;
    }
  }
}

static void
take_edges(td_graph_scene *scene, const td_graph_folds *folds, const td_folding *folding) {
  scene->n_edges = folding->n_edges;
  scene->edges = TD_NEW_N(td_scene_edge, folding->n_edges);
  for (uint32_t e = 0; e < folding->n_edges; e++)
    scene->edges[e] = (td_scene_edge){.edge = folds->bare.edges[folding->edge[e]].edge,
                                      .from = folding->from[e],
                                      .to = folding->to[e]};
}

td_graph_scene *
td_graph_scene_new_folded(const td_graph_folds *folds, const uint8_t *open) {
  const td_graph_scene *bare = &folds->bare;
  td_graph_scene *scene = TD_NEW(td_graph_scene);
  td_folding *folding = td_folding_new(&folds->graph, folds->tree, open);
  td_graph_scene_init(scene, bare->catalog, bare->graph_task);
  scene->members = TD_NEW_N(uint32_t, bare->n_nodes);
  for (uint32_t i = 0; i < bare->n_nodes; i++)
    scene->members[i] = bare->nodes[folding->members[i]].node;
  take_items(scene, folds, folding);
  take_edges(scene, folds, folding);
  td_folding_free(folding);
  td_scene_finish(scene);
  return scene;
}

uint32_t
td_graph_scene_n_blocks(const td_graph_scene *scene) {
  return scene->n_blocks;
}

uint32_t
td_graph_scene_block(const td_graph_scene *scene, uint32_t node) {
  uint32_t found = td_scene_find(scene, node);
  const td_scene_block *block = found == TD_NONE ? NULL : td_scene_block_of(scene, found);
  return block ? block->group : 0;
}
