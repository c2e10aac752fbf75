/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_keys.h"

#include "ui/widgets/timeline/timeline_canvas.h"

typedef struct Key {
  const char *action; /* constant */
  char *name;         /* (owned) */
} Key;

/* A key that also types text must reach an entry. So only keys with Control or Alt, and function
 * keys, go before the focused widget. */
static gboolean
goes_first(const char *key) {
  guint keyval;
  GdkModifierType modifiers;
  gtk_accelerator_parse(key, &keyval, &modifiers);
  return modifiers & (GDK_CONTROL_MASK | GDK_ALT_MASK) ||
         (keyval >= GDK_KEY_F1 && keyval <= GDK_KEY_F35);
}

static gboolean
is_within(GtkWidget *widget, GType type) {
  return widget && (g_type_is_a(G_OBJECT_TYPE(widget), type) ||
                    gtk_widget_get_ancestor(widget, type) != NULL);
}

/* What the focused widget does with a key itself: an entry types it, a popover is a small window, a
 * button takes the space bar, the timeline zooms and pans. */
static gboolean
needs_key(GtkWidget *focus, const char *key) {
  if (is_within(focus, GTK_TYPE_EDITABLE) || is_within(focus, GTK_TYPE_POPOVER)) return TRUE;
  if (is_within(focus, TD_TYPE_TIMELINE_CANVAS) && td_timeline_canvas_takes(key)) return TRUE;
  return strcmp(key, "space") == 0 &&
         (is_within(focus, GTK_TYPE_BUTTON) || is_within(focus, GTK_TYPE_EXPANDER) ||
          is_within(focus, GTK_TYPE_DROP_DOWN) || is_within(focus, GTK_TYPE_SWITCH));
}

/* A key that moves the playhead works wherever the focus is. */
static gboolean
transport_key(GtkWidget *window, GVariant *arguments, gpointer data) {
  const Key *key = data;
  GAction *action = g_action_map_lookup_action(G_ACTION_MAP(window), key->action);
  if (!g_action_get_enabled(action) ||
      needs_key(gtk_window_get_focus(GTK_WINDOW(window)), key->name))
    return FALSE;
  g_action_activate(action, NULL);
  return TRUE;
}

static void
free_key(gpointer data) {
  Key *key = data;
  g_free(key->name);
  g_free(key);
}

static GtkShortcutAction *
make_action(const char *action, const char *name, gboolean everywhere) {
  if (everywhere) {
    Key *key = g_new(Key, 1);
    *key = (Key){action, g_strdup(name)};
    return gtk_callback_action_new(transport_key, key, free_key);
  }
  g_autofree char *detailed = g_strconcat("win.", action, NULL);
  return gtk_named_action_new(detailed);
}

static GtkShortcutController *
add_controller(GtkWidget *window, GtkPropagationPhase phase) {
  GtkEventController *controller = gtk_shortcut_controller_new();
  gtk_event_controller_set_propagation_phase(controller, phase);
  gtk_widget_add_controller(window, controller);
  return GTK_SHORTCUT_CONTROLLER(controller);
}

TdWindowKeys
td_window_keys_new(GtkWidget *window) {
  return (TdWindowKeys){add_controller(window, GTK_PHASE_CAPTURE),
                        add_controller(window, GTK_PHASE_BUBBLE)};
}

void
td_window_keys_add(const TdWindowKeys *self, const char *action, const char *keys,
                   gboolean everywhere) {
  g_auto(GStrv) all = g_strsplit(keys, " ", -1);
  for (guint i = 0; all[i]; i++) {
    GtkShortcut *shortcut = gtk_shortcut_new(gtk_shortcut_trigger_parse_string(all[i]),
                                             make_action(action, all[i], everywhere));
    gboolean before = everywhere || goes_first(all[i]);
    gtk_shortcut_controller_add_shortcut(before ? self->first : self->last, shortcut);
  }
}

char *
td_window_keys_dup_label(const char *keys) {
  if (!keys) return NULL;
  guint keyval;
  GdkModifierType modifiers;
  g_auto(GStrv) all = g_strsplit(keys, " ", 2);
  gtk_accelerator_parse(all[0], &keyval, &modifiers);
  return gtk_accelerator_get_label(keyval, modifiers);
}

void
td_window_keys_name_button(GtkWidget *button, const char *title, const char *keys) {
  g_autofree char *key = td_window_keys_dup_label(keys);
  g_autofree char *tooltip = key ? g_strdup_printf("%s (%s)", title, key) : g_strdup(title);
  gtk_widget_set_tooltip_text(button, tooltip);
  if (GTK_IS_BUTTON(button) && gtk_button_get_label(GTK_BUTTON(button))) return;
  gtk_accessible_reset_relation(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
  gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
}
