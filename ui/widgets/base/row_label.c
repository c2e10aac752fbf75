/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/row_label.h"

#define N_KNOWN_LETTERS 256
#define UNKNOWN (-1)

struct _TdRowLabel {
  GtkWidget parent_instance;
  char *text;          /* (owned) */
  PangoLayout *layout; /* (owned), NULL: as soon as somebody needs it */
  PangoEllipsizeMode cut;
  guint lines, chars;
  gboolean is_number;
};

G_DEFINE_FINAL_TYPE(TdRowLabel, td_row_label, GTK_TYPE_WIDGET)

/* ---- the letters of a font ----
 * One line is as high as its font, and as wide as its letters together. */

typedef struct Font {
  PangoFontDescription *description; /* (owned) */
  double resolution;
  int height, width; /* pixels: of a line, of a letter on average */
  int widths[N_KNOWN_LETTERS];
} Font;

static GPtrArray *fonts; /* of Font: as many as style.css has for rows */

static Font *
font_new(PangoContext *context) {
  PangoFontMetrics *metrics = pango_context_get_metrics(context, NULL, NULL);
  Font *font = g_new(Font, 1);
  font->description = pango_font_description_copy(pango_context_get_font_description(context));
  font->resolution = pango_cairo_context_get_resolution(context);
  font->height = PANGO_PIXELS_CEIL(pango_font_metrics_get_ascent(metrics)) +
                 PANGO_PIXELS_CEIL(pango_font_metrics_get_descent(metrics));
  font->width = PANGO_PIXELS_CEIL(MAX(pango_font_metrics_get_approximate_char_width(metrics),
                                      pango_font_metrics_get_approximate_digit_width(metrics)));
  pango_font_metrics_unref(metrics);
  for (guint i = 0; i < N_KNOWN_LETTERS; i++)
    font->widths[i] = UNKNOWN;
  g_ptr_array_add(fonts, font);
  return font;
}

static Font *
font_of(TdRowLabel *self) {
  PangoContext *context = gtk_widget_get_pango_context(GTK_WIDGET(self));
  const PangoFontDescription *description = pango_context_get_font_description(context);
  double resolution = pango_cairo_context_get_resolution(context);
  if (!fonts) fonts = g_ptr_array_new();
  for (guint i = 0; i < fonts->len; i++) {
    Font *font = g_ptr_array_index(fonts, i);
    if (font->resolution == resolution &&
        pango_font_description_equal(font->description, description))
      return font;
  }
  return font_new(context);
}

/* ---- the layout ---- */

static void
drop_layout(TdRowLabel *self) {
  g_clear_object(&self->layout);
}

static PangoLayout *
make_layout(TdRowLabel *self, const char *text) {
  PangoLayout *layout = gtk_widget_create_pango_layout(GTK_WIDGET(self), text);
  g_autoptr(PangoAttrList) attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
  if (self->is_number) pango_attr_list_insert(attributes, pango_attr_font_features_new("tnum=1"));
  pango_layout_set_attributes(layout, attributes);
  pango_layout_set_ellipsize(layout, self->cut);
  if (self->lines == 1)
    pango_layout_set_single_paragraph_mode(layout, TRUE);
  else
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  if (self->lines > 1) pango_layout_set_height(layout, -(int)self->lines);
  return layout;
}

static PangoLayout *
layout_for(TdRowLabel *self, int width) {
  if (!self->layout) self->layout = make_layout(self, self->text);
  pango_layout_set_width(self->layout, width < 0 ? -1 : width * PANGO_SCALE);
  return self->layout;
}

/* ---- sizes ---- */

static int
letter_width(TdRowLabel *self, Font *font, guchar letter) {
  if (font->widths[letter] != UNKNOWN) return font->widths[letter];
  char text[8] = {0};
  g_unichar_to_utf8(letter, text);
  g_autoptr(PangoLayout) layout = make_layout(self, text);
  pango_layout_get_size(layout, &font->widths[letter], NULL);
  return font->widths[letter];
}

/* Pixels of one line; 0 if it has letters that may come from another font. */
static int
width_of_letters(TdRowLabel *self) {
  Font *font = font_of(self);
  int width = 0;
  for (const char *at = self->text; *at; at = g_utf8_next_char(at)) {
    gunichar letter = g_utf8_get_char(at);
    if (letter >= N_KNOWN_LETTERS) return 0;
    width += letter_width(self, font, (guchar)letter);
  }
  return PANGO_PIXELS_CEIL(width);
}

