/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/table_view.h"

#include "ui/widgets/base/focus.h"
#include "ui/widgets/base/list_bin.h"
#include "ui/widgets/base/list_copy.h"
#include "ui/widgets/base/row_label.h"

#include <glib/gi18n.h>

struct _TdTableView {
  AdwBin parent_instance;
  GtkScrolledWindow *scroller;
  GtkColumnView *view; /* (borrowed) from the scroller, or NULL */
  const TdColumn *columns;
  guint n_columns;
  GtkCustomFilter *filter; /* (owned) */
  char *letters;           /* (owned) */
};

G_DEFINE_FINAL_TYPE(TdTableView, td_table_view, ADW_TYPE_BIN)

static guint chosen_signal;

/* ---- cells ---- */

static guint
column_of(GtkSignalListItemFactory *factory) {
  return GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(factory), "td-column"));
}

/* What the number is, and the whole of a text that is cut. A text that is set beforehand makes GTK
 * ask the display where the pointer is, once for each cell. */
static gboolean
tell(GtkWidget *cell, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer item) {
  const TdColumn *column = g_object_get_data(G_OBJECT(cell), "td-column");
  const char *text = td_row_label_get(TD_ROW_LABEL(cell));
  g_autofree char *meaning =
      column->meaning ? g_strdup_printf("%s\n%s: %s", text, _(column->title), _(column->meaning))
                      : g_strdup(text);
  gtk_tooltip_set_text(tooltip, meaning);
  return *text != 0;
}

static void
setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data) {
  TdTableView *self = data;
  const TdColumn *column = &self->columns[column_of(factory)];
  gboolean is_text = column->unit == TD_UNIT_TEXT;
  GtkWidget *cell = td_row_label_new(1, is_text ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE);
  if (is_text)
    td_row_label_set_chars(TD_ROW_LABEL(cell), column->width ? 1 : 12);
  else
    td_row_label_set_number(TD_ROW_LABEL(cell));
  gtk_widget_add_css_class(cell, is_text ? "what" : "numeric");
  gtk_widget_set_has_tooltip(cell, TRUE);
  g_object_set_data(G_OBJECT(cell), "td-column", (gpointer)column);
  g_signal_connect(cell, "query-tooltip", G_CALLBACK(tell), NULL);
  gtk_list_item_set_child(item, cell);
}

/* Equal layers of a model differ in the end of their path, nodes in their number. A thread's number
 * comes first, and its name may end in another one. */
static PangoEllipsizeMode
where_to_cut(const char *text) {
  if (strchr(text, '#') || g_ascii_isdigit(*text)) return PANGO_ELLIPSIZE_MIDDLE;
  bool is_path = strchr(text, '.') || strstr(text, " · ");
  return is_path ? PANGO_ELLIPSIZE_START : PANGO_ELLIPSIZE_END;
}

static void
bind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data) {
  TdTableView *self = data;
  guint column = column_of(factory);
  TdRowLabel *cell = TD_ROW_LABEL(gtk_list_item_get_child(item));
  g_autofree char *text = td_table_row_dup_text(gtk_list_item_get_item(item), column);
  td_row_label_set(cell, text);
  if (self->columns[column].unit == TD_UNIT_TEXT) td_row_label_set_cut(cell, where_to_cut(text));
}

static int
compare(gconstpointer a, gconstpointer b, gpointer column) {
  return td_table_row_compare((TdTableRow *)a, (TdTableRow *)b, GPOINTER_TO_UINT(column));
}

static GtkColumnViewColumn *
make_column(TdTableView *self, guint i) {
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
  g_object_set_data(G_OBJECT(factory), "td-column", GUINT_TO_POINTER(i));
  g_signal_connect(factory, "setup", G_CALLBACK(setup), self);
  g_signal_connect(factory, "bind", G_CALLBACK(bind), self);
  GtkColumnViewColumn *column = gtk_column_view_column_new(_(self->columns[i].title), factory);
  g_autoptr(GtkSorter) sorter =
      GTK_SORTER(gtk_custom_sorter_new(compare, GUINT_TO_POINTER(i), NULL));
  gtk_column_view_column_set_sorter(column, sorter);
  gtk_column_view_column_set_resizable(column, TRUE);
  if (self->columns[i].width)
    gtk_column_view_column_set_fixed_width(column, self->columns[i].width);
  if (i == 0) gtk_column_view_column_set_expand(column, TRUE);
  return column;
}

/* ---- copies ---- */

static char *
row_text(gpointer row, gpointer data) {
  TdTableView *self = data;
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < self->n_columns; i++) {
    g_autofree char *cell = td_table_row_dup_text(row, i);
    g_string_append_printf(text, "%s%s", i ? "\t" : "", cell);
  }
  return g_strdup(text->str);
}

static char *
heading_text(TdTableView *self) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < self->n_columns; i++)
    g_string_append_printf(text, "%s%s", i ? "\t" : "", _(self->columns[i].title));
  return g_strdup(text->str);
}

/* ---- the view ---- */

static gboolean
filter_cb(gpointer item, gpointer data) {
  TdTableView *self = data;
  return !*self->letters || td_table_row_matches(item, self->letters);
}

static void
selected(GtkSingleSelection *selection, GParamSpec *spec, gpointer data) {
  TdTableRow *row = gtk_single_selection_get_selected_item(selection);
  if (row) g_signal_emit(data, chosen_signal, 0, row);
}

