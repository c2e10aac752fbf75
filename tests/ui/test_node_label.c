/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What pictures call nodes: a label that lacks room still tells equal layers apart. */
#include "ui/draw/node_label.h"

#include <glib.h>
#include <string.h>

enum { LAYERS = 12, SIZE = 11 };

/* An Addmm of each layer of a model, and a leaf of each. */
typedef struct Fixture {
  td_catalog_node nodes[2 * LAYERS];
  td_catalog_metadata metadata[2 * LAYERS];
  td_catalog catalog;
  char *texts[2 * LAYERS]; /* (owned) */
  td_label_cache *labels;
} Fixture;

static void
set_up(Fixture *self, gconstpointer path) {
  for (uint32_t i = 0; i < LAYERS; i++) {
    g_autofree char *layer = g_strdup_printf(path, i);
    self->texts[i] = g_strdup(layer);
    self->texts[LAYERS + i] = g_strdup_printf("%s.weight", layer);
    self->nodes[i] = (td_catalog_node){
        .name = "AddmmBackward0", .module = self->texts[i], .module_class = "Linear"};
    self->nodes[LAYERS + i] = (td_catalog_node){.name = "torch::autograd::AccumulateGrad",
                                                .label = self->texts[LAYERS + i],
                                                .first_metadata = i,
                                                .n_metadata = 1};
    self->metadata[i] = (td_catalog_metadata){LAYERS + i, 0, "[3, 4]", "torch.float32", -1, 48};
  }
  self->catalog = (td_catalog){.node_rows = self->nodes,
                               .node_ids.n_run = 2 * LAYERS,
                               .n_nodes = 2 * LAYERS,
                               .metadata = self->metadata,
                               .n_metadata = LAYERS};
  self->labels = td_label_cache_new(td_theme_default(false));
}

static void
tear_down(Fixture *self, gconstpointer path) {
  td_label_cache_free(self->labels);
  for (uint32_t i = 0; i < 2 * LAYERS; i++)
    g_free(self->texts[i]);
}

static void
check_steps(const char *path, uint32_t n_kept, const char *const *steps) {
  uint32_t i = 0;
  for (; steps[i]; i++) {
    g_autofree char *text = td_path_short(path, n_kept, i);
    g_assert_cmpstr(text, ==, steps[i]);
  }
  g_assert_null(td_path_short(path, n_kept, i));
}

static void
test_paths(void) {
  check_steps("fc", 1, (const char *const[]){"fc", NULL});
  check_steps("layers.3", 1, (const char *const[]){"layers.3", "…3", NULL});
  check_steps("0.fc", 1, (const char *const[]){"0.fc", NULL});
  check_steps("net.body.fc", 1, (const char *const[]){"net.body.fc", "…body.fc", "…fc", NULL});
  check_steps(
      "encoder.layers.0.linear1", 1,
      (const char *const[]){"encoder.layers.0.linear1", "…layers.0.linear1", "…0.linear1", NULL});
  check_steps("h.11.attn.c_attn", 1,
              (const char *const[]){"h.11.attn.c_attn", "…11.attn.c_attn", "11…c_attn", NULL});
  check_steps("h.11.attn.c_attn.weight", 2,
              (const char *const[]){"h.11.attn.c_attn.weight", "…11.attn.c_attn.weight",
                                    "11…c_attn.weight", "11…weight", NULL});
  check_steps(
      "layers.1.attn.in_weight", 2,
      (const char *const[]){"layers.1.attn.in_weight", "…1.attn.in_weight", "1…in_weight", NULL});
  check_steps("layers.0.weight", 2, (const char *const[]){"layers.0.weight", "…0.weight", NULL});
}

/* However long a path is, few steps lead to its last name. */
static void
test_long_paths(void) {
  for (gsize unit = 1; unit < 100; unit += 14) {
    g_autoptr(GString) path = g_string_new(NULL);
    while (path->len < 70000)
      g_string_append_printf(path, "%.*s.", (int)unit,
                             "é.é.0.attention_of_the_seventh_layer_of_all");
    g_string_append(path, "weight");
    uint32_t step = 0;
    char *text, *last = NULL;
    for (; (text = td_path_short(path->str, 1, step)); step++) {
      g_free(last);
      last = text;
    }
    g_assert_cmpuint(step, <, 100);
    g_assert_true(g_str_has_suffix(last, "weight"));
    g_free(last);
  }
}

static double
width_of(Fixture *self, const char *text) {
  double width;
  td_label_size(self->labels, text, SIZE, false, &width, NULL);
  return width;
}

/* At each width a label either fits, or it is the operation alone. */
static char *
fit(Fixture *self, uint32_t node, double room) {
  char *text = td_node_label_fit(self->labels, &self->catalog, node, SIZE, room);
  g_assert_true(width_of(self, text) <= room || !strcmp(text, "Addmm"));
  return text;
}

static void
test_room(Fixture *self, gconstpointer path) {
  g_autofree char *whole = g_strdup_printf("Addmm · Linear · %s", self->texts[3]);
  double most = width_of(self, whole);
  uint32_t n_with_layer = 0;
  for (double room = most; room > 10; room -= 5) {
    g_autofree char *text = fit(self, 3, room), *other = fit(self, 11, room);
    if (room == most) g_assert_cmpstr(text, ==, whole);
    if (!strcmp(text, "Addmm")) continue;
    g_assert_cmpstr(text, !=, other);
    g_assert_nonnull(strchr(text, '3'));
    n_with_layer++;
  }
  g_assert_cmpuint(n_with_layer, >, 10);
}

