/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_link.h"

#include <glib/gi18n.h>

static void
add_range(GString *link, TdBrush *brush) {
  double from, to;
  if (td_brush_get(brush, &from, &to))
    g_string_append_printf(link, " --range %.0f:%.0f", from, MAX(to, from + 1));
}

/* To name a page is to show the side pane. */
static void
add_look(GString *link, TdTapeView *view) {
  TdPanes *panes = td_tape_view_get_panes(view);
  g_string_append_printf(link, " --layout %s", td_layout_name(panes->layout));
  if (gtk_widget_get_visible(panes->pane[TD_PANE_SIDE]))
    g_string_append_printf(link, " --page %s", td_tape_view_get_page(view));
}

static char *
make_link(TdPlayhead *playhead, TdTapeView *view) {
  uint64_t position = td_playhead_get_position(playhead);
  uint32_t node = td_playhead_get_selection(playhead);
  g_autofree char *path =
      g_canonicalize_filename(td_document_get_path(td_playhead_get_document(playhead)), NULL);
  g_autofree char *quoted = g_shell_quote(path);
  GString *link = g_string_new(NULL);
  g_string_printf(link, "tapedeck open %s", quoted);
  if (position > 0) g_string_append_printf(link, " --at %" G_GUINT64_FORMAT, position - 1);
  if (node != TD_NONE) g_string_append_printf(link, " --node %u", node);
  add_range(link, td_tape_view_get_brush(view));
  add_look(link, view);
  return g_string_free(link, FALSE);
}

void
td_window_copy_link(TdWindow *window) {
  g_autofree char *link =
      make_link(td_window_get_playhead(window), td_window_get_tape_view(window));
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(window)), link);
  td_window_say(window, _("Copied: a command that opens what you see"));
}