/* Enter or a double click chooses the selected row again. */
static void
activated(GtkColumnView *view, guint position, gpointer data) {
  GListModel *rows = G_LIST_MODEL(gtk_column_view_get_model(view));
  g_autoptr(TdTableRow) row = g_list_model_get_item(rows, position);
  if (row) g_signal_emit(data, chosen_signal, 0, row);
}

static void
build(TdTableView *self, TdTable *table) {
  self->columns = td_table_get_columns(table, &self->n_columns);
  self->view = GTK_COLUMN_VIEW(gtk_column_view_new(NULL));
  gtk_widget_add_css_class(GTK_WIDGET(self->view), "quantities");
  g_signal_connect(self->view, "activate", G_CALLBACK(activated), self);
  guint first_by = td_table_get_first_by(table);
  for (guint i = 0; i < self->n_columns; i++) {
    g_autoptr(GtkColumnViewColumn) column = make_column(self, i);
    gtk_column_view_append_column(self->view, column);
    if (i == first_by) gtk_column_view_sort_by_column(self->view, column, GTK_SORT_DESCENDING);
  }
  g_autofree char *heading = heading_text(self);
  td_list_copy_add(GTK_WIDGET(self->view), row_text, heading, self);
  gtk_scrolled_window_set_child(self->scroller, GTK_WIDGET(self->view));
}

static gboolean
has_other_columns(TdTableView *self, TdTable *table) {
  guint n;
  const TdColumn *columns = td_table_get_columns(table, &n);
  return !self->view || columns != self->columns || n != self->n_columns;
}

static GtkSelectionModel *
make_model(TdTableView *self, TdTable *table) {
  GtkSorter *sorter = g_object_ref(gtk_column_view_get_sorter(self->view));
  GtkFilterListModel *some = gtk_filter_list_model_new(g_object_ref(td_table_get_rows(table)),
                                                       GTK_FILTER(g_object_ref(self->filter)));
  GtkSortListModel *sorted = gtk_sort_list_model_new(G_LIST_MODEL(some), sorter);
  GtkSingleSelection *selection = gtk_single_selection_new(NULL);
  gtk_single_selection_set_autoselect(selection, FALSE);
  gtk_single_selection_set_can_unselect(selection, TRUE);
  gtk_single_selection_set_model(selection, G_LIST_MODEL(sorted));
  g_object_unref(sorted);
  g_signal_connect(selection, "notify::selected-item", G_CALLBACK(selected), self);
  return GTK_SELECTION_MODEL(selection);
}

void
td_table_view_show(TdTableView *self, TdTable *table, const char *label) {
  td_focus_drop(GTK_WIDGET(self));
  if (self->view) gtk_column_view_set_model(self->view, NULL);
  if (!table) return;
  if (has_other_columns(self, table)) build(self, table);
  g_autoptr(GtkSelectionModel) model = make_model(self, table);
  gtk_column_view_set_model(self->view, model);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                 -1);
}

/* GTK keeps the row in place that was there before, and the first rows would be out of sight. */
static void
scroll_to_top(TdTableView *self) {
  GtkSelectionModel *model = self->view ? gtk_column_view_get_model(self->view) : NULL;
  if (!model || g_list_model_get_n_items(G_LIST_MODEL(model)) == 0) return;
  GtkWidget *child = gtk_widget_get_first_child(GTK_WIDGET(self->view));
  while (child && !GTK_IS_LIST_VIEW(child))
    child = gtk_widget_get_next_sibling(child);
  if (child) gtk_widget_activate_action(child, "list.scroll-to-item", "u", 0);
}

void
td_table_view_filter(TdTableView *self, const char *letters) {
  if (strcmp(letters, self->letters) == 0) return;
  g_free(self->letters);
  self->letters = g_strdup(letters);
  td_focus_drop(GTK_WIDGET(self));
  gtk_filter_changed(GTK_FILTER(self->filter), GTK_FILTER_CHANGE_DIFFERENT);
  scroll_to_top(self);
}

TdTableRow *
td_table_view_get_selected(TdTableView *self) {
  GtkSelectionModel *model = self->view ? gtk_column_view_get_model(self->view) : NULL;
  return model ? gtk_single_selection_get_selected_item(GTK_SINGLE_SELECTION(model)) : NULL;
}

static void
td_table_view_dispose(GObject *object) {
  TdTableView *self = TD_TABLE_VIEW(object);
  if (self->view) gtk_column_view_set_model(self->view, NULL);
  self->view = NULL;
  g_clear_object(&self->filter);
  G_OBJECT_CLASS(td_table_view_parent_class)->dispose(object);
}

static void
td_table_view_finalize(GObject *object) {
  g_free(TD_TABLE_VIEW(object)->letters);
  G_OBJECT_CLASS(td_table_view_parent_class)->finalize(object);
}

static void
td_table_view_class_init(TdTableViewClass *klass) {
  GObjectClass *object_class = G_OBJECT_CLASS(klass);
  object_class->dispose = td_table_view_dispose;
  object_class->finalize = td_table_view_finalize;
  chosen_signal = g_signal_new("chosen", TD_TYPE_TABLE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                               G_TYPE_NONE, 1, TD_TYPE_TABLE_ROW);
}

static void
td_table_view_init(TdTableView *self) {
  self->letters = g_strdup("");
  self->filter = gtk_custom_filter_new(filter_cb, self, NULL);
  self->scroller = GTK_SCROLLED_WINDOW(gtk_scrolled_window_new());
  gtk_widget_set_vexpand(GTK_WIDGET(self->scroller), TRUE);
  adw_bin_set_child(ADW_BIN(self), td_list_bin_new(GTK_WIDGET(self->scroller)));
}
