/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/timeline/queues_canvas.h"

#include "ui/draw/queues_picture.h"
#include "ui/geometry/format.h"
#include "ui/model/facts/accessible_text.h"

#include <glib/gi18n.h>
#include <math.h>

/* See Note [What the tree has]. */
#define MAX_QUEUES_TOLD 8
#define MAX_TASKS_TOLD 8

struct _TdQueuesCanvas {
  TdCanvas parent_instance;
  double scroll_x;
  gboolean is_short;
};

G_DEFINE_FINAL_TYPE(TdQueuesCanvas, td_queues_canvas, TD_TYPE_CANVAS)

static td_queues_view
make_view(TdCanvas *canvas) {
  td_queues_view view = {.scroll_x = TD_QUEUES_CANVAS(canvas)->scroll_x,
                         .is_short = TD_QUEUES_CANVAS(canvas)->is_short,
                         .selected = td_playhead_get_selection(td_canvas_get_playhead(canvas))};
  td_canvas_get_size(canvas, &view.width, &view.height);
  return view;
}

static void
td_queues_canvas_draw(TdCanvas *canvas, cairo_t *cr) {
  TdDocument *document = td_canvas_get_document(canvas);
  td_queues_view view = make_view(canvas);
  td_queues_draw(cr, td_document_get_catalog(document), td_document_get_state(document), &view,
                 td_canvas_get_theme(canvas), td_canvas_get_labels(canvas));
}

static void
td_queues_canvas_draw_over(TdCanvas *canvas, cairo_t *cr) {
  TdDocument *document = td_canvas_get_document(canvas);
  td_queues_view view = make_view(canvas);
  td_queues_draw_over(cr, td_document_get_catalog(document), td_document_get_state(document), &view,
                      td_canvas_get_theme(canvas));
}

static uint32_t
td_queues_canvas_node_at(TdCanvas *canvas, double x, double y) {
  TdDocument *document = td_canvas_get_document(canvas);
  td_queues_view view = make_view(canvas);
  return td_queues_hit(td_document_get_catalog(document), td_document_get_state(document), &view, x,
                       y);
}

static void
describe(TdCanvas *canvas) {
  g_autofree char *text = td_accessible_queues(td_canvas_get_document(canvas));
  td_canvas_describe(canvas, text);
}

static void
tell(TdCanvas *canvas, GArray *told, char *text, guint level, guint64 key, uint32_t node,
     td_box box) {
  TdTold item = {
      text, level, key, node,
      GRAPHENE_RECT_INIT((float)box.x, (float)box.y, (float)box.width, (float)box.height)};
  td_canvas_tell(canvas, told, item);
}

/* The tasks that would be popped first, and how many there are besides. */
static void
tell_tasks(TdCanvas *canvas, GArray *told, const td_queues_view *view, uint32_t queue) {
  TdDocument *document = td_canvas_get_document(canvas);
  const td_catalog *catalog = td_document_get_catalog(document);
  uint32_t n = td_state_queue(td_document_get_state(document), queue)->n;
  TdAccessibleTask tasks[MAX_TASKS_TOLD];
  uint32_t n_told = td_accessible_tasks(document, queue, MAX_TASKS_TOLD, tasks);
  for (uint32_t i = 0; i < n_told; i++)
    tell(canvas, told, tasks[i].text, 2, tasks[i].node, tasks[i].node,
         td_queues_card_box(catalog, view, queue, (int)i));
  if (n > n_told)
    tell(canvas, told, td_accessible_more(n - n_told), 2, TD_ACCESSIBLE_MORE, TD_NONE,
         td_queues_card_box(catalog, view, queue, (int)n_told));
}

static void
tell_queue(TdCanvas *canvas, GArray *told, const td_queues_view *view, uint32_t queue) {
  TdDocument *document = td_canvas_get_document(canvas);
  const td_catalog *catalog = td_document_get_catalog(document);
  char *last = td_accessible_last(document, queue);
  tell(canvas, told, td_accessible_queue(document, queue), 1, queue, TD_NONE,
       td_queues_strip_box(catalog, view, queue));
  if (last)
    tell(canvas, told, last, 2, TD_ACCESSIBLE_LAST,
         td_state_queue(td_document_get_state(document), queue)->last_node,
         td_queues_card_box(catalog, view, queue, -1));
  tell_tasks(canvas, told, view, queue);
}

