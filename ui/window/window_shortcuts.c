/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_shortcuts.h"

#include <glib/gi18n.h>

#define GROUP_BEGIN "<child><object class='GtkShortcutsGroup'>"
#define GROUP_END "</object></child>"
#define SECTION_BEGIN "<child><object class='GtkShortcutsSection'>"

/* Of a group and of a column at most. A longer group is higher than a small screen. GTK 4.8 mixes
 * up the pages of a section, so each section has two columns at most. */
#define ROWS 14
#define COLUMN_ROWS "16"

struct TdShortcuts {
  GString *text; /* (owned) */
  guint n_rows;  /* of the last group */
  guint n_sections;
  gboolean has_group;
};

/* Keys of widgets that have the focus. A line without keys begins a group. */
typedef struct Line {
  const char *title, *keys;
} Line;

static const Line graph_keys[] = {
    {N_("In the Graph"), NULL},
    {N_("Select the node where the gradient goes next"), "Down"},
    {N_("Select the node from which the gradient comes"), "Up"},
    {N_("Select the node to the left in the same layer"), "<Control>Left"},
    {N_("Select the node to the right in the same layer"), "<Control>Right"},
};

static const Line widget_keys[] = {
    {N_("Open the menu of the selected node"), "Menu <Shift>F10"},
    {N_("In the Queues and the Timeline"), NULL},
    {N_("Read the next task or lane"), "Down"},
    {N_("Read the task or lane before"), "Up"},
    {N_("Select its node"), "Return"},
    {N_("Zoom the timeline in or out"), "w s"},
    {N_("Move the timeline back or on"), "a d"},
    {N_("In the List of Events"), NULL},
    {N_("Go to the event above"), "Up"},
    {N_("Go to the event below"), "Down"},
    {N_("Go ten events up"), "Page_Up"},
    {N_("Go ten events down"), "Page_Down"},
    {N_("Copy the selected event"), "<Control>c"},
    {N_("In a Table"), NULL},
    {N_("Copy the selected row"), "<Control>c"},
    {N_("Copy the whole table"), "<Control><Shift>c"},
    {N_("In the Strip of the Whole Tape"), NULL},
    {N_("Go back by a hundredth of the tape"), "Down"},
    {N_("Go on by a hundredth of the tape"), "Up"},
    {N_("Go to the segment before"), "Page_Up"},
    {N_("Go to the next segment"), "Page_Down"},
    {N_("In the Picture of the Memory"), NULL},
    {N_("Go back in time"), "Down"},
    {N_("Go on in time"), "Up"},
    {N_("Everywhere"), NULL},
    {N_("Leave a list"), "Tab"},
};

TdShortcuts *
td_shortcuts_new(void) {
  TdShortcuts *self = g_new0(TdShortcuts, 1);
  self->text = g_string_new("<interface><object class='GtkShortcutsWindow' id='shortcuts'>"
                            "<property name='modal'>1</property>");
  return self;
}

static void
end_group(TdShortcuts *self) {
  if (self->has_group) g_string_append(self->text, GROUP_END);
  self->has_group = FALSE;
}

static void
begin_group(TdShortcuts *self) {
  end_group(self);
  g_string_append(self->text, GROUP_BEGIN);
  self->has_group = TRUE;
  self->n_rows = 0;
}

static void
end_section(TdShortcuts *self) {
  end_group(self);
  if (self->n_sections) g_string_append(self->text, "</object></child>");
}

void
td_shortcuts_add_section(TdShortcuts *self, const char *title) {
  end_section(self);
  g_autofree char *begin = g_markup_printf_escaped(
      SECTION_BEGIN "<property name='section-name'>%u</property>"
                    "<property name='title'>%s</property>"
                    "<property name='max-height'>" COLUMN_ROWS "</property>",
      ++self->n_sections, _(title));
  g_string_append(self->text, begin);
}

void
td_shortcuts_add_group(TdShortcuts *self, const char *title) {
  g_autofree char *safe = g_markup_printf_escaped("<property name='title'>%s</property>", _(title));
  begin_group(self);
  g_string_append(self->text, safe);
}

void
td_shortcuts_add(TdShortcuts *self, const char *title, const char *keys) {
  g_auto(GStrv) all = g_strsplit(keys, " ", 2);
  g_autofree char *text =
      g_markup_printf_escaped("<child><object class='GtkShortcutsShortcut'>"
                              "<property name='title'>%s</property>"
                              "<property name='accelerator'>%s</property></object></child>",
                              _(title), all[0]);
  if (self->n_rows == ROWS) begin_group(self);
  g_string_append(self->text, text);
  self->n_rows++;
}

static void
add_lines(TdShortcuts *shortcuts, const Line *lines, guint n) {
  for (guint i = 0; i < n; i++)
    if (lines[i].keys)
      td_shortcuts_add(shortcuts, lines[i].title, lines[i].keys);
    else
      td_shortcuts_add_group(shortcuts, lines[i].title);
}

void
td_shortcuts_add_graph(TdShortcuts *shortcuts) {
  add_lines(shortcuts, graph_keys, G_N_ELEMENTS(graph_keys));
}

void
td_shortcuts_add_widgets(TdShortcuts *shortcuts) {
  td_shortcuts_add_section(shortcuts, N_("In Each Pane"));
  td_shortcuts_add_graph(shortcuts);
  add_lines(shortcuts, widget_keys, G_N_ELEMENTS(widget_keys));
}

void
td_shortcuts_show(TdShortcuts *shortcuts, GtkWindow *parent) {
  end_section(shortcuts);
  g_string_append(shortcuts->text, "</object></interface>");
  g_autoptr(GtkBuilder) builder =
      gtk_builder_new_from_string(shortcuts->text->str, (gssize)shortcuts->text->len);
  GtkWindow *window = GTK_WINDOW(gtk_builder_get_object(builder, "shortcuts"));
  g_object_set(window, "section-name", "1", NULL);
  gtk_window_set_transient_for(window, parent);
  gtk_window_present(window);
  g_string_free(shortcuts->text, TRUE);
  g_free(shortcuts);
}