static int
width_of_line(TdRowLabel *self) {
  int width = width_of_letters(self);
  if (!width && *self->text) pango_layout_get_pixel_size(layout_for(self, -1), &width, NULL);
  return width;
}

static int
height_for(TdRowLabel *self, int width) {
  int height;
  if (self->lines == 1 && (!*self->text || width_of_letters(self))) return font_of(self)->height;
  pango_layout_get_pixel_size(layout_for(self, width), NULL, &height);
  return height;
}

static void
td_row_label_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                     int *natural, int *minimum_baseline, int *natural_baseline) {
  TdRowLabel *self = TD_ROW_LABEL(widget);
  gboolean fits = self->lines == 1 && self->cut == PANGO_ELLIPSIZE_NONE;
  int least = self->chars ? (int)self->chars * font_of(self)->width : 0;
  if (orientation == GTK_ORIENTATION_VERTICAL)
    *minimum = *natural = height_for(self, for_size);
  else
    *minimum = *natural = MAX(least, fits ? width_of_line(self) : 0);
}

static GtkSizeRequestMode
td_row_label_get_request_mode(GtkWidget *widget) {
  return TD_ROW_LABEL(widget)->lines == 1 ? GTK_SIZE_REQUEST_CONSTANT_SIZE
                                          : GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
td_row_label_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  TdRowLabel *self = TD_ROW_LABEL(widget);
  int room = gtk_widget_get_width(widget), width;
  PangoLayout *layout = layout_for(self, room);
  pango_layout_get_pixel_size(layout, &width, NULL);
  gboolean right = self->is_number != (gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL);
  gtk_snapshot_render_layout(snapshot, gtk_widget_get_style_context(widget),
                             right ? MAX(0, room - width) : 0, 0, layout);
}

/* ---- what changes it ---- */

static void
td_row_label_css_changed(GtkWidget *widget, GtkCssStyleChange *change) {
  GTK_WIDGET_CLASS(td_row_label_parent_class)->css_changed(widget, change);
  drop_layout(TD_ROW_LABEL(widget));
}

static void
td_row_label_system_setting_changed(GtkWidget *widget, GtkSystemSetting setting) {
  GTK_WIDGET_CLASS(td_row_label_parent_class)->system_setting_changed(widget, setting);
  drop_layout(TD_ROW_LABEL(widget));
  gtk_widget_queue_resize(widget);
}

void
td_row_label_set(TdRowLabel *self, const char *text) {
  if (g_str_equal(self->text, text)) return;
  g_free(self->text);
  self->text = g_strdup(text);
  drop_layout(self);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_queue_resize(GTK_WIDGET(self));
}

void
td_row_label_set_cut(TdRowLabel *self, PangoEllipsizeMode cut) {
  if (self->cut == cut) return;
  self->cut = cut;
  drop_layout(self);
  gtk_widget_queue_resize(GTK_WIDGET(self));
}

void
td_row_label_set_number(TdRowLabel *self) {
  self->is_number = TRUE;
  drop_layout(self);
}

void
td_row_label_set_chars(TdRowLabel *self, guint chars) {
  self->chars = chars;
  gtk_widget_queue_resize(GTK_WIDGET(self));
}

const char *
td_row_label_get(TdRowLabel *self) {
  return self->text;
}

GtkWidget *
td_row_label_new(guint lines, PangoEllipsizeMode cut) {
  TdRowLabel *self = g_object_new(TD_TYPE_ROW_LABEL, NULL);
  self->lines = lines;
  self->cut = cut;
  return GTK_WIDGET(self);
}

static void
td_row_label_finalize(GObject *object) {
  drop_layout(TD_ROW_LABEL(object));
  g_free(TD_ROW_LABEL(object)->text);
  G_OBJECT_CLASS(td_row_label_parent_class)->finalize(object);
}

static void
td_row_label_class_init(TdRowLabelClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->finalize = td_row_label_finalize;
  widget_class->measure = td_row_label_measure;
  widget_class->get_request_mode = td_row_label_get_request_mode;
  widget_class->snapshot = td_row_label_snapshot;
  widget_class->css_changed = td_row_label_css_changed;
  widget_class->system_setting_changed = td_row_label_system_setting_changed;
  gtk_widget_class_set_css_name(widget_class, "label");
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_LABEL);
}

static void
td_row_label_init(TdRowLabel *self) {
  self->text = g_strdup("");
  gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
}
