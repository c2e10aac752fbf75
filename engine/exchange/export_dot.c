/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/utf8.h"
#include "engine/exchange/tape_walk.h"

#include <inttypes.h>

/* One line of a label. Graphviz reads a backslash and a quote, and no other character, in its own
 * way. */
static void
print_line(FILE *out, const char *text, const char *before) {
  if (!text || !*text) return;
  char *line = td_utf8_make(td_line_dup(text, TD_NAME_SHOWN));
  fputs(before, out);
  for (const char *at = line; *at; at++) {
    if (*at == '"' || *at == '\\') fputc('\\', out);
    fputc(*at, out);
  }
  free(line);
}

static void
print_label(FILE *out, const td_catalog_node *node) {
  char *module = td_catalog_node_module_label(node);
  fprintf(out, "#%" PRIu32, node->id);
  print_line(out, node->name, "\\n");
  print_line(out, node->label, "\\n");
  print_line(out, module, "\\n");
  free(module);
}

static void
print_edge(FILE *out, const td_catalog_edge *edge) {
  fprintf(out, "  n%" PRIu32 " -> n%" PRIu32, edge->from, edge->to);
  if (edge->output_nr || edge->input_nr)
    fprintf(out, " [taillabel=\"%" PRIu32 "\", headlabel=\"%" PRIu32 "\"]", edge->output_nr,
            edge->input_nr);
  fputs(";\n", out);
}

static void
node_cb(const td_catalog *catalog, const td_catalog_node *node, void *data) {
  FILE *out = data;
  fprintf(out, "  n%" PRIu32 " [label=\"", node->id);
  print_label(out, node);
  fputs("\"];\n", out);
  for (uint32_t i = 0; i < node->n_out; i++)
    print_edge(out, &catalog->edges[node->first_out + i]);
}

td_status
td_export_dot(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error) {
  const td_walk_listener listener = {.node = node_cb, .data = out};
  fputs("digraph tapedeck {\n  node [shape=box, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=9];\n",
        out);
  td_status status = td_tape_walk(tape, wish, &listener, error);
  fputs("}\n", out);
  return status;
}
