/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/canvas_menu.h"

#include <glib/gi18n.h>

static GMenuModel *
picture_menu(void) {
  GMenu *menu = g_menu_new();
  g_menu_append(menu, _("_Save Picture…"), "picture.save");
  g_menu_append(menu, _("Copy _Picture"), "picture.copy");
  return G_MENU_MODEL(menu);
}

static void
make_popover(TdCanvasMenu *menu, GtkWidget *canvas) {
  menu->popover = gtk_popover_menu_new_from_model(NULL);
  gtk_popover_set_has_arrow(GTK_POPOVER(menu->popover), FALSE);
  gtk_widget_set_halign(menu->popover, GTK_ALIGN_START);
  gtk_widget_set_parent(menu->popover, canvas);
}

void
td_canvas_menu_clear(TdCanvasMenu *menu) {
  g_clear_pointer(&menu->popover, gtk_widget_unparent);
  g_clear_object(&menu->nodes);
}

void
td_canvas_menu_set_nodes(TdCanvasMenu *menu, GMenuModel *nodes) {
  g_autoptr(GMenuModel) picture = picture_menu();
  GMenu *both = g_menu_new();
  for (int i = 0; i < g_menu_model_get_n_items(nodes); i++) {
    g_autoptr(GMenuItem) item = g_menu_item_new_from_model(nodes, i);
    g_menu_append_item(both, item);
  }
  g_menu_append_section(both, NULL, picture);
  g_clear_object(&menu->nodes);
  menu->nodes = G_MENU_MODEL(both);
}

void
td_canvas_menu_open(TdCanvasMenu *menu, GtkWidget *canvas, double x, double y, gboolean is_node) {
  g_autoptr(GMenuModel) picture = picture_menu();
  if (!menu->popover) make_popover(menu, canvas);
  gtk_popover_menu_set_menu_model(GTK_POPOVER_MENU(menu->popover),
                                  is_node && menu->nodes ? menu->nodes : picture);
  gtk_popover_set_pointing_to(GTK_POPOVER(menu->popover), &(GdkRectangle){(int)x, (int)y, 1, 1});
  gtk_popover_popup(GTK_POPOVER(menu->popover));
}

void
td_canvas_menu_place(TdCanvasMenu *menu) {
  if (menu->popover) gtk_popover_present(GTK_POPOVER(menu->popover));
}
