/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/start_page.h"

#include "ui/widgets/list_bin.h"

#define MAX_RECENT_SHOWN 3

struct _TdStartPage {
  AdwBin parent_instance;
  GtkWidget *recent_group, *examples_group;
  GtkListBox *recent, *examples;
};

enum { SIGNAL_OPEN_TAPE, SIGNAL_RUN_EXAMPLE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(TdStartPage, td_start_page, ADW_TYPE_BIN)

static void
add_row(GtkListBox *list, const char *title, const char *subtitle, const char *icon,
        const char *key) {
  GtkWidget *row = adw_action_row_new();
  g_autofree char *safe_title = g_markup_escape_text(title, -1);
  g_autofree char *safe_subtitle = g_markup_escape_text(subtitle, -1);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), safe_title);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), safe_subtitle);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), gtk_image_new_from_icon_name(icon));
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), TRUE);
  g_object_set_data_full(G_OBJECT(row), "key", g_strdup(key), g_free);
  gtk_list_box_append(list, row);
}

static char *
tilde_path(const char *path) {
  const char *home = g_get_home_dir();
  g_autofree char *folder = g_path_get_dirname(path);
  return g_str_has_prefix(folder, home) ? g_strconcat("~", folder + strlen(home), NULL)
                                        : g_steal_pointer(&folder);
}

void
td_start_page_set_recent(TdStartPage *self, const char *const *paths) {
  GtkListBoxRow *row;
  guint n = 0;
  while ((row = gtk_list_box_get_row_at_index(self->recent, 0)))
    gtk_list_box_remove(self->recent, GTK_WIDGET(row));
  for (; paths && paths[n] && n < MAX_RECENT_SHOWN; n++) {
    g_autofree char *name = g_path_get_basename(paths[n]);
    g_autofree char *folder = tilde_path(paths[n]);
    add_row(self->recent, name, folder, "go-next-symbolic", paths[n]);
  }
  gtk_widget_set_visible(self->recent_group, n > 0);
}

void
td_start_page_add_example(TdStartPage *self, const char *name, const char *summary) {
  add_row(self->examples, name, summary, "media-playback-start-symbolic", name);
  gtk_widget_set_visible(self->examples_group, TRUE);
}

static void
row_activated(GtkListBox *list, GtkListBoxRow *row, gpointer data) {
  TdStartPage *self = data;
  const char *key = g_object_get_data(G_OBJECT(row), "key");
  g_signal_emit(self, signals[list == self->recent ? SIGNAL_OPEN_TAPE : SIGNAL_RUN_EXAMPLE], 0,
                key);
}

static guint
make_signal(const char *name) {
  return g_signal_new(name, TD_TYPE_START_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                      1, G_TYPE_STRING);
}

static void
td_start_page_class_init(TdStartPageClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  signals[SIGNAL_OPEN_TAPE] = make_signal("open-tape");
  signals[SIGNAL_RUN_EXAMPLE] = make_signal("run-example");
  g_type_ensure(TD_TYPE_LIST_BIN);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/start_page.ui");
  gtk_widget_class_bind_template_child(widget_class, TdStartPage, recent_group);
  gtk_widget_class_bind_template_child(widget_class, TdStartPage, examples_group);
  gtk_widget_class_bind_template_child(widget_class, TdStartPage, recent);
  gtk_widget_class_bind_template_child(widget_class, TdStartPage, examples);
}

static void
td_start_page_init(TdStartPage *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  g_signal_connect(self->recent, "row-activated", G_CALLBACK(row_activated), self);
  g_signal_connect(self->examples, "row-activated", G_CALLBACK(row_activated), self);
}
