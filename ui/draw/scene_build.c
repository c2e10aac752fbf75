/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Builds a scene in steps: its nodes and edges, the texts and sizes of cards, the layout. */
#include "engine/base/alloc.h"
#include "ui/draw/node_label.h"
#include "ui/draw/scene.h"
#include "ui/geometry/format.h"
#include "ui/geometry/layered.h"

#include <inttypes.h>
#include <string.h>

enum { CARD_HEIGHT = 46, PORT_HEIGHT = 20, LEAST_CARD = 92 };
enum { MOST_WITHOUT_PASS = 200000 };
enum { MOST_OF_PATH = 26 }; /* bytes */
enum { MOST_OF_CARD = 290 };
enum { BLOCK_HEIGHT = 74, LEAST_BLOCK = 170, MOST_OF_BLOCK = 420, BESIDE_FACTS = 100 };
static const float BLOCK_LETTERS = 15.0f / 13; /* their size, by that of a card's name */

/* Widths of letters, so that a hundred thousand names are measured by adding. */
typedef struct letters {
  float bold[128], plain[128];
} letters;

static float
width_of(const float *letter_widths, const char *text) {
  float width = 0;
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < 128)
      width += letter_widths[c];
    else if (c >= 0xc0)
      width += letter_widths['m'];
  }
  return width;
}

/* Hooks that this pass calls on a node; on a picture of no pass, all that were ever called. */
static uint32_t
count_hooks(const td_graph_scene *scene, uint32_t node) {
  const td_catalog *catalog = scene->catalog;
  uint32_t n, n_here = 0;
  const td_catalog_mention *calls = td_catalog_mentions_of(catalog, TD_LIST_hooks, node, &n);
  const td_catalog_graph_task *task = td_catalog_graph_task_find(catalog, scene->graph_task);
  if (!task) return n;
  for (uint32_t i = 0; i < n; i++)
    n_here += calls[i].seq >= task->begin_seq && calls[i].seq <= task->end_seq;
  return n_here;
}

/* " · 2 hooks": hooks are a part of their node, and take time in it. */
static char *
with_hooks(const td_graph_scene *scene, uint32_t node, char *text) {
  uint32_t n = count_hooks(scene, node);
  if (n == 0) return text;
  char *hooks = td_format_many(n, "hook", "hooks"), *longer = td_format("%s · %s", text, hooks);
  free(hooks);
  free(text);
  return longer;
}

/* Takes both texts. */
static void
keep_texts(td_graph_scene *scene, td_scene_node *self, char *name, char *number) {
  self->name = td_text_blocks_take(&scene->texts, name);
  self->number = td_text_blocks_take(&scene->texts, number);
}

static void
describe_port(td_graph_scene *scene, td_scene_node *self, const letters *widths) {
  char *title = td_node_title_within(scene->catalog, self->node, MOST_OF_PATH);
  keep_texts(scene, self, with_hooks(scene, self->node, title), td_dup_string(""));
  self->height = PORT_HEIGHT;
  self->width = TD_MIN(width_of(widths->plain, self->name) + 32, 220);
}

/* With its module, a card has the node's number behind its name: "Addmm #12". */
static void
describe_texts(td_graph_scene *scene, td_scene_node *self) {
  char *name = td_node_title(scene->catalog, self->node);
  char *module = td_node_module_within(scene->catalog, self->node, MOST_OF_PATH);
  char *number = td_format("#%" PRIu32, self->node);
  if (module) {
    char *longer = td_format("%s %s", name, number);
    free(name);
    free(number);
    name = longer;
    number = module;
  }
  keep_texts(scene, self, name, with_hooks(scene, self->node, number));
}

/* Of a card's width. On the right of the number is room for "2/3". */
enum { BESIDE_NAME = 50, BESIDE_NUMBER = 55 };

static void
describe_card(td_graph_scene *scene, td_scene_node *self, const letters *widths) {
  describe_texts(scene, self);
  self->height = CARD_HEIGHT;
  float needed = TD_MAX(width_of(widths->bold, self->name) + BESIDE_NAME,
                        width_of(widths->plain, self->number) + BESIDE_NUMBER);
  self->width = TD_MAX(TD_MIN(needed, MOST_OF_CARD), LEAST_CARD);
}

/* The class of a block's module, if the tape tells it of a member. */
static const char *
block_class(const td_graph_scene *scene, const td_scene_block *block) {
  for (uint32_t i = 0; i < block->n_members && block->n_modules == 1; i++) {
    uint32_t node = scene->members[block->first_member + i];
    const td_catalog_node *facts = td_catalog_node_get(scene->catalog, node);
    if (facts->module && facts->module_class && !strcmp(facts->module, block->path))
      return facts->module_class;
  }
  return NULL;
}

/* "Block · 56 nodes". */
static char *
block_facts(const td_graph_scene *scene, const td_scene_block *block) {
  const char *class = block_class(scene, block);
  char *n = td_format_many(block->n_members, "node", "nodes");
  if (!class || !*class) return n;
  char *text = td_format("%s · %s", class, n);
  free(n);
  return text;
}

static void
describe_block(td_graph_scene *scene, td_scene_node *self, const letters *widths) {
  const td_scene_block *block = &scene->blocks[self->block - 1];
  keep_texts(scene, self, td_dup_string(block->name), block_facts(scene, block));
  float needed = TD_MAX(width_of(widths->bold, self->name) * BLOCK_LETTERS + BESIDE_NAME,
                        width_of(widths->plain, self->number) + BESIDE_FACTS);
  self->height = BLOCK_HEIGHT;
  self->width = TD_MAX(TD_MIN(needed, MOST_OF_BLOCK), LEAST_BLOCK);
}

