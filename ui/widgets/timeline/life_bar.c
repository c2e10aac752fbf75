/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/timeline/life_bar.h"

#include "ui/draw/life_picture.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_lives.h"
#include "ui/model/facts/life_words.h"
#include "ui/widgets/base/wrapped.h"

#include <glib/gi18n.h>

#define HEIGHT 14

struct _TdLifeBar {
  GtkBox parent_instance;
  GtkDrawingArea *bar;
  GtkLabel *heading, *legend;
  uint64_t parts[TD_N_LIFE_PARTS];
};

G_DEFINE_FINAL_TYPE(TdLifeBar, td_life_bar, GTK_TYPE_BOX)

static const td_theme *
theme_now(void) {
  return td_theme_default(adw_style_manager_get_dark(adw_style_manager_get_default()));
}

static void
draw(GtkDrawingArea *bar, cairo_t *cr, int width, int height, gpointer data) {
  td_life_draw(cr, width, height, TD_LIFE_BAR(data)->parts, theme_now());
}

static void
append_part(GString *text, td_life_part part, uint64_t ns) {
  td_colour colour = td_life_colour(part, theme_now());
  g_autofree char *time = td_format_ns((double)ns);
  g_autofree char *title = g_markup_escape_text(td_life_part_title(part), -1);
  g_string_append_printf(text, "%s<span foreground='#%02x%02x%02x'>■</span> %s %s",
                         text->len ? "\n" : "", (guint)(255 * colour.r), (guint)(255 * colour.g),
                         (guint)(255 * colour.b), title, time);
}

/* What takes no time needs no line; what nobody knows does. */
static char *
dup_legend(const TdNodeLife *life) {
  GString *text = g_string_new(NULL);
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    if (life->parts[part]) append_part(text, (td_life_part)part, life->parts[part]);
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    if (!life->is_known[part])
      g_string_append_printf(text, "\n– %s: %s", td_life_part_title((td_life_part)part),
                             td_life_part_reason((td_life_part)part));
  return g_string_free(text, FALSE);
}

static void
show_life(TdLifeBar *self, const TdNodeLife *life) {
  memcpy(self->parts, life->parts, sizeof self->parts);
  g_autofree char *time = td_format_ns((double)life->sum);
  g_autofree char *heading = g_strdup_printf(_("Life in this pass: %s"), time);
  g_autofree char *legend = dup_legend(life);
  gtk_label_set_text(self->heading, heading);
  gtk_widget_set_tooltip_text(GTK_WIDGET(self->heading),
                              life->were_observed ? _("These times were observed.")
                                                  : _("These times follow from other events."));
  gtk_label_set_markup(self->legend, legend);
  gtk_widget_set_visible(GTK_WIDGET(self->bar), life->sum > 0);
  gtk_widget_queue_draw(GTK_WIDGET(self->bar));
}

void
td_life_bar_show(TdLifeBar *self, TdDocument *document, uint32_t node) {
  TdNodeLife life;
  gboolean is_known = node != TD_NONE && td_document_want_life(document, node, &life);
  gtk_widget_set_visible(GTK_WIDGET(self), is_known);
  if (is_known) show_life(self, &life);
}

static void
td_life_bar_class_init(TdLifeBarClass *klass) {
}

static GtkLabel *
add_label(TdLifeBar *self, const char *css_class) {
  GtkLabel *label = GTK_LABEL(gtk_label_new(NULL));
  gtk_label_set_xalign(label, 0);
  gtk_label_set_wrap(label, TRUE);
  td_wrapped_fix(GTK_WIDGET(label), 12);
  gtk_label_set_selectable(label, TRUE);
  gtk_widget_add_css_class(GTK_WIDGET(label), css_class);
  gtk_box_append(GTK_BOX(self), GTK_WIDGET(label));
  return label;
}

static void
td_life_bar_init(TdLifeBar *self) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(self), 6);
  gtk_widget_add_css_class(GTK_WIDGET(self), "life");
  self->heading = add_label(self, "heading");
  self->bar = GTK_DRAWING_AREA(gtk_drawing_area_new());
  gtk_drawing_area_set_content_height(self->bar, HEIGHT);
  gtk_drawing_area_set_draw_func(self->bar, draw, self, NULL);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self->bar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Life of the node"), -1);
  gtk_box_append(GTK_BOX(self), GTK_WIDGET(self->bar));
  self->legend = add_label(self, "fact-more");
  gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}
