/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/list_copy.h"

typedef struct Copy {
  TdRowText text;
  char *heading; /* (owned) */
  gpointer data;
} Copy;

static GtkSelectionModel *
model_of(GtkWidget *view) {
  return GTK_IS_COLUMN_VIEW(view) ? gtk_column_view_get_model(GTK_COLUMN_VIEW(view))
                                  : gtk_list_view_get_model(GTK_LIST_VIEW(view));
}

static void
put(GtkWidget *view, const char *text) {
  gdk_clipboard_set_text(gtk_widget_get_clipboard(view), text);
}

static gboolean
copy_selected(GtkWidget *view, GVariant *arguments, gpointer data) {
  const Copy *self = data;
  GtkSelectionModel *model = model_of(view);
  gpointer item =
      model ? gtk_single_selection_get_selected_item(GTK_SINGLE_SELECTION(model)) : NULL;
  if (!item) return FALSE;
  g_autofree char *text = self->text(item, self->data);
  put(view, text);
  return TRUE;
}

static gboolean
copy_all(GtkWidget *view, GVariant *arguments, gpointer data) {
  const Copy *self = data;
  GListModel *rows = G_LIST_MODEL(model_of(view));
  if (!rows) return FALSE;
  g_autoptr(GString) all = g_string_new(self->heading);
  guint n = g_list_model_get_n_items(rows);
  for (guint i = 0; i < n; i++) {
    g_autoptr(GObject) item = g_list_model_get_item(rows, i);
    g_autofree char *text = self->text(item, self->data);
    g_string_append_printf(all, "\n%s", text);
  }
  put(view, all->str);
  return TRUE;
}

static void
free_copy(gpointer data) {
  Copy *self = data;
  g_free(self->heading);
  g_free(self);
}

static void
add_key(GtkEventController *keys, GdkModifierType modifiers, GtkShortcutFunc copy, Copy *self) {
  GtkShortcut *shortcut = gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_c, modifiers),
                                           gtk_callback_action_new(copy, self, NULL));
  gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys), shortcut);
}

void
td_list_copy_add(GtkWidget *view, TdRowText text, const char *heading, gpointer data) {
  Copy *self = g_new(Copy, 1);
  *self = (Copy){text, g_strdup(heading), data};
  g_object_set_data_full(G_OBJECT(view), "td-copy", self, free_copy);
  GtkEventController *keys = gtk_shortcut_controller_new();
  add_key(keys, GDK_CONTROL_MASK, copy_selected, self);
  if (heading) add_key(keys, GDK_CONTROL_MASK | GDK_SHIFT_MASK, copy_all, self);
  gtk_widget_add_controller(view, keys);
}
