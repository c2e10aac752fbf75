/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/canvas.h"

#include "ui/model/base/delay.h"
#include "ui/model/facts/accessible_text.h"
#include "ui/widgets/base/canvas_menu.h"
#include "ui/widgets/base/kept_picture.h"
#include "ui/widgets/base/laser.h"

#include <adwaita.h>
#include <math.h>

#define WHEEL_STEP_PIXELS 60
/* Of text at the desktop's ordinary size: 11 pt. What is smaller could not be read in a picture. */
#define TEXT_PIXELS (11 * 96 / 72.0)
#define LARGEST_UNIT 3
/* From a change to what a screen reader finds. Nobody can listen as fast as a tape plays. */
#define TELL_MS 200
#define TELL_PLAYING_MS 1000

typedef struct TdCanvasPrivate {
  TdPlayhead *playhead; /* (owned) */
  TdDocument *scene_of; /* (owned): whose "scene" we listen to */
  td_theme theme;
  double unit;            /* pixels: see Note [Units of a canvas] */
  td_label_cache *labels; /* (owned), made when first drawn */
  TdKeptPicture picture;
  double pointer_x, pointer_y;
  uint32_t hovered;
  char *description; /* (owned): last told */
  TdCanvasMenu menu;
  TdReader *reader; /* (child) or NULL */
  guint telling;    /* source, or 0 */
  uint32_t told_selection;
} TdCanvasPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(TdCanvas, td_canvas, GTK_TYPE_WIDGET)

static guint save_picture_signal, copy_picture_signal;

static TdCanvasPrivate *
private_of(TdCanvas *self) {
  return td_canvas_get_instance_private(self);
}

static void
take_colour(GtkStyleContext *context, const char *name, td_colour *colour) {
  GdkRGBA rgba;
  if (gtk_style_context_lookup_color(context, name, &rgba))
    *colour = (td_colour){rgba.red, rgba.green, rgba.blue, rgba.alpha};
}

/* The document comes before its scene: meanwhile the picture of another segment stays. */
static gboolean
waits_for_scene(TdCanvas *self) {
  TdDocument *document = td_canvas_get_document(self);
  return TD_CANVAS_GET_CLASS(self)->shows_scene && document && !td_document_get_scene(document);
}

void
td_canvas_repaint(TdCanvas *self) {
  if (!waits_for_scene(self)) td_kept_picture_drop(&private_of(self)->picture);
  gtk_widget_queue_draw(GTK_WIDGET(self));
  td_canvas_tell_soon(self);
}

static double
choose_unit(TdCanvas *self) {
  PangoContext *context = gtk_widget_get_pango_context(GTK_WIDGET(self));
  const PangoFontDescription *font = pango_context_get_font_description(context);
  double pixels = pango_font_description_get_size(font) / (double)PANGO_SCALE;
  if (!pango_font_description_get_size_is_absolute(font))
    pixels *= pango_cairo_context_get_resolution(context) / 72;
  return CLAMP(round(pixels / TEXT_PIXELS * 100) / 100, 1, LARGEST_UNIT);
}

static void
update_theme(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  GtkStyleContext *context = gtk_widget_get_style_context(GTK_WIDGET(self));
  AdwStyleManager *style = adw_style_manager_get_default();
  double unit = choose_unit(self);
  if (unit != priv->unit) gtk_widget_queue_resize(GTK_WIDGET(self));
  priv->unit = unit;
  priv->theme = *td_theme_default(adw_style_manager_get_dark(style));
  take_colour(context, "view_bg_color", &priv->theme.background);
  take_colour(context, "accent_color", &priv->theme.accent);
  if (adw_style_manager_get_high_contrast(style)) td_theme_raise_contrast(&priv->theme);
  g_clear_pointer(&priv->labels, td_label_cache_free);
  td_canvas_repaint(self);
}

static void
update(TdCanvas *self, TdCanvasChange change) {
  if (!td_canvas_get_document(self)) return;
  if (change == TD_CANVAS_SCENE || change == TD_CANVAS_POSITION) td_canvas_repaint(self);
  TD_CANVAS_GET_CLASS(self)->update(self, change);
  gtk_widget_queue_draw(GTK_WIDGET(self));
  td_canvas_tell_soon(self);
}

