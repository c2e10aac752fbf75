/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/preferences.h"

#include "ui/model/playhead/speed.h"

#include <glib/gi18n.h>

static const int text_percents[] = {80, 100, 115, 130, 150, 200};
#define PLAIN_TEXT 1

static const AdwColorScheme schemes[] = {ADW_COLOR_SCHEME_DEFAULT, ADW_COLOR_SCHEME_FORCE_LIGHT,
                                         ADW_COLOR_SCHEME_FORCE_DARK};
static const char *const scheme_names[] = {N_("Like the Desktop"), N_("Light"), N_("Dark")};

/* What the desktop says, before anybody chose something else. */
static struct {
  gboolean is_known, moves;
  int dpi; /* in 1024ths */
} desktop;

static void
learn_desktop(void) {
  if (desktop.is_known) return;
  desktop.is_known = TRUE;
  g_object_get(gtk_settings_get_default(), "gtk-enable-animations", &desktop.moves, "gtk-xft-dpi",
               &desktop.dpi, NULL);
  if (desktop.dpi <= 0) desktop.dpi = 96 * 1024;
}

static guint
stored(TdConfig *config, const char *key, guint fallback, guint n) {
  int value = td_config_get_int(config, key, (int)fallback);
  return value >= 0 && value < (int)n ? (guint)value : fallback;
}

void
td_preferences_apply(TdConfig *config) {
  learn_desktop();
  guint scheme = stored(config, "style", 0, G_N_ELEMENTS(schemes));
  guint text = stored(config, "text", PLAIN_TEXT, G_N_ELEMENTS(text_percents));
  gboolean moves = desktop.moves && !stored(config, "still", FALSE, 2);
  adw_style_manager_set_color_scheme(adw_style_manager_get_default(), schemes[scheme]);
  g_object_set(gtk_settings_get_default(), "gtk-enable-animations", moves, "gtk-xft-dpi",
               (int)((gint64)desktop.dpi * text_percents[text] / 100), NULL);
}

guint
td_preferences_speed(TdConfig *config, guint fallback) {
  return stored(config, "speed", fallback, td_speed_count());
}

/* ---- the dialog ---- */

static void
store(TdConfig *config, const char *key, guint value) {
  td_config_set_int(config, key, (int)value);
  td_config_save(config);
  td_preferences_apply(config);
}

static void
chosen(GObject *row, GParamSpec *spec, gpointer config) {
  store(config, g_object_get_data(row, "td-key"), adw_combo_row_get_selected(ADW_COMBO_ROW(row)));
}

static void
add_choice(AdwPreferencesGroup *group, TdConfig *config, const char *key, const char *title,
           GtkStringList *names, guint selected) {
  GtkWidget *row = adw_combo_row_new();
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
  adw_combo_row_set_model(ADW_COMBO_ROW(row), G_LIST_MODEL(names));
  adw_combo_row_set_selected(ADW_COMBO_ROW(row), selected);
  g_object_set_data(G_OBJECT(row), "td-key", (gpointer)key);
  g_signal_connect(row, "notify::selected", G_CALLBACK(chosen), config);
  adw_preferences_group_add(group, row);
  g_object_unref(names);
}

static void
switched(GtkSwitch *widget, GParamSpec *spec, gpointer config) {
  store(config, "still", gtk_switch_get_active(widget));
}

static void
add_motion(AdwPreferencesGroup *group, TdConfig *config) {
  GtkWidget *row = adw_action_row_new(), *widget = gtk_switch_new();
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _("Reduce Motion"));
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), _("The view jumps, and nothing glides"));
  gtk_widget_set_valign(widget, GTK_ALIGN_CENTER);
  gtk_switch_set_active(GTK_SWITCH(widget), stored(config, "still", FALSE, 2));
  g_signal_connect(widget, "notify::active", G_CALLBACK(switched), config);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), widget);
  adw_action_row_set_activatable_widget(ADW_ACTION_ROW(row), widget);
  adw_preferences_group_add(group, row);
}

static GtkStringList *
name_schemes(void) {
  GtkStringList *names = gtk_string_list_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(schemes); i++)
    gtk_string_list_append(names, _(scheme_names[i]));
  return names;
}

static GtkStringList *
name_percents(void) {
  GtkStringList *names = gtk_string_list_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(text_percents); i++) {
    g_autofree char *name = g_strdup_printf("%d\u00a0%%", text_percents[i]);
    gtk_string_list_append(names, name);
  }
  return names;
}

static GtkStringList *
name_speeds(void) {
  GtkStringList *names = gtk_string_list_new(NULL);
  for (guint i = 0; i < td_speed_count(); i++) {
    g_autofree char *name = td_speed_dup_text(i);
    gtk_string_list_append(names, name);
  }
  return names;
}

static AdwPreferencesGroup *
add_group(AdwPreferencesPage *page, const char *title) {
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP(adw_preferences_group_new());
  adw_preferences_group_set_title(group, title);
  adw_preferences_page_add(page, group);
  return group;
}

static void
fill(AdwPreferencesPage *page, TdConfig *config) {
  AdwPreferencesGroup *look = add_group(page, _("Look")), *play = add_group(page, _("Playing"));
  guint text = stored(config, "text", PLAIN_TEXT, G_N_ELEMENTS(text_percents));
  guint speed = td_preferences_speed(config, td_speed_find(TD_SPEED_EVENTS, 30));
  add_choice(look, config, "style", _("Style"), name_schemes(),
             stored(config, "style", 0, G_N_ELEMENTS(schemes)));
  add_choice(look, config, "text", _("Size of Text"), name_percents(), text);
  add_motion(look, config);
  add_choice(play, config, "speed", _("Speed of a New Window"), name_speeds(), speed);
}

void
td_preferences_show(GtkWindow *parent, TdConfig *config) {
  GtkWidget *dialog = adw_preferences_window_new();
  AdwPreferencesPage *page = ADW_PREFERENCES_PAGE(adw_preferences_page_new());
  fill(page, config);
  adw_preferences_window_set_search_enabled(ADW_PREFERENCES_WINDOW(dialog), FALSE);
  adw_preferences_window_add(ADW_PREFERENCES_WINDOW(dialog), page);
  gtk_window_set_transient_for(GTK_WINDOW(dialog), parent);
  gtk_window_set_modal(GTK_WINDOW(dialog), TRUE);
  gtk_window_set_destroy_with_parent(GTK_WINDOW(dialog), TRUE);
  gtk_window_present(GTK_WINDOW(dialog));
}
