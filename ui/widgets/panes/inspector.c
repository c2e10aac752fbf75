/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/inspector.h"

#include "ui/model/base/delay.h"
#include "ui/model/document/document_texts.h"
#include "ui/model/facts/facts.h"
#include "ui/model/facts/node_state_text.h"
#include "ui/widgets/base/focus.h"
#include "ui/widgets/base/list_bin.h"
#include "ui/widgets/base/wrapped.h"
#include "ui/widgets/panes/fact_view.h"
#include "ui/widgets/timeline/life_bar.h"

#include <glib/gi18n.h>

#define LEAST_MS 100 /* from one update to the next */
#define VALUE_CHARS 8

struct _TdInspector {
  AdwBin parent_instance;
  GtkLabel *name, *subtitle, *block, *why;
  TdLifeBar *life;
  GtkBox *sections;
  TdPlayhead *playhead; /* (owned) */
  TdFoldChoice *folds;  /* (owned) */
  TdDocument *lives_of; /* (owned): to whose "lives" it listens */
  GListModel *facts;    /* (owned): shown now */
  GPtrArray *values;    /* GtkLabel (borrowed), one per fact */
  gint64 updated_us;    /* when all was shown last */
  guint later;          /* id of a timeout that will show all, or 0 */
  GtkSizeGroup *titles; /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdInspector, td_inspector, ADW_TYPE_BIN)

static gboolean
same_length(GListModel *a, GListModel *b) {
  return !a || !b ? a == b : g_list_model_get_n_items(a) == g_list_model_get_n_items(b);
}

/* Rows are kept while only their values change: what has focus or is being selected stays. */
static gboolean
same_rows(GListModel *a, GListModel *b) {
  guint n = g_list_model_get_n_items(a);
  if (n != g_list_model_get_n_items(b)) return FALSE;
  for (guint i = 0; i < n; i++) {
    g_autoptr(TdFact) left = g_list_model_get_item(a, i);
    g_autoptr(TdFact) right = g_list_model_get_item(b, i);
    if (td_fact_get_node(left) != td_fact_get_node(right) ||
        td_fact_get_section(left) != td_fact_get_section(right) ||
        g_strcmp0(td_fact_get_title(left), td_fact_get_title(right)) != 0 ||
        g_strcmp0(td_fact_get_more(left), td_fact_get_more(right)) != 0 ||
        !same_length(td_fact_get_all(left), td_fact_get_all(right)))
      return FALSE;
  }
  return TRUE;
}

static void
row_activated(GtkListBox *list, GtkListBoxRow *row, gpointer data) {
  TdInspector *self = data;
  guint node = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), "node"));
  if (gtk_list_box_row_get_activatable(row)) td_playhead_set_selection(self->playhead, node);
}

static GtkWidget *
make_section(TdInspector *self, const char *title) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *heading = gtk_label_new(title);
  gtk_label_set_xalign(GTK_LABEL(heading), 0);
  gtk_widget_add_css_class(heading, "heading");
  GtkWidget *list = gtk_list_box_new();
  gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class(list, "boxed-list");
  gtk_accessible_update_property(GTK_ACCESSIBLE(list), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  g_signal_connect(list, "row-activated", G_CALLBACK(row_activated), self);
  gtk_box_append(GTK_BOX(box), heading);
  gtk_box_append(GTK_BOX(box), td_list_bin_new(list));
  gtk_box_append(self->sections, box);
  return list;
}

/* Names of nodes are long and have no spaces: they may break, but not with a hyphen that is not in
 * them. */
static void
break_without_hyphen(GtkLabel *label) {
  g_autoptr(PangoAttrList) attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
  gtk_label_set_attributes(label, attributes);
}

