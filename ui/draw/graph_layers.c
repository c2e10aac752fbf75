/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The names of layers, over a picture whose cards are too small for the names of modules. A layer
 * is the part of a path up to its first number: of "transformer.h.3.attn" it is "transformer.h.3".
 */
#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "ui/draw/scene.h"

#include <ctype.h>
#include <string.h>

enum { MOST_LAYERS = 512, SIZE = 11, GAP = 6 };

/* The length of the layer in a path. */
static size_t
layer_length(const char *path) {
  for (const char *name = path;; name++) {
    size_t length = strcspn(name, ".");
    if (isdigit((unsigned char)*name) || !name[length]) return (size_t)(name - path) + length;
    name += length;
  }
}

static bool
has_layer(const td_graph_scene *scene, const char *path, size_t length) {
  for (uint32_t i = 0; i < scene->n_layers; i++)
    if (strncmp(scene->layers[i].path, path, length) == 0 && !scene->layers[i].path[length])
      return true;
  return false;
}

static void
add_layer(td_graph_scene *scene, uint32_t i, const char *path, uint32_t *capacity) {
  size_t length = layer_length(path);
  if (has_layer(scene, path, length)) return;
  TD_GROW(scene->layers, scene->n_layers, *capacity);
  scene->layers[scene->n_layers++] =
      (td_scene_layer){.path = td_format("%.*s", (int)length, path), .first = i};
}

/* "h.3" of "transformer.h.3", "lm_head" of itself. */
static const char *
short_name(const char *path) {
  const char *last = strrchr(path, '.');
  if (!last || !isdigit((unsigned char)last[1])) return last ? last + 1 : path;
  while (last > path && last[-1] != '.')
    last--;
  return last;
}

/* Where an encoder and a decoder have a "layers.0" each, both keep their path. */
static void
name_layers(td_graph_scene *scene) {
  for (uint32_t i = 0; i < scene->n_layers; i++) {
    td_scene_layer *self = &scene->layers[i];
    self->name = short_name(self->path);
    for (uint32_t k = 0; k < scene->n_layers; k++)
      if (k != i && !strcmp(short_name(scene->layers[k].path), short_name(self->path)))
        self->name = self->path;
  }
}

/* The nodes of a scene stand in the order in which they ran, so that a layer's first one is where
 * gradients enter the layer. Paths of a tape are interned: most nodes need one look. */
static void
find_layers(td_graph_scene *scene) {
  td_number_map seen = {0};
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < scene->n_nodes && scene->n_layers < MOST_LAYERS; i++) {
    const char *path = td_catalog_node_get(scene->catalog, scene->nodes[i].node)->module;
    if (!path || !*path || *path == '(') continue;
    uint64_t *known = td_number_map_put(&seen, (uint64_t)(uintptr_t)path);
    if (!*known) add_layer(scene, i, path, &capacity);
    *known = 1;
  }
  td_number_map_fini(&seen);
  name_layers(scene);
}

/* A folded scene names its blocks. */
static void
name_blocks(td_graph_scene *scene) {
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < scene->n_nodes && scene->n_layers < MOST_LAYERS; i++) {
    const td_scene_block *block = td_scene_block_of(scene, i);
    if (!block) continue;
    TD_GROW(scene->layers, scene->n_layers, capacity);
    td_scene_layer *layer = &scene->layers[scene->n_layers++];
    *layer = (td_scene_layer){.path = td_dup_string(block->name), .first = i};
    layer->name = layer->path;
  }
}

void
td_scene_find_layers(td_graph_scene *scene) {
  if (scene->n_blocks)
    name_blocks(scene);
  else
    find_layers(scene);
}

/* The name stands left of the layer's first node, or on the block. */
static td_box
label_box(const td_scene_draw *draw, const td_scene_layer *layer) {
  const td_graph_view *view = draw->view;
  td_box node = td_scene_box(draw->scene, layer->first);
  double width, height;
  td_label_size(draw->labels, layer->name, SIZE, true, &width, &height);
  double right = (node.x - view->centre_x) * view->scale + view->width / 2 - GAP;
  double middle = (node.y + node.height / 2 - view->centre_y) * view->scale + view->height / 2;
  if (td_scene_block_of(draw->scene, layer->first))
    right += node.width * view->scale / 2 + width / 2 + GAP;
  return (td_box){right - width - 4, middle - height / 2, width + 8, height};
}

static bool
overlaps(td_box a, td_box b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

static bool
has_room(const td_scene_draw *draw, td_box box, const td_box *taken, uint32_t n) {
  if (!overlaps(box, (td_box){0, 0, draw->view->width, td_scene_legend_top(draw->view)}))
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (overlaps(box, taken[i])) return false;
  return true;
}

static void
draw_layer(const td_scene_draw *draw, const td_scene_layer *layer, td_box box) {
  td_shape_rounded(draw->cr, box, 4);
  td_theme_source(draw->cr, td_colour_fade(draw->theme->background, 0.85));
  cairo_fill(draw->cr);
  td_label_draw(draw->labels, draw->cr, layer->name, SIZE, box.x + 4, box.y, 0,
                draw->theme->foreground, true);
}

static bool
has_number(const td_scene_layer *layer) {
  const char *last = strrchr(layer->path, '.');
  return isdigit((unsigned char)*(last ? last + 1 : layer->path));
}

/* Numbered layers go before others where there is no room for both. */
void
td_scene_draw_layers(const td_scene_draw *draw) {
  td_box taken[MOST_LAYERS];
  uint32_t n = 0;
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < draw->scene->n_layers; i++) {
      const td_scene_layer *layer = &draw->scene->layers[i];
      td_box box = label_box(draw, layer);
      if (has_number(layer) != (round == 0) || !has_room(draw, box, taken, n)) continue;
      taken[n++] = box;
      draw_layer(draw, layer, box);
    }
}
