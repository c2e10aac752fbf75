/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/node_label.h"

#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/translate.h"
#include "ui/geometry/format.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 16, FITS_NOWHERE = 2000 /* bytes */ };

/* Traces of PyTorch's profiler have names as C++ has them: "torch::autograd::AccumulateGrad". */
static const char *
skip_prefix(const char *text, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(text, prefix, length) == 0 ? text + length : text;
}

static const char *
op_of(const td_catalog *catalog, uint32_t node) {
  return skip_prefix(td_catalog_node_get(catalog, node)->name, "torch::autograd::");
}

bool
td_node_is_leaf(const td_catalog *catalog, uint32_t node) {
  return !strcmp(op_of(catalog, node), "AccumulateGrad");
}

/* "[3, 4]" is "3×4", "[]" is "scalar". */
static char *
shape_text(const char *shape) {
  size_t n = 0;
  char *text = td_alloc(strlen(shape) + 1, 2);
  for (; *shape; shape++) {
    if (*shape == ',') n += (size_t)sprintf(text + n, "×");
    if (!strchr("[], ", *shape)) text[n++] = *shape;
  }
  if (n) return text;
  free(text);
  return td_dup_string(td_translate("scalar"));
}

char *
td_node_shape(const td_catalog *catalog, uint32_t node) {
  const td_catalog_metadata *known =
      td_catalog_metadata_find(catalog, td_catalog_node_get(catalog, node), 0);
  if (!known || !td_node_is_leaf(catalog, node)) return NULL;
  char *shape = shape_text(known->shape);
  char *text = td_format("%s %s", shape, skip_prefix(known->dtype, "torch."));
  free(shape);
  return td_line_make(text, TD_NAME_SHOWN);
}

static char *
leaf_title(const td_catalog *catalog, uint32_t node) {
  const char *label = td_catalog_node_get(catalog, node)->label;
  char *shape = label ? NULL : td_node_shape(catalog, node);
  if (!shape)
    return label ? td_line_dup(label, TD_NAME_SHOWN) : td_format(td_translate("leaf %u"), node);
  char *title = td_format(td_translate("leaf %u (%s)"), node, shape);
  free(shape);
  return title;
}

char *
td_node_title(const td_catalog *catalog, uint32_t node) {
  if (td_node_is_leaf(catalog, node)) return leaf_title(catalog, node);
  const char *op = op_of(catalog, node);
  if (!*op) return td_format(td_translate("node %u"), node);
  char *shown = td_line_dup(op, TD_NAME_SHOWN), *title = td_format_op(shown);
  free(shown);
  return title;
}

static const char *
name_of(const char *path, uint32_t i) {
  while (i-- > 0)
    path = strchr(path, '.') + 1;
  return path;
}

static uint32_t
count_names(const char *path) {
  uint32_t n = 1;
  while ((path = strchr(path, '.'))) {
    path++;
    n++;
  }
  return n;
}

/* The last number before name `end`, or `end`. */
static uint32_t
find_number(const char *path, uint32_t end) {
  for (uint32_t i = end; i-- > 0;)
    if (isdigit((unsigned char)*name_of(path, i))) return i;
  return end;
}

/* What of a long path is worth showing: its last names. The path may be a stranger's. */
static const char *
last_names(const char *path) {
  const char *end = path + strlen(path), *from = end;
  for (uint32_t n = 0; from > path && n <= MOST_NAMES && end - from < TD_NAME_SHOWN;)
    if (*--from == '.') n++;
  if (from == path) return path;
  const char *dot = strchr(from, '.');
  return dot ? dot + 1 : strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
}

char *
td_path_short(const char *path, uint32_t n_kept, uint32_t step) {
  if (step == 0) return td_dup_string(path);
  path = last_names(path);
  uint32_t n = count_names(path), last = n - TD_MIN(n, n_kept), number = find_number(path, last);
  if (step <= number) return td_format("…%s", name_of(path, step));
  uint32_t from = TD_MAX(last, number + 2) + step - number - 1;
  if (number == last || from >= n) return NULL;
  const char *layer = name_of(path, number);
  return td_format("%.*s…%s", (int)strcspn(layer, "."), layer, name_of(path, from));
}

/* A room is counted in pixels, or without labels in bytes. */
typedef struct room {
  td_label_cache *labels; /* (borrowed) or NULL */
  double size, width;
  bool bold;
} room;

static bool
fits(const room *room, const char *text) {
  double width = (double)strlen(text);
  if (width > FITS_NOWHERE) return false;
  if (room->labels) td_label_size(room->labels, text, room->size, room->bold, &width, NULL);
  return width <= room->width;
}