static GtkWidget *
make_value(TdFact *fact) {
  GtkWidget *value = gtk_label_new(NULL);
  gtk_label_set_xalign(GTK_LABEL(value), 0);
  gtk_label_set_wrap(GTK_LABEL(value), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(value), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable(GTK_LABEL(value), td_fact_get_node(fact) == TD_NONE);
  gtk_widget_set_hexpand(value, TRUE);
  gtk_widget_set_valign(value, GTK_ALIGN_START);
  gtk_widget_add_css_class(value, "fact-value");
  td_wrapped_fix(value, VALUE_CHARS);
  break_without_hyphen(GTK_LABEL(value));
  return value;
}

static GtkWidget *
make_arrow(void) {
  GtkWidget *arrow = gtk_image_new_from_icon_name("go-next-symbolic");
  gtk_widget_set_valign(arrow, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class(arrow, "dim-label");
  return arrow;
}

static GtkWidget *
make_lines(const char *more) {
  GtkWidget *lines = gtk_label_new(more);
  gtk_label_set_xalign(GTK_LABEL(lines), 0);
  gtk_label_set_wrap(GTK_LABEL(lines), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(lines), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable(GTK_LABEL(lines), TRUE);
  td_wrapped_fix(lines, VALUE_CHARS);
  gtk_widget_add_css_class(lines, "fact-more");
  return lines;
}

/* A long list is made when somebody opens it for the first time. */
static void
expanded(GtkExpander *expander, GParamSpec *pspec, gpointer data) {
  TdInspector *self = data;
  GListModel *all = g_object_get_data(G_OBJECT(expander), "all");
  if (all && !gtk_expander_get_child(expander))
    gtk_expander_set_child(expander, td_fact_view_new(all, self->playhead));
}

/* A value and, folded away, what tells more. */
static GtkWidget *
make_value_and_more(TdInspector *self, TdFact *fact, GtkWidget *value) {
  const char *more = td_fact_get_more(fact);
  GListModel *all = td_fact_get_all(fact);
  if (!more && !all) return value;
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *expander = gtk_expander_new(_("All"));
  if (more) gtk_expander_set_child(GTK_EXPANDER(expander), make_lines(more));
  if (all) g_object_set_data_full(G_OBJECT(expander), "all", g_object_ref(all), g_object_unref);
  g_signal_connect(expander, "notify::expanded", G_CALLBACK(expanded), self);
  gtk_box_append(GTK_BOX(box), value);
  gtk_box_append(GTK_BOX(box), expander);
  return box;
}

static void
add_row(TdInspector *self, GtkListBox *list, TdFact *fact) {
  GtkWidget *row = gtk_list_box_row_new();
  GtkWidget *box = td_wrapped_row_new(12);
  GtkWidget *title = gtk_label_new(td_fact_get_title(fact));
  GtkWidget *value = make_value(fact);
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_widget_set_valign(title, GTK_ALIGN_START);
  gtk_widget_add_css_class(title, "fact-title");
  gtk_widget_add_css_class(box, "fact");
  gtk_size_group_add_widget(self->titles, title);
  gtk_box_append(GTK_BOX(box), title);
  gtk_box_append(GTK_BOX(box), make_value_and_more(self, fact, value));
  gboolean link = td_fact_get_node(fact) != TD_NONE;
  if (link) gtk_box_append(GTK_BOX(box), make_arrow());
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), link);
  gtk_widget_set_focusable(row, link);
  g_object_set_data(G_OBJECT(row), "node", GUINT_TO_POINTER(td_fact_get_node(fact)));
  gtk_list_box_append(list, row);
  g_ptr_array_add(self->values, value);
}

static void
build_rows(TdInspector *self) {
  GtkWidget *child, *list = NULL;
  const char *section = NULL;
  td_focus_drop(GTK_WIDGET(self->sections));
  while ((child = gtk_widget_get_first_child(GTK_WIDGET(self->sections))))
    gtk_box_remove(self->sections, child);
  g_ptr_array_set_size(self->values, 0);
  for (guint i = 0; i < g_list_model_get_n_items(self->facts); i++) {
    g_autoptr(TdFact) fact = g_list_model_get_item(self->facts, i);
    if (td_fact_get_section(fact) != section) list = make_section(self, td_fact_get_section(fact));
    section = td_fact_get_section(fact);
    add_row(self, GTK_LIST_BOX(list), fact);
  }
}

static void
show_facts(TdInspector *self, GListModel *facts) {
  gboolean rebuild = !self->facts || !same_rows(self->facts, facts);
  g_set_object(&self->facts, facts);
  if (rebuild) build_rows(self);
  for (guint i = 0; i < self->values->len; i++) {
    g_autoptr(TdFact) fact = g_list_model_get_item(facts, i);
    gtk_label_set_text(g_ptr_array_index(self->values, i), td_fact_get_value(fact));
  }
}

static void
show_texts(TdInspector *self, const char *name, const char *subtitle, const char *why) {
  gtk_label_set_text(self->name, name);
  gtk_label_set_text(self->subtitle, subtitle ? subtitle : "");
  gtk_widget_set_visible(GTK_WIDGET(self->subtitle), subtitle && *subtitle);
  gtk_label_set_text(self->why, why ? why : "");
  gtk_widget_set_visible(GTK_WIDGET(self->why), why && *why);
}

static void
show_tape(TdInspector *self, TdDocument *document) {
  g_autofree char *name = g_path_get_basename(td_document_get_path(document));
  g_autoptr(GListModel) facts = td_facts_of_tape(document);
  show_texts(self, name, _("Click a node or an edge to see everything about it."), NULL);
  show_facts(self, facts);
}

static void
show_node(TdInspector *self, TdDocument *document, uint32_t node) {
  g_autofree char *name = td_document_dup_node_name(document, node);
  const char *in_words = td_node_state_text_now(document, node);
  g_autofree char *called = td_document_dup_node_called(document, node);
  g_autofree char *subtitle =
      called ? g_strdup_printf("%s · %s", called, in_words) : g_strdup(in_words);
  g_autofree char *why = td_document_dup_wait_text(document, node);
  g_autoptr(GListModel) facts = td_facts_of_node(document, node);
  show_texts(self, name, subtitle, why);
  show_facts(self, facts);
}

static void
show_edge(TdInspector *self, TdDocument *document, uint32_t edge) {
  g_autofree char *name = td_document_dup_edge_name(document, edge);
  g_autoptr(GListModel) list = td_facts_of_edge(document, edge);
  show_texts(self, name, NULL, NULL);
  show_facts(self, list);
}

/* A block of the graph stands for all its nodes, and one of them is selected. */
static void
show_block(TdInspector *self, uint32_t node) {
  g_autofree char *block =
      node == TD_NONE || !self->folds ? NULL : td_fold_choice_dup_block(self->folds, node);
  g_autofree char *text = block ? g_strdup_printf(_("In the block %s. U opens it."), block) : NULL;
  if (text) gtk_label_set_text(self->block, text);
  gtk_widget_set_visible(GTK_WIDGET(self->block), text != NULL);
}

static void
show_selection(TdInspector *self, TdDocument *document) {
  uint32_t node = td_playhead_get_selection(self->playhead);
  uint32_t edge = td_playhead_get_edge(self->playhead);
  show_block(self, edge == TD_NONE ? node : TD_NONE);
  if (edge != TD_NONE)
    show_edge(self, document, edge);
  else if (node != TD_NONE)
    show_node(self, document, node);
  else
    show_tape(self, document);
}

static void
update(TdInspector *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  g_clear_handle_id(&self->later, g_source_remove);
  if (!document || !gtk_widget_get_mapped(GTK_WIDGET(self))) return;
  self->updated_us = g_get_monotonic_time();
  show_selection(self, document);
  td_life_bar_show(self->life, document, td_playhead_get_selection(self->playhead));
}

static void
lives_changed(TdInspector *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  if (document && gtk_widget_get_mapped(GTK_WIDGET(self)))
    td_life_bar_show(self->life, document, td_playhead_get_selection(self->playhead));
}

static void
document_changed(TdInspector *self) {
  if (self->lives_of) g_signal_handlers_disconnect_by_data(self->lives_of, self);
  g_set_object(&self->lives_of, td_playhead_get_document(self->playhead));
  update(self);
  if (!self->lives_of) return;
  g_signal_connect_swapped(self->lives_of, "notify::lives", G_CALLBACK(lives_changed), self);
  g_signal_connect_swapped(self->lives_of, "notify::scene", G_CALLBACK(lives_changed), self);
}

static gboolean
later_cb(gpointer data) {
  update(data);
  return G_SOURCE_REMOVE;
}

/* To lay out many rows takes longer than to draw a graph. While somebody drags the playhead, nobody
 * can read them at the rate of frames. */
static void
update_soon(TdInspector *self) {
  if (self->later) return;
  gint64 wait_ms = LEAST_MS - (g_get_monotonic_time() - self->updated_us) / 1000;
  if (wait_ms <= 0)
    update(self);
  else
    self->later = td_delay_add((guint)wait_ms, later_cb, self);
}

void
td_inspector_set_playhead(TdInspector *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(update_soon), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(update_soon), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect(self, "map", G_CALLBACK(update), NULL);
}

void
td_inspector_set_folds(TdInspector *self, TdFoldChoice *folds) {
  if (!g_set_object(&self->folds, folds)) return;
  g_signal_connect_object(folds, "changed", G_CALLBACK(update_soon), self, G_CONNECT_SWAPPED);
}

static void
td_inspector_dispose(GObject *object) {
  TdInspector *self = TD_INSPECTOR(object);
  g_clear_handle_id(&self->later, g_source_remove);
  if (self->lives_of) g_signal_handlers_disconnect_by_data(self->lives_of, self);
  g_clear_object(&self->lives_of);
  g_clear_object(&self->playhead);
  g_clear_object(&self->folds);
  g_clear_object(&self->facts);
  g_clear_object(&self->titles);
  g_clear_pointer(&self->values, g_ptr_array_unref);
  G_OBJECT_CLASS(td_inspector_parent_class)->dispose(object);
}

static void
td_inspector_class_init(TdInspectorClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_inspector_dispose;
  g_type_ensure(TD_TYPE_LIFE_BAR);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/inspector.ui");
  gtk_widget_class_bind_template_child(widget_class, TdInspector, name);
  gtk_widget_class_bind_template_child(widget_class, TdInspector, subtitle);
  gtk_widget_class_bind_template_child(widget_class, TdInspector, block);
  gtk_widget_class_bind_template_child(widget_class, TdInspector, why);
  gtk_widget_class_bind_template_child(widget_class, TdInspector, life);
  gtk_widget_class_bind_template_child(widget_class, TdInspector, sections);
}

static void
td_inspector_init(TdInspector *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  self->titles = gtk_size_group_new(GTK_SIZE_GROUP_HORIZONTAL);
  self->values = g_ptr_array_new();
}