static void
describe_node(td_graph_scene *scene, uint32_t i, const letters *widths) {
  td_scene_node *self = &scene->nodes[i];
  if (self->block) {
    describe_block(scene, self, widths);
    return;
  }
  self->port = td_node_is_leaf(scene->catalog, self->node);
  (self->port ? describe_port : describe_card)(scene, self, widths);
}

/* Breadth first from the root, and what ran besides: where the root or edges are not known, that
 * is all there is. Where nothing is known of a pass, every node of the tape, within reason. */
static void
collect_nodes(td_graph_scene *scene) {
  const td_catalog *catalog = scene->catalog;
  uint32_t capacity = 0;
  const td_catalog_graph_task *task = td_catalog_graph_task_find(catalog, scene->graph_task);
  if (task) td_scene_add(scene, task->root, &capacity);
  for (uint32_t i = 0; task && i < task->n_ran; i++)
    td_scene_add(scene, catalog->ran[task->first_ran + i], &capacity);
  uint32_t n_all = scene->n_nodes == 0 ? TD_MIN(catalog->n_nodes, MOST_WITHOUT_PASS) : 0;
  for (uint32_t i = 0; i < n_all; i++)
    td_scene_add(scene, catalog->node_rows[i].id, &capacity);
  for (uint32_t at = 0; at < scene->n_nodes; at++) {
    const td_catalog_node *node = td_catalog_node_get(catalog, scene->nodes[at].node);
    for (uint32_t k = 0; k < node->n_out; k++)
      td_scene_add(scene, catalog->edges[node->first_out + k].to, &capacity);
  }
}

static void
take_nodes(td_graph_scene *scene, const uint32_t *nodes, uint32_t n) {
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < n; i++)
    td_scene_add(scene, nodes[i], &capacity);
}

/* Between nodes of the scene. */
static void
collect_edges(td_graph_scene *scene) {
  const td_catalog *catalog = scene->catalog;
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < scene->n_nodes; i++) {
    const td_catalog_node *node = td_catalog_node_get(catalog, scene->nodes[i].node);
    for (uint32_t k = 0; k < node->n_out; k++) {
      uint32_t to = td_scene_find(scene, catalog->edges[node->first_out + k].to);
      if (to == TD_NONE) continue;
      TD_GROW(scene->edges, scene->n_edges, capacity);
      scene->edges[scene->n_edges++] =
          (td_scene_edge){.edge = node->first_out + k, .from = i, .to = to};
    }
  }
}

/* Where an input slot lies on the top edge of its card, from the middle. */
static float
slot_x(const td_graph_scene *scene, const td_scene_edge *edge) {
  const td_scene_node *to = &scene->nodes[edge->to];
  uint32_t n = TD_MAX(td_catalog_node_get(scene->catalog, to->node)->n_inputs, 1u);
  uint32_t slot = TD_MIN(scene->catalog->edges[edge->edge].input_nr, n - 1);
  return to->port || to->block
             ? 0
             : ((float)slot + 0.5f - (float)n / 2) * TD_MIN(44, to->width * 0.8f / (float)n);
}

void
td_scene_set_edge_boxes(td_graph_scene *scene) {
  const td_layout *layout = scene->layout;
  for (uint32_t i = 0; i < scene->n_edges; i++) {
    td_scene_edge *edge = &scene->edges[i];
    edge->left = edge->top = 1e30f;
    edge->right = edge->bottom = -1e30f;
    for (uint32_t k = layout->first_point[i]; k < layout->first_point[i + 1]; k++) {
      edge->left = TD_MIN(edge->left, layout->points[k].x);
      edge->right = TD_MAX(edge->right, layout->points[k].x);
      edge->top = TD_MIN(edge->top, layout->points[k].y);
      edge->bottom = TD_MAX(edge->bottom, layout->points[k].y);
    }
  }
}

static void
lay_out(td_graph_scene *scene) {
  uint32_t n = scene->n_nodes, m = scene->n_edges;
  uint32_t *from = TD_NEW_N(uint32_t, m), *to = TD_NEW_N(uint32_t, m);
  float *to_x = TD_NEW_N(float, m), *width = TD_NEW_N(float, n), *height = TD_NEW_N(float, n);
  uint8_t *port = TD_NEW_N(uint8_t, n);
  for (uint32_t i = 0; i < m; i++) {
    from[i] = scene->edges[i].from;
    to[i] = scene->edges[i].to;
    to_x[i] = slot_x(scene, &scene->edges[i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    width[i] = scene->nodes[i].width;
    height[i] = scene->nodes[i].height;
    port[i] = scene->nodes[i].port;
  }
  td_layout_graph input = {n, m, from, to, width, height, port, to_x};
  scene->layout = td_layout_new(&input, &td_layout_defaults);
  void *owned[] = {from, to, to_x, width, height, port};
  for (size_t i = 0; i < TD_N_ELEMENTS(owned); i++)
    free(owned[i]);
}

void
td_scene_collect(td_graph_scene *scene, const uint32_t *nodes, uint32_t n) {
  if (nodes)
    take_nodes(scene, nodes, n);
  else
    collect_nodes(scene);
  collect_edges(scene);
}

void
td_scene_finish(td_graph_scene *scene) {
  letters widths;
  td_label_letters(td_theme_default(false), 13, true, widths.bold);
  td_label_letters(td_theme_default(false), 11, false, widths.plain);
  for (uint32_t i = 0; i < scene->n_nodes; i++)
    describe_node(scene, i, &widths);
  td_scene_find_layers(scene);
  lay_out(scene);
  td_scene_set_edge_boxes(scene);
}