/* Returns the first step of a path that fits behind a prefix, with the prefix. NULL if none fits.
 */
static char *
fit_path(const room *room, const char *prefix, const char *path, uint32_t n_kept) {
  char *part;
  for (uint32_t step = 0; (part = td_path_short(path, n_kept, step)); step++) {
    char *text = td_format("%s%s", prefix, part);
    free(part);
    if (fits(room, text)) return text;
    free(text);
  }
  return NULL;
}

enum { OF_MODULE = 1, OF_LEAF = 2 /* "linear1.weight" */ };

/* A module without a name has only its class, in parentheses. */
static const char *
path_of(const td_catalog *catalog, uint32_t node) {
  const char *path = td_catalog_node_get(catalog, node)->module;
  return path && *path && *path != '(' ? path : NULL;
}

static char *
shortest_path(const char *path, uint32_t n_kept) {
  char *text = td_dup_string(path), *next;
  for (uint32_t step = 1; (next = td_path_short(path, n_kept, step)); step++) {
    free(text);
    text = next;
  }
  return td_line_make(text, TD_NAME_SHOWN);
}

static char *
take_if_fits(const room *room, char *text) {
  if (text && fits(room, text)) return text;
  free(text);
  return NULL;
}

/* Of a leaf without a name, the shape goes first. */
static char *
fit_title(const room *room, const td_catalog *catalog, uint32_t node) {
  const char *label = td_catalog_node_get(catalog, node)->label;
  bool is_leaf = td_node_is_leaf(catalog, node);
  char *text = is_leaf && label ? fit_path(room, "", label, OF_LEAF)
                                : take_if_fits(room, td_node_title(catalog, node));
  if (text) return text;
  if (!is_leaf) return td_node_title(catalog, node);
  return label ? shortest_path(label, OF_LEAF) : td_format(td_translate("leaf %u"), node);
}

char *
td_node_title_within(const td_catalog *catalog, uint32_t node, size_t most) {
  return td_catalog_node_get(catalog, node)->label
             ? fit_title(&(room){.width = (double)most}, catalog, node)
             : td_node_title(catalog, node);
}

char *
td_node_title_fit(td_label_cache *labels, const td_catalog *catalog, uint32_t node, double size,
                  bool bold, double width) {
  return fit_title(&(room){labels, size, width, bold}, catalog, node);
}

char *
td_node_module_within(const td_catalog *catalog, uint32_t node, size_t most) {
  const td_catalog_node *facts = td_catalog_node_get(catalog, node);
  const char *path = path_of(catalog, node);
  bool has_class = facts->module_class && *facts->module_class;
  if (!path) return td_catalog_module_label(catalog, node);
  char *name = fit_path(&(room){.width = (double)most}, "", path, OF_MODULE);
  if (!name) name = shortest_path(path, OF_MODULE);
  if (!has_class) return name;
  char *text = td_format("%s · %s", facts->module_class, name);
  free(name);
  return td_line_make(text, 2 * TD_NAME_SHOWN);
}

char *
td_node_module_fit(td_label_cache *labels, const td_catalog *catalog, uint32_t node, double size,
                   double width) {
  room room = {labels, size, width, false};
  const char *path = path_of(catalog, node);
  char *whole = td_catalog_module_label(catalog, node);
  if (!whole || !path || fits(&room, whole)) return whole;
  free(whole);
  char *text = fit_path(&room, "", path, OF_MODULE);
  return text ? text : shortest_path(path, OF_MODULE);
}

/* "Addmm · Linear · layers.0.linear1", or as much of it as there is room for. NULL if there is no
 * room for the layer. */
static char *
fit_both(const room *room, const td_catalog *catalog, uint32_t node, const char *title) {
  const char *path = path_of(catalog, node);
  char *module = td_catalog_module_label(catalog, node), *prefix = td_format("%s · ", title);
  char *text = module ? take_if_fits(room, td_format("%s%s", prefix, module)) : NULL;
  if (!text && path) text = fit_path(room, prefix, path, OF_MODULE);
  if (!text && path) text = fit_path(room, "", path, OF_MODULE);
  free(prefix);
  free(module);
  return text;
}

char *
td_node_label_fit(td_label_cache *labels, const td_catalog *catalog, uint32_t node, double size,
                  double width) {
  room room = {labels, size, width, false};
  char *title = fit_title(&room, catalog, node);
  if (td_node_is_leaf(catalog, node)) return title;
  char *text = fit_both(&room, catalog, node, title);
  if (!text) return title;
  free(title);
  return text;
}