static void
scene_changed(TdCanvas *self) {
  update(self, TD_CANVAS_SCENE);
}

static void
position_changed(TdCanvas *self) {
  update(self, TD_CANVAS_POSITION);
}

static void
selection_changed(TdCanvas *self) {
  update(self, TD_CANVAS_SELECTION);
}

static void
span_changed(TdCanvas *self) {
  update(self, TD_CANVAS_SPAN);
}

static void
document_changed(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  if (priv->scene_of) g_signal_handlers_disconnect_by_data(priv->scene_of, self);
  g_set_object(&priv->scene_of, td_canvas_get_document(self));
  td_canvas_repaint(self);
  if (!priv->scene_of) return;
  g_signal_connect_swapped(priv->scene_of, "notify::scene", G_CALLBACK(scene_changed), self);
  priv->hovered = TD_NONE;
  scene_changed(self);
}

void
td_canvas_set_playhead(TdCanvas *self, TdPlayhead *playhead) {
  TdCanvasPrivate *priv = private_of(self);
  if (!g_set_object(&priv->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(position_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(selection_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "span-changed", G_CALLBACK(span_changed), self,
                          G_CONNECT_SWAPPED);
  document_changed(self);
}

TdPlayhead *
td_canvas_get_playhead(TdCanvas *self) {
  return private_of(self)->playhead;
}

TdDocument *
td_canvas_get_document(TdCanvas *self) {
  TdPlayhead *playhead = private_of(self)->playhead;
  return playhead ? td_playhead_get_document(playhead) : NULL;
}

const td_theme *
td_canvas_get_theme(TdCanvas *self) {
  return &private_of(self)->theme;
}

td_label_cache *
td_canvas_get_labels(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  if (!priv->labels) priv->labels = td_label_cache_new(&priv->theme);
  return priv->labels;
}

void
td_canvas_get_size(TdCanvas *self, double *width, double *height) {
  *width = td_canvas_units(self, gtk_widget_get_width(GTK_WIDGET(self)));
  *height = td_canvas_units(self, gtk_widget_get_height(GTK_WIDGET(self)));
}

double
td_canvas_units(TdCanvas *self, double pixels) {
  return pixels / private_of(self)->unit;
}

double
td_canvas_pixels(TdCanvas *self, double units) {
  return units * private_of(self)->unit;
}

uint32_t
td_canvas_get_hovered(TdCanvas *self) {
  return private_of(self)->hovered;
}

void
td_canvas_get_pointer(TdCanvas *self, double *x, double *y) {
  *x = private_of(self)->pointer_x;
  *y = private_of(self)->pointer_y;
}

void
td_canvas_describe(TdCanvas *self, const char *description) {
  TdCanvasPrivate *priv = private_of(self);
  if (g_strcmp0(priv->description, description) == 0) return;
  g_free(priv->description);
  priv->description = g_strdup(description);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                 description, -1);
}

double
td_canvas_scroll_units(GtkEventControllerScroll *controller, double delta) {
  GtkWidget *widget = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(controller));
  GdkScrollUnit unit = gtk_event_controller_scroll_get_unit(controller);
  double pixels = unit == GDK_SCROLL_UNIT_WHEEL ? delta * WHEEL_STEP_PIXELS : delta;
  return td_canvas_units(TD_CANVAS(widget), pixels);
}

static void
free_told(gpointer item) {
  g_free(((TdTold *)item)->text);
}

/* The selection may have moved while the focus was in the tree. */
static void
follow_selection(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  uint32_t selection = td_playhead_get_selection(priv->playhead);
  gboolean moved = selection != priv->told_selection;
  priv->told_selection = selection;
  if (moved && TD_CANVAS_GET_CLASS(self)->selects_by_keys && td_reader_has_focus(priv->reader))
    td_reader_focus_node(priv->reader, selection);
}

void
td_canvas_tell_now(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  if (!priv->reader || !td_canvas_get_document(self) || waits_for_scene(self)) return;
  g_clear_handle_id(&priv->telling, g_source_remove);
  g_autoptr(GArray) told = g_array_new(FALSE, FALSE, sizeof(TdTold));
  g_array_set_clear_func(told, free_told);
  TD_CANVAS_GET_CLASS(self)->tell(self, told);
  td_reader_show(priv->reader, told, td_playhead_get_selection(priv->playhead));
  follow_selection(self);
}

static gboolean
tell_cb(gpointer data) {
  private_of(data)->telling = 0;
  td_canvas_tell_now(data);
  return G_SOURCE_REMOVE;
}

void
td_canvas_tell_soon(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  if (!priv->reader || priv->telling) return;
  gboolean plays = priv->playhead && td_playhead_get_playing(priv->playhead);
  priv->telling = td_delay_add(plays ? TELL_PLAYING_MS : TELL_MS, tell_cb, self);
}

void
td_canvas_tell(TdCanvas *self, GArray *told, TdTold item) {
  double unit = private_of(self)->unit;
  graphene_rect_scale(&item.box, (float)unit, (float)unit, &item.box);
  g_array_append_val(told, item);
}

void
td_canvas_focus_selection(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  td_canvas_tell_now(self);
  td_reader_focus_node(priv->reader, td_playhead_get_selection(priv->playhead));
}

static gboolean
reader_key(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
           gpointer data) {
  int direction = (key == GDK_KEY_Down) - (key == GDK_KEY_Up);
  if (key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) td_reader_choose(private_of(data)->reader);
  if (!direction || state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK))
    return GDK_EVENT_PROPAGATE;
  td_reader_step(private_of(data)->reader, direction);
  return GDK_EVENT_STOP;
}

