/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/node_search.h"

#include "ui/geometry/format.h"
#include "ui/model/document_part.h"
#include "ui/model/document_texts.h"
#include "ui/model/node_query.h"
#include "ui/model/node_state_text.h"
#include "ui/model/source_line.h"

#include <glib/gi18n.h>

#define MAX_RESULTS 60

struct _TdNodeSearch {
  GtkPopover parent_instance;
  GtkSearchEntry *entry;
  GtkLabel *summary;
  GtkListBox *results;
  TdPlayhead *playhead; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdNodeSearch, td_node_search, GTK_TYPE_POPOVER)

static char *
describe(TdDocument *document, uint32_t node) {
  const td_catalog_node *known = td_catalog_node_get(td_document_get_catalog(document), node);
  g_autofree char *name = td_document_dup_node_name(document, node);
  g_autofree char *line = td_source_line_dup_short(known->stack);
  GString *text = g_string_new(name);
  g_autofree char *module = td_catalog_module_label(td_document_get_catalog(document), node);
  const char *const parts[] = {known->label, module, line, td_node_state_text_now(document, node)};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    if (parts[i] && *parts[i]) g_string_append_printf(text, " · %s", parts[i]);
  return g_string_free(text, FALSE);
}

static void
add_result(TdNodeSearch *self, uint32_t node, const char *text) {
  GtkWidget *row = gtk_list_box_row_new();
  GtkWidget *label = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
  g_object_set_data(G_OBJECT(row), "node", GUINT_TO_POINTER(node));
  gtk_list_box_append(self->results, row);
}

static void
clear(TdNodeSearch *self) {
  GtkListBoxRow *row;
  while ((row = gtk_list_box_get_row_at_index(self->results, 0)))
    gtk_list_box_remove(self->results, GTK_WIDGET(row));
}

static char *
describe_count(uint64_t found) {
  g_autofree char *count = td_format_count(found);
  return found > MAX_RESULTS ? g_strdup_printf(_("%s nodes, the first %d"), count, MAX_RESULTS)
                             : g_strdup_printf(ngettext("%s node", "%s nodes", found), count);
}

/* Only the part of the tape that is shown has been searched. */
static char *
dup_scope(TdDocument *document, const char *summary) {
  if (!document || !td_document_is_cut(document)) return g_strdup(summary);
  g_autofree char *part = td_document_dup_part_text(document);
  return g_strdup_printf(_("%s · %s of this tape"), summary, part);
}

static uint32_t
list_results(TdNodeSearch *self, TdDocument *document) {
  g_autoptr(TdNodeQuery) query =
      td_node_query_new(document, gtk_editable_get_text(GTK_EDITABLE(self->entry)));
  uint32_t nodes[MAX_RESULTS], found = td_node_query_run(query, nodes, MAX_RESULTS);
  for (uint32_t i = 0; i < MIN(found, MAX_RESULTS); i++) {
    g_autofree char *text = describe(document, nodes[i]);
    add_result(self, nodes[i], text);
  }
  return found;
}

static void
search(TdNodeSearch *self) {
  TdDocument *document = self->playhead ? td_playhead_get_document(self->playhead) : NULL;
  clear(self);
  uint32_t found = document ? list_results(self, document) : 0;
  GtkListBoxRow *first = gtk_list_box_get_row_at_index(self->results, 0);
  if (first) gtk_list_box_select_row(self->results, first);
  g_autofree char *summary = describe_count(found);
  g_autofree char *text = dup_scope(document, found ? summary : _("No node matches"));
  gtk_label_set_text(self->summary, text);
}

static void
choose(TdNodeSearch *self, GtkListBoxRow *row) {
  if (!row) return;
  uint32_t node = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), "node"));
  gtk_popover_popdown(GTK_POPOVER(self));
  td_playhead_set_selection(self->playhead, node);
}

static void
entry_activated(TdNodeSearch *self) {
  choose(self, gtk_list_box_get_selected_row(self->results));
}

static void
row_activated(GtkListBox *list, GtkListBoxRow *row, gpointer data) {
  choose(data, row);
}

static void
shown(TdNodeSearch *self) {
  gtk_editable_select_region(GTK_EDITABLE(self->entry), 0, -1);
  gtk_widget_grab_focus(GTK_WIDGET(self->entry));
  search(self);
}

void
td_node_search_set_playhead(TdNodeSearch *self, TdPlayhead *playhead) {
  g_set_object(&self->playhead, playhead);
}

static void
td_node_search_dispose(GObject *object) {
  g_clear_object(&TD_NODE_SEARCH(object)->playhead);
  G_OBJECT_CLASS(td_node_search_parent_class)->dispose(object);
}

static void
td_node_search_class_init(TdNodeSearchClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_node_search_dispose;
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/node_search.ui");
  gtk_widget_class_bind_template_child(widget_class, TdNodeSearch, entry);
  gtk_widget_class_bind_template_child(widget_class, TdNodeSearch, summary);
  gtk_widget_class_bind_template_child(widget_class, TdNodeSearch, results);
}

static void
td_node_search_init(TdNodeSearch *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_signal_connect_swapped(self->entry, "search-changed", G_CALLBACK(search), self);
  g_signal_connect_swapped(self->entry, "stop-search", G_CALLBACK(gtk_popover_popdown), self);
  g_signal_connect_swapped(self->entry, "activate", G_CALLBACK(entry_activated), self);
  g_signal_connect(self->results, "row-activated", G_CALLBACK(row_activated), self);
  g_signal_connect(self, "show", G_CALLBACK(shown), NULL);
}