/* A card has the module on a line of its own. There the class goes first. */
static void
test_module(Fixture *self, gconstpointer path) {
  double all = width_of(self, self->texts[3]);
  g_autofree char *whole = td_node_module_fit(self->labels, &self->catalog, 3, SIZE, 1000);
  g_autofree char *bare = td_node_module_fit(self->labels, &self->catalog, 3, SIZE, all + 1);
  g_autofree char *least = td_node_module_fit(self->labels, &self->catalog, 3, SIZE, 0);
  g_autofree char *expected = g_strdup_printf("Linear · %s", self->texts[3]);
  g_assert_cmpstr(whole, ==, expected);
  g_assert_cmpstr(bare, ==, self->texts[3]);
  g_assert_nonnull(strchr(least, '3'));
  g_assert_null(td_node_module_fit(self->labels, &self->catalog, LAYERS, SIZE, 1000));
  self->nodes[3].module = "(Net)";
  g_autofree char *class = td_node_module_fit(self->labels, &self->catalog, 3, SIZE, 0);
  g_assert_cmpstr(class, ==, "Net");
}

static void
check_title(Fixture *self, const char *shape, const char *expected) {
  self->metadata[0].shape = shape;
  g_autofree char *title = td_node_title(&self->catalog, LAYERS);
  g_assert_cmpstr(title, ==, expected);
}

static void
test_leaves(Fixture *self, gconstpointer path) {
  check_title(self, "[3, 4]", self->texts[LAYERS]);
  g_autofree char *least = td_node_label_fit(self->labels, &self->catalog, LAYERS + 3, SIZE, 0);
  g_assert_true(g_str_has_suffix(least, "weight"));
  g_assert_nonnull(strchr(least, '3'));
  g_autofree char *shape = td_node_shape(&self->catalog, LAYERS);
  g_assert_cmpstr(shape, ==, "3×4 float32");
  g_assert_null(td_node_shape(&self->catalog, 0));
  self->nodes[LAYERS].label = NULL;
  check_title(self, "[3, 4]", "leaf 12 (3×4 float32)");
  check_title(self, "[]", "leaf 12 (scalar float32)");
  check_title(self, "[768]", "leaf 12 (768 float32)");
  g_autofree char *bare = td_node_title_fit(self->labels, &self->catalog, LAYERS, SIZE, true, 60);
  g_assert_cmpstr(bare, ==, "leaf 12");
  self->nodes[LAYERS].n_metadata = 0;
  check_title(self, "", "leaf 12");
}

static void
test_letters(Fixture *self, gconstpointer path) {
  float widths[128];
  td_label_letters(td_theme_default(false), SIZE, true, widths);
  for (int c = 32; c < 127; c++) {
    double width;
    td_label_size(self->labels, (char[]){(char)c, '\0'}, SIZE, true, &width, NULL);
    g_assert_cmpfloat_with_epsilon(widths[c], width, 0.01);
  }
}

static gpointer
measure_letters(gpointer stop) {
  float widths[128];
  for (int size = 0; !g_atomic_int_get((int *)stop); size = (size + 1) % 1000)
    td_label_letters(td_theme_default(false), 8 + size / 100.0, false, widths);
  return NULL;
}

/* Note [Metrics of fonts]. Each size is another font, whose metrics are computed once. */
static void
test_metrics(void) {
  int stop = 0;
  GThread *thread = g_thread_new("letters", measure_letters, &stop);
  PangoContext *context = pango_font_map_create_context(pango_cairo_font_map_get_default());
  for (int size = 0; size < 400; size++) {
    g_autofree char *name = g_strdup_printf("Sans %d.%02dpx", 8 + size / 100, size % 100);
    PangoFontDescription *font = pango_font_description_from_string(name);
    PangoFontMetrics *metrics = pango_context_get_metrics(context, font, NULL);
    g_assert_cmpint(pango_font_metrics_get_approximate_digit_width(metrics), >, 0);
    pango_font_metrics_unref(metrics);
    pango_font_description_free(font);
  }
  g_object_unref(context);
  g_atomic_int_set(&stop, 1);
  g_thread_join(thread);
}

#define ADD(name, path, test) g_test_add(name, Fixture, path, set_up, test, tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/node-label/paths", test_paths);
  g_test_add_func("/ui/node-label/long-paths", test_long_paths);
  ADD("/ui/node-label/room/transformer", "encoder.layers.%u.linear1", test_room);
  ADD("/ui/node-label/room/gpt", "transformer.h.%u.attn.c_attn", test_room);
  ADD("/ui/node-label/module", "encoder.layers.%u.linear1", test_module);
  ADD("/ui/node-label/leaves", "transformer.h.%u.attn.c_attn", test_leaves);
  ADD("/ui/node-label/letters", "h.%u", test_letters);
  g_test_add_func("/ui/node-label/metrics", test_metrics);
  return g_test_run();
}