static void
td_queues_canvas_tell(TdCanvas *canvas, GArray *told) {
  const td_catalog *catalog = td_document_get_catalog(td_canvas_get_document(canvas));
  td_queues_view view = make_view(canvas);
  for (uint32_t i = 0; i < MIN(catalog->n_queues, MAX_QUEUES_TOLD); i++)
    tell_queue(canvas, told, &view, i);
  if (catalog->n_queues > MAX_QUEUES_TOLD)
    tell(canvas, told, td_accessible_more(catalog->n_queues - MAX_QUEUES_TOLD), 1,
         TD_ACCESSIBLE_MORE, TD_NONE, td_queues_strip_box(catalog, &view, MAX_QUEUES_TOLD));
}

static void
td_queues_canvas_update(TdCanvas *canvas, TdCanvasChange change) {
  if (change == TD_CANVAS_SCENE) {
    TD_QUEUES_CANVAS(canvas)->scroll_x = 0;
    gtk_widget_queue_resize(GTK_WIDGET(canvas));
  }
  describe(canvas);
}

int
td_queues_canvas_get_needed(TdQueuesCanvas *self) {
  TdDocument *document = td_canvas_get_document(TD_CANVAS(self));
  if (!document) return 0;
  double height = td_queues_height(td_document_get_catalog(document), self->is_short);
  return (int)ceil(td_canvas_pixels(TD_CANVAS(self), height));
}

void
td_queues_canvas_set_short(TdQueuesCanvas *self, gboolean is_short) {
  if (self->is_short == is_short) return;
  self->is_short = is_short;
  gtk_widget_queue_resize(GTK_WIDGET(self));
  td_canvas_repaint(TD_CANVAS(self));
}

static void
td_queues_canvas_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                         int *natural, int *minimum_baseline, int *natural_baseline) {
  bool is_vertical = orientation == GTK_ORIENTATION_VERTICAL;
  *minimum = *natural = is_vertical ? td_queues_canvas_get_needed(TD_QUEUES_CANVAS(widget)) : 0;
}

static void
td_queues_canvas_class_init(TdQueuesCanvasClass *klass) {
  TdCanvasClass *canvas_class = TD_CANVAS_CLASS(klass);
  canvas_class->picture_name = "queues";
  canvas_class->draw = td_queues_canvas_draw;
  canvas_class->draw_over = td_queues_canvas_draw_over;
  canvas_class->update = td_queues_canvas_update;
  canvas_class->node_at = td_queues_canvas_node_at;
  canvas_class->tell = td_queues_canvas_tell;
  GTK_WIDGET_CLASS(klass)->measure = td_queues_canvas_measure;
}

static void
clicked(GtkGestureClick *gesture, int n, double x, double y, gpointer data) {
  TdCanvas *canvas = data;
  if (!td_canvas_get_document(canvas)) return;
  uint32_t node =
      td_queues_canvas_node_at(canvas, td_canvas_units(canvas, x), td_canvas_units(canvas, y));
  if (node != TD_NONE) td_playhead_set_selection(td_canvas_get_playhead(canvas), node);
}

static gboolean
scrolled(GtkEventControllerScroll *controller, double dx, double dy, gpointer data) {
  TdQueuesCanvas *self = data;
  GdkModifierType state =
      gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
  if (state & GDK_SHIFT_MASK && dx == 0) dx = dy;
  if (dx == 0) return GDK_EVENT_PROPAGATE;
  self->scroll_x = MAX(0, self->scroll_x + td_canvas_scroll_units(controller, dx));
  td_canvas_repaint(TD_CANVAS(self));
  return GDK_EVENT_STOP;
}

static void
td_queues_canvas_init(TdQueuesCanvas *self) {
  GtkGesture *click = gtk_gesture_click_new();
  g_signal_connect(click, "released", G_CALLBACK(clicked), self);
  gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(click));
  GtkEventController *scroll =
      gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect(scroll, "scroll", G_CALLBACK(scrolled), self);
  gtk_widget_add_controller(GTK_WIDGET(self), scroll);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Ready queues"), -1);
  td_canvas_add_reader(TD_CANVAS(self), _("Queues and their tasks"));
}