static void
item_chosen(TdCanvas *self, guint node) {
  td_playhead_set_selection(private_of(self)->playhead, node);
}

void
td_canvas_add_reader(TdCanvas *self, const char *title) {
  TdReader *reader = td_reader_new(title);
  private_of(self)->reader = reader;
  gtk_widget_set_parent(GTK_WIDGET(reader), GTK_WIDGET(self));
  g_signal_connect_swapped(reader, "chosen", G_CALLBACK(item_chosen), self);
  gtk_widget_set_focusable(GTK_WIDGET(self), TRUE);
  if (TD_CANVAS_GET_CLASS(self)->selects_by_keys) return;
  GtkEventController *key = gtk_event_controller_key_new();
  g_signal_connect(key, "key-pressed", G_CALLBACK(reader_key), self);
  gtk_widget_add_controller(GTK_WIDGET(self), key);
}

/* A hand over a node, unless the window has a pointer of its own. */
static void
show_pointer(TdCanvas *self) {
  bool is_hand = private_of(self)->hovered != TD_NONE && !td_laser_is_on(GTK_WIDGET(self));
  gtk_widget_set_cursor_from_name(GTK_WIDGET(self), is_hand ? "pointer" : NULL);
}

static void
set_hovered(TdCanvas *self, uint32_t node) {
  TdCanvasPrivate *priv = private_of(self);
  if (node == priv->hovered) return;
  priv->hovered = node;
  show_pointer(self);
  gtk_widget_trigger_tooltip_query(GTK_WIDGET(self));
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void
pointer_moved(TdCanvas *self, double x, double y) {
  TdCanvasPrivate *priv = private_of(self);
  priv->pointer_x = td_canvas_units(self, x);
  priv->pointer_y = td_canvas_units(self, y);
  if (td_canvas_get_document(self))
    set_hovered(self, TD_CANVAS_GET_CLASS(self)->node_at(self, priv->pointer_x, priv->pointer_y));
}

static void
pointer_left(TdCanvas *self) {
  set_hovered(self, TD_NONE);
}

void
td_canvas_set_menu(TdCanvas *self, GMenuModel *menu) {
  td_canvas_menu_set_nodes(&private_of(self)->menu, menu);
}

static void
menu_pressed(GtkGestureClick *click, int n, double x, double y, gpointer data) {
  TdCanvas *self = data;
  TdCanvasPrivate *priv = private_of(self);
  if (!td_canvas_get_document(self)) return;
  uint32_t node =
      TD_CANVAS_GET_CLASS(self)->node_at(self, td_canvas_units(self, x), td_canvas_units(self, y));
  gtk_gesture_set_state(GTK_GESTURE(click), GTK_EVENT_SEQUENCE_CLAIMED);
  if (node != TD_NONE && priv->menu.nodes) td_playhead_set_selection(priv->playhead, node);
  td_canvas_menu_open(&priv->menu, GTK_WIDGET(self), x, y, node != TD_NONE);
}

static gboolean
menu_key(GtkWidget *widget, GVariant *arguments, gpointer data) {
  TdCanvasPrivate *priv = private_of(TD_CANVAS(widget));
  if (!td_canvas_get_document(TD_CANVAS(widget))) return FALSE;
  td_canvas_menu_open(&priv->menu, widget, gtk_widget_get_width(widget) / 2.0,
                      gtk_widget_get_height(widget) / 2.0,
                      td_playhead_get_selection(priv->playhead) != TD_NONE);
  return TRUE;
}

/* ---- the picture as a file ---- */

gboolean
td_canvas_has_picture(TdCanvas *self) {
  return td_canvas_get_document(self) && !waits_for_scene(self);
}

void
td_canvas_paint(TdCanvas *self, cairo_t *cr) {
  TdCanvasPrivate *priv = private_of(self);
  uint32_t hovered = priv->hovered;
  priv->hovered = TD_NONE;
  cairo_save(cr);
  cairo_scale(cr, priv->unit, priv->unit);
  TD_CANVAS_GET_CLASS(self)->draw(self, cr);
  TD_CANVAS_GET_CLASS(self)->draw_over(self, cr);
  cairo_restore(cr);
  priv->hovered = hovered;
}

static void
picture_action(GtkWidget *widget, const char *action, GVariant *parameter) {
  gboolean copies = strcmp(action, "picture.copy") == 0;
  g_signal_emit(widget, copies ? copy_picture_signal : save_picture_signal, 0);
}

static gboolean
td_canvas_query_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip) {
  TdCanvas *self = TD_CANVAS(widget);
  if (keyboard || !td_canvas_get_document(self)) return FALSE;
  uint32_t node =
      TD_CANVAS_GET_CLASS(self)->node_at(self, td_canvas_units(self, x), td_canvas_units(self, y));
  if (node == TD_NONE) return FALSE;
  g_autofree char *text = td_accessible_node_whole(td_canvas_get_document(self), node);
  gtk_tooltip_set_text(tooltip, text);
  return TRUE;
}

