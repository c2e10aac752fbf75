/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/graph/node_search.h"

#include "ui/geometry/format.h"
#include "ui/model/base/dotted.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/events/node_query.h"
#include "ui/model/events/tape_search.h"
#include "ui/widgets/base/focus.h"

#include <glib/gi18n.h>

#define MAX_RESULTS 60

struct _TdNodeSearch {
  GtkPopover parent_instance;
  GtkSearchEntry *entry;
  GtkLabel *summary;
  GtkListBox *results;
  TdPlayhead *playhead;  /* (owned) */
  TdTapeSearch *others;  /* (owned) the search of other segments, or NULL */
  GCancellable *stopped; /* (owned) that search, or NULL */
  uint64_t n_here, n_elsewhere;
};

G_DEFINE_FINAL_TYPE(TdNodeSearch, td_node_search, GTK_TYPE_POPOVER)

/* `position` is where a node of another segment is to be seen, or 0. */
static void
add_result(TdNodeSearch *self, uint32_t node, uint64_t position, const char *text) {
  GtkWidget *row = gtk_list_box_row_new();
  GtkWidget *label = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_label_set_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
  g_object_set_data(G_OBJECT(row), "node", GUINT_TO_POINTER(node));
  g_object_set_data(G_OBJECT(row), "position", GSIZE_TO_POINTER(position));
  gtk_list_box_append(self->results, row);
}

static void
clear(TdNodeSearch *self) {
  GtkListBoxRow *row;
  td_focus_drop(GTK_WIDGET(self->results));
  while ((row = gtk_list_box_get_row_at_index(self->results, 0)))
    gtk_list_box_remove(self->results, GTK_WIDGET(row));
}

static void
select_first(TdNodeSearch *self) {
  GtkListBoxRow *first = gtk_list_box_get_row_at_index(self->results, 0);
  if (first && !gtk_list_box_get_selected_row(self->results))
    gtk_list_box_select_row(self->results, first);
}

static char *
describe_count(uint64_t found) {
  g_autofree char *count = td_format_count(found);
  return found > MAX_RESULTS ? g_strdup_printf(_("%s nodes, the first %d"), count, MAX_RESULTS)
                             : g_strdup_printf(ngettext("%s node", "%s nodes", found), count);
}

/* ---- other segments of a long tape ---- */

static guint
n_rows(TdNodeSearch *self) {
  guint n = 0;
  while (gtk_list_box_get_row_at_index(self->results, (int)n))
    n++;
  return n;
}

/* An example: "2 nodes in segment 3 of 9 · 12 in other segments · searching, 4 of 9". */
static char *
dup_summary_of_segments(TdNodeSearch *self, TdDocument *document) {
  TdSegment segment = td_document_get_segment(document);
  g_autofree char *here = td_format_many(self->n_here, "node", "nodes");
  g_autofree char *elsewhere = td_format_count(self->n_elsewhere);
  guint n_seen = self->others ? td_tape_search_n_seen(self->others) : 0;
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, _("%s in segment %u of %u"), here, segment.number, segment.n);
  if (self->n_elsewhere)
    td_dotted_take(text, g_strdup_printf(_("%s in other segments"), elsewhere));
  if (self->stopped)
    td_dotted_take(text, g_strdup_printf(_("searching, %u of %u"), n_seen, segment.n));
  else if (self->others && !td_tape_search_is_over(self->others))
    td_dotted_take(
        text,
        g_strdup_printf(ngettext("%u segment searched", "%u segments searched", n_seen), n_seen));
  return g_string_free(text, FALSE);
}

static void
show_summary(TdNodeSearch *self, TdDocument *document) {
  g_autofree char *text = NULL;
  if (document && td_document_is_cut(document))
    text = dup_summary_of_segments(self, document);
  else
    text = self->n_here ? describe_count(self->n_here) : g_strdup(_("No node matches"));
  gtk_label_set_text(self->summary, text);
}

static void
stop_others(TdNodeSearch *self) {
  if (self->stopped) g_cancellable_cancel(self->stopped);
  g_clear_object(&self->stopped);
}

static void search_next(TdNodeSearch *self);

static void
list_found(TdNodeSearch *self, const GPtrArray *nodes) {
  guint room = MAX_RESULTS - MIN(n_rows(self), MAX_RESULTS);
  for (guint i = 0; i < MIN(nodes->len, room); i++) {
    const TdFoundNode *found = nodes->pdata[i];
    g_autofree char *text = g_strdup_printf(_("segment %u · %s"), found->segment, found->text);
    add_result(self, found->node, found->position, text);
  }
  select_first(self);
}

static void
part_searched(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdNodeSearch) self = data;
  uint64_t n = 0;
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) nodes = td_tape_search_next_finish(result, &n, &error);
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) return;
  TdDocument *document = td_playhead_get_document(self->playhead);
  self->n_elsewhere += n;
  if (nodes) list_found(self, nodes);
  g_clear_object(&self->stopped);
  bool goes_on = nodes && !td_tape_search_is_over(self->others) && n_rows(self) < MAX_RESULTS;
  if (goes_on) search_next(self);
  show_summary(self, document);
}

static void
search_next(TdNodeSearch *self) {
  self->stopped = g_cancellable_new();
  td_tape_search_next_async(self->others, self->stopped, part_searched, g_object_ref(self));
}

static void
search_others(TdNodeSearch *self, TdDocument *document, const char *typed) {
  stop_others(self);
  g_clear_pointer(&self->others, td_tape_search_unref);
  self->n_elsewhere = 0;
  if (!document || !td_document_is_cut(document) || !typed[strspn(typed, " \t")]) return;
  self->others = td_tape_search_new(document, typed, MAX_RESULTS);
  if (n_rows(self) < MAX_RESULTS) search_next(self);
}

/* ---- the segment shown ---- */

static uint32_t
list_results(TdNodeSearch *self, TdDocument *document, const char *typed) {
  g_autoptr(TdNodeQuery) query = td_node_query_new(document, typed);
  uint32_t nodes[MAX_RESULTS], found = td_node_query_run(query, nodes, MAX_RESULTS);
  for (uint32_t i = 0; i < MIN(found, MAX_RESULTS); i++) {
    g_autofree char *text = td_node_query_describe(document, nodes[i]);
    add_result(self, nodes[i], 0, text);
  }
  return found;
}

static void
search(TdNodeSearch *self) {
  TdDocument *document = self->playhead ? td_playhead_get_document(self->playhead) : NULL;
  const char *typed = gtk_editable_get_text(GTK_EDITABLE(self->entry));
  clear(self);
  self->n_here = document ? list_results(self, document, typed) : 0;
  select_first(self);
  search_others(self, document, typed);
  show_summary(self, document);
}

static void
choose(TdNodeSearch *self, GtkListBoxRow *row) {
  if (!row) return;
  uint32_t node = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), "node"));
  uint64_t position = GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(row), "position"));
  gtk_popover_popdown(GTK_POPOVER(self));
  if (position)
    td_playhead_show_node(self->playhead, position, node);
  else
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

static void
hidden(TdNodeSearch *self) {
  stop_others(self);
}

void
td_node_search_set_playhead(TdNodeSearch *self, TdPlayhead *playhead) {
  g_set_object(&self->playhead, playhead);
}

static void
td_node_search_dispose(GObject *object) {
  TdNodeSearch *self = TD_NODE_SEARCH(object);
  stop_others(self);
  g_clear_pointer(&self->others, td_tape_search_unref);
  g_clear_object(&self->playhead);
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
  g_signal_connect(self, "hide", G_CALLBACK(hidden), NULL);
}
