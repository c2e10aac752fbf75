/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/window_shortcuts.h"

#include <glib/gi18n.h>

#define GROUP_END "</object></child>"

/* Keys of widgets that have the focus. A line without keys begins a group. */
static const struct {
  const char *title, *keys;
} widget_keys[] = {
    {N_("In the Graph"), NULL},
    {N_("Select the node beside"), "<Control>Left <Control>Right"},
    {N_("Select the node above"), "Up"},
    {N_("Select the node below"), "Down"},
    {N_("Open the menu of the selected node"), "Menu <Shift>F10"},
    {N_("In the List of Events"), NULL},
    {N_("Go to the event above"), "Up"},
    {N_("Go to the event below"), "Down"},
    {N_("Go ten events up"), "Page_Up"},
    {N_("Go ten events down"), "Page_Down"},
    {N_("In the Strip of the Whole Tape"), NULL},
    {N_("Go back by a hundredth of the tape"), "Down"},
    {N_("Go on by a hundredth of the tape"), "Up"},
    {N_("Go to the part before"), "Page_Up"},
    {N_("Go to the next part"), "Page_Down"},
    {N_("In the Picture of the Memory"), NULL},
    {N_("Go back in time"), "Down"},
    {N_("Go on in time"), "Up"},
    {N_("Everywhere"), NULL},
    {N_("Leave a list"), "Tab"},
};

GString *
td_shortcuts_new(void) {
  return g_string_new(
      "<interface><object class='GtkShortcutsWindow' id='shortcuts'><property name='modal'>1"
      "</property><child><object class='GtkShortcutsSection'>"
      "<property name='section-name'>all</property><property name='max-height'>14</property>");
}

static void
end_group(GString *shortcuts) {
  if (strstr(shortcuts->str, "GtkShortcutsGroup")) g_string_append(shortcuts, GROUP_END);
}

void
td_shortcuts_add_group(GString *shortcuts, const char *title) {
  g_autofree char *safe = g_markup_escape_text(_(title), -1);
  end_group(shortcuts);
  g_string_append_printf(shortcuts,
                         "<child><object class='GtkShortcutsGroup'>"
                         "<property name='title'>%s</property>",
                         safe);
}

void
td_shortcuts_add(GString *shortcuts, const char *title, const char *keys) {
  g_auto(GStrv) all = g_strsplit(keys, " ", 2);
  g_autofree char *text =
      g_markup_printf_escaped("<child><object class='GtkShortcutsShortcut'>"
                              "<property name='title'>%s</property>"
                              "<property name='accelerator'>%s</property></object></child>",
                              _(title), all[0]);
  g_string_append(shortcuts, text);
}

void
td_shortcuts_show(GString *shortcuts, GtkWindow *parent) {
  for (guint i = 0; i < G_N_ELEMENTS(widget_keys); i++)
    if (widget_keys[i].keys)
      td_shortcuts_add(shortcuts, widget_keys[i].title, widget_keys[i].keys);
    else
      td_shortcuts_add_group(shortcuts, widget_keys[i].title);
  end_group(shortcuts);
  g_string_append(shortcuts, "</object></child></object></interface>");
  g_autoptr(GtkBuilder) builder =
      gtk_builder_new_from_string(shortcuts->str, (gssize)shortcuts->len);
  GtkWindow *window = GTK_WINDOW(gtk_builder_get_object(builder, "shortcuts"));
  gtk_window_set_transient_for(window, parent);
  gtk_window_present(window);
  g_string_free(shortcuts, TRUE);
}