static void
draw_picture(GtkWidget *widget, cairo_t *cr) {
  TdCanvas *self = TD_CANVAS(widget);
  cairo_scale(cr, private_of(self)->unit, private_of(self)->unit);
  TD_CANVAS_GET_CLASS(self)->draw(self, cr);
}

static void
draw_over(GtkWidget *widget, cairo_t *cr) {
  TdCanvas *self = TD_CANVAS(widget);
  cairo_scale(cr, private_of(self)->unit, private_of(self)->unit);
  TD_CANVAS_GET_CLASS(self)->draw_over(self, cr);
}

static void
td_canvas_snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
  TdCanvas *self = TD_CANVAS(widget);
  TdCanvasPrivate *priv = private_of(self);
  if (!td_canvas_get_document(self)) return;
  gboolean waits = waits_for_scene(self);
  if (!td_kept_picture_append(&priv->picture, widget, waits ? NULL : draw_picture, snapshot))
    return;
  if (!waits) td_append_ink(widget, draw_over, snapshot);
  if (priv->reader) gtk_widget_snapshot_child(widget, GTK_WIDGET(priv->reader), snapshot);
}

/* GTK keeps the nodes of a widget that is only scrolled: the canvas must ask to be drawn. */
static void
td_canvas_root(GtkWidget *widget) {
  GTK_WIDGET_CLASS(td_canvas_parent_class)->root(widget);
  g_signal_connect_object(gtk_widget_get_root(widget), "notify::cursor", G_CALLBACK(show_pointer),
                          widget, G_CONNECT_SWAPPED);
  GtkWidget *scroller = gtk_widget_get_ancestor(widget, GTK_TYPE_SCROLLED_WINDOW);
  if (!scroller) return;
  GtkAdjustment *down = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scroller));
  g_signal_connect_object(down, "value-changed", G_CALLBACK(gtk_widget_queue_draw), widget,
                          G_CONNECT_SWAPPED);
}

static void
td_canvas_size_allocate(GtkWidget *widget, int width, int height, int baseline) {
  TdCanvasPrivate *priv = private_of(TD_CANVAS(widget));
  td_canvas_menu_place(&priv->menu);
  if (!priv->reader) return;
  gtk_widget_size_allocate(GTK_WIDGET(priv->reader), &(GtkAllocation){0, 0, width, height}, -1);
  td_canvas_tell_soon(TD_CANVAS(widget));
}

static void
td_canvas_css_changed(GtkWidget *widget, GtkCssStyleChange *change) {
  GTK_WIDGET_CLASS(td_canvas_parent_class)->css_changed(widget, change);
  update_theme(TD_CANVAS(widget));
}

/* For the key Tab, a canvas and its reader are one. */
static gboolean
td_canvas_focus(GtkWidget *widget, GtkDirectionType direction) {
  TdReader *reader = private_of(TD_CANVAS(widget))->reader;
  if (gtk_widget_is_focus(widget) || (reader && td_reader_has_focus(reader))) return FALSE;
  return gtk_widget_get_focusable(widget) && gtk_widget_grab_focus(widget);
}

static void
td_canvas_dispose(GObject *object) {
  TdCanvasPrivate *priv = private_of(TD_CANVAS(object));
  if (priv->scene_of) g_signal_handlers_disconnect_by_data(priv->scene_of, object);
  g_clear_object(&priv->scene_of);
  g_clear_object(&priv->playhead);
  td_canvas_menu_clear(&priv->menu);
  g_clear_handle_id(&priv->telling, g_source_remove);
  if (priv->reader) gtk_widget_unparent(GTK_WIDGET(priv->reader));
  priv->reader = NULL;
  g_clear_pointer(&priv->labels, td_label_cache_free);
  td_kept_picture_drop(&priv->picture);
  g_clear_pointer(&priv->description, g_free);
  G_OBJECT_CLASS(td_canvas_parent_class)->dispose(object);
}

static void
td_canvas_class_init(TdCanvasClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_canvas_dispose;
  widget_class->root = td_canvas_root;
  widget_class->snapshot = td_canvas_snapshot;
  widget_class->size_allocate = td_canvas_size_allocate;
  widget_class->query_tooltip = td_canvas_query_tooltip;
  widget_class->css_changed = td_canvas_css_changed;
  widget_class->focus = td_canvas_focus;
  gtk_widget_class_add_binding(widget_class, GDK_KEY_Menu, 0, menu_key, NULL);
  gtk_widget_class_add_binding(widget_class, GDK_KEY_F10, GDK_SHIFT_MASK, menu_key, NULL);
  gtk_widget_class_install_action(widget_class, "picture.save", NULL, picture_action);
  gtk_widget_class_install_action(widget_class, "picture.copy", NULL, picture_action);
  save_picture_signal = g_signal_new("save-picture", TD_TYPE_CANVAS, G_SIGNAL_RUN_LAST, 0, NULL,
                                     NULL, NULL, G_TYPE_NONE, 0);
  copy_picture_signal = g_signal_new("copy-picture", TD_TYPE_CANVAS, G_SIGNAL_RUN_LAST, 0, NULL,
                                     NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_css_name(widget_class, "tdcanvas");
  gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
td_canvas_init(TdCanvas *self) {
  TdCanvasPrivate *priv = private_of(self);
  priv->hovered = priv->told_selection = TD_NONE;
  priv->unit = 1;
  gtk_widget_set_has_tooltip(GTK_WIDGET(self), TRUE);
  gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
  GtkEventController *motion = gtk_event_controller_motion_new();
  g_signal_connect_swapped(motion, "motion", G_CALLBACK(pointer_moved), self);
  g_signal_connect_swapped(motion, "leave", G_CALLBACK(pointer_left), self);
  gtk_widget_add_controller(GTK_WIDGET(self), motion);
  GtkGesture *click = gtk_gesture_click_new();
  gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), GDK_BUTTON_SECONDARY);
  g_signal_connect(click, "pressed", G_CALLBACK(menu_pressed), self);
  gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(click));
  AdwStyleManager *style = adw_style_manager_get_default();
  g_signal_connect_object(style, "notify::dark", G_CALLBACK(update_theme), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(style, "notify::high-contrast", G_CALLBACK(update_theme), self,
                          G_CONNECT_SWAPPED);
}
