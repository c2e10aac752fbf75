/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/timeline/timeline_canvas.h"

#include "ui/draw/timeline_bookmarks.h"
#include "ui/draw/timeline_picture.h"
#include "ui/draw/timeline_words.h"
#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/facts/accessible_text.h"

#include <glib/gi18n.h>
#include <math.h>

#define KEY_ZOOM 1.25 /* of what is to see */
#define KEY_PAN 0.15
#define LEAST_BRUSH 4     /* pixels */
#define MAX_LANES_TOLD 40 /* see Note [What the tree has] */

struct _TdTimelineCanvas {
  TdCanvas parent_instance;
  double scroll_y;
  double press_x;
  uint64_t position_before; /* of the playhead, when the first of two clicks came */
  uint64_t last_ns;         /* time of the playhead when last updated */
  GHashTable *collapsed;    /* (owned) names of lanes */
  TdBookmarks *bookmarks;   /* (owned), or NULL */
  TdBrush *brush;           /* (owned), or NULL */
  gboolean is_brushing;     /* from `brushed_ns` to the pointer */
  double brushed_ns, pointed_ns;
  uint32_t sleeper; /* 1 + the thread that somebody clicked, or 0 */
};

G_DEFINE_FINAL_TYPE(TdTimelineCanvas, td_timeline_canvas, TD_TYPE_CANVAS)

static td_timeline *
timeline_of(TdCanvas *canvas) {
  return td_document_get_timeline(td_canvas_get_document(canvas));
}

static td_timeline_view
make_view(TdCanvas *canvas) {
  TdPlayhead *playhead = td_canvas_get_playhead(canvas);
  td_timeline_view view = {.now_ns = (double)td_playhead_get_time_ns(playhead),
                           .scroll_y = TD_TIMELINE_CANVAS(canvas)->scroll_y,
                           .selected = td_playhead_get_selection(playhead),
                           .sleeper = TD_TIMELINE_CANVAS(canvas)->sleeper};
  view.cuts = td_timeline_cuts(timeline_of(canvas));
  td_playhead_get_span(playhead, &view.from_ns, &view.to_ns);
  td_canvas_get_size(canvas, &view.width, &view.height);
  return view;
}

static void
td_timeline_canvas_draw(TdCanvas *canvas, cairo_t *cr) {
  td_timeline_view view = make_view(canvas);
  td_timeline_draw(timeline_of(canvas), cr, &view, td_canvas_get_theme(canvas),
                   td_canvas_get_labels(canvas));
}

static const TdBookmark *
bookmarks_of(TdCanvas *canvas, guint *n) {
  TdBookmarks *bookmarks = TD_TIMELINE_CANVAS(canvas)->bookmarks;
  return bookmarks ? td_bookmarks_get(bookmarks, n) : NULL;
}

/* While a person drags, the range follows the pointer; the lists wait for the end. */
static gboolean
get_range(TdTimelineCanvas *self, double *from_ns, double *to_ns) {
  *from_ns = MIN(self->brushed_ns, self->pointed_ns);
  *to_ns = MAX(self->brushed_ns, self->pointed_ns);
  return self->is_brushing || (self->brush && td_brush_get(self->brush, from_ns, to_ns));
}

static void
td_timeline_canvas_draw_over(TdCanvas *canvas, cairo_t *cr) {
  td_timeline_view view = make_view(canvas);
  double from, to;
  if (get_range(TD_TIMELINE_CANVAS(canvas), &from, &to))
    td_timeline_draw_range(cr, &view, td_canvas_get_theme(canvas), from, to);
  td_timeline_draw_over(timeline_of(canvas), cr, &view, td_canvas_get_theme(canvas),
                        td_canvas_get_labels(canvas));
  guint n = 0;
  const TdBookmark *bookmarks = bookmarks_of(canvas, &n);
  for (guint i = 0; i < n; i++)
    td_timeline_draw_bookmark(cr, &view, td_canvas_get_theme(canvas), (double)bookmarks[i].time_ns);
}

/* Over a wait, whom it is for; over a node, what every canvas says. */
static gboolean
td_timeline_canvas_query_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard,
                                 GtkTooltip *tooltip) {
  TdCanvas *canvas = TD_CANVAS(widget);
  td_timeline_view view;
  char *text = NULL;
  if (!keyboard && td_canvas_get_document(canvas)) {
    view = make_view(canvas);
    text = td_timeline_wait_text_at(timeline_of(canvas), &view, td_canvas_units(canvas, x),
                                    td_canvas_units(canvas, y));
  }
  if (!text)
    return GTK_WIDGET_CLASS(td_timeline_canvas_parent_class)
        ->query_tooltip(widget, x, y, keyboard, tooltip);
  gtk_tooltip_set_text(tooltip, text);
  free(text);
  return TRUE;
}

static uint32_t
td_timeline_canvas_node_at(TdCanvas *canvas, double x, double y) {
  td_timeline_view view = make_view(canvas);
  return td_timeline_hit(timeline_of(canvas), &view, x, y);
}

/* Shows a part of the axis: its place, and how long it is. */
static void
show_from(TdCanvas *canvas, const td_timeline_view *view, double place_ns, double visible_ns) {
  double from = td_time_cuts_time(view->cuts, place_ns);
  double to = td_time_cuts_time(view->cuts, place_ns + visible_ns);
  td_playhead_set_span(td_canvas_get_playhead(canvas), from, to);
}

/* While playing or stepping, the playhead stays in view. */
static void
follow(TdCanvas *canvas) {
  td_timeline_view view = make_view(canvas);
  if (view.now_ns >= view.from_ns && view.now_ns <= view.to_ns) return;
  double visible = td_timeline_visible_ns(&view);
  show_from(canvas, &view, td_time_cuts_place(view.cuts, view.now_ns) - visible * 0.2, visible);
}

static void
describe(TdCanvas *canvas, const char *text) {
  TdDocument *document = td_canvas_get_document(canvas);
  if (!td_document_is_cut(document)) {
    td_canvas_describe(canvas, text);
    return;
  }
  g_autofree char *segment = td_document_dup_segment_text(document);
  g_autofree char *events = td_document_dup_segment_events(document);
  g_autofree char *all = g_strdup_printf("%s %s: %s.", text, segment, events);
  td_canvas_describe(canvas, all);
}

static void
scroll_lanes(TdTimelineCanvas *self, double dy) {
  double width, height;
  td_canvas_get_size(TD_CANVAS(self), &width, &height);
  double room = td_timeline_height(timeline_of(TD_CANVAS(self))) - height;
  self->scroll_y = CLAMP(self->scroll_y + dy, 0, MAX(room, 0));
  td_canvas_repaint(TD_CANVAS(self));
}

/* Each segment of a tape, and each stop of a live program, brings a timeline of its own. */
static void
collapse_lanes(TdTimelineCanvas *self) {
  td_timeline *timeline = timeline_of(TD_CANVAS(self));
  for (size_t i = 0; i < td_timeline_n_lanes(timeline); i++) {
    char *name = td_timeline_lane_name(timeline, i);
    td_timeline_collapse(timeline, i, g_hash_table_contains(self->collapsed, name));
    free(name);
  }
}

/* A click on the title of a lane makes it thin, or opens it again. */
static gboolean
toggle_lane(TdTimelineCanvas *self, double x, double y) {
  TdCanvas *canvas = TD_CANVAS(self);
  td_timeline_view view = make_view(canvas);
  size_t lane = td_timeline_title_at(timeline_of(canvas), &view, x, y);
  if (lane == SIZE_MAX) return FALSE;
  char *found = td_timeline_lane_name(timeline_of(canvas), lane);
  if (!g_hash_table_remove(self->collapsed, found))
    g_hash_table_add(self->collapsed, g_strdup(found));
  free(found);
  collapse_lanes(self);
  scroll_lanes(self, 0);
  return TRUE;
}

static void
td_timeline_canvas_update(TdCanvas *canvas, TdCanvasChange change) {
  TdTimelineCanvas *self = TD_TIMELINE_CANVAS(canvas);
  TdPlayhead *playhead = td_canvas_get_playhead(canvas);
  double from, to;
  if (change == TD_CANVAS_SCENE) collapse_lanes(self);
  if (change == TD_CANVAS_SPAN) td_canvas_repaint(canvas);
  if (td_playhead_get_time_ns(playhead) != self->last_ns) {
    self->last_ns = td_playhead_get_time_ns(playhead);
    follow(canvas);
  }
  td_playhead_get_span(playhead, &from, &to);
  g_autofree char *now = td_format_ns((double)td_playhead_get_time_ns(playhead));
  g_autofree char *begin = td_format_ns(from);
  g_autofree char *end = td_format_ns(to);
  g_autofree char *text =
      g_strdup_printf(_("At %s; the timeline shows %s to %s."), now, begin, end);
  describe(canvas, text);
}

/* td_timeline_canvas_tell adds an item for each lane: what it does at the playhead. */
static void
td_timeline_canvas_tell(TdCanvas *canvas, GArray *told) {
  td_timeline *timeline = timeline_of(canvas);
  td_timeline_view view = make_view(canvas);
  uint64_t now = td_playhead_get_time_ns(td_canvas_get_playhead(canvas));
  double top = 0, height = 0;
  uint32_t n = 0;
  for (size_t i = 0; i < td_timeline_n_lanes(timeline); i++) {
    if (!td_timeline_lane_extent(timeline, &view, i, &top, &height)) continue;
    if (n++ >= MAX_LANES_TOLD) continue;
    char *text = td_timeline_lane_text(timeline, i, now);
    TdTold item = {g_strdup(text), 1, i, td_timeline_lane_node(timeline, i, now),
                   GRAPHENE_RECT_INIT(0, (float)top, (float)view.width, (float)height)};
    free(text);
    td_canvas_tell(canvas, told, item);
  }
  if (n <= MAX_LANES_TOLD) return;
  TdTold more = {td_accessible_more(n - MAX_LANES_TOLD), 1, TD_ACCESSIBLE_MORE, TD_NONE,
                 GRAPHENE_RECT_INIT(0, (float)top, (float)view.width, (float)height)};
  td_canvas_tell(canvas, told, more);
}

static void
scrub(TdTimelineCanvas *self, double x) {
  TdCanvas *canvas = TD_CANVAS(self);
  if (!td_canvas_get_document(canvas)) return;
  td_timeline_view view = make_view(canvas);
  double ns = td_timeline_time_at(&view, CLAMP(x, 0, view.width));
  td_playhead_seek_time(td_canvas_get_playhead(canvas), CLAMP(ns, view.from_ns, view.to_ns));
}

/* A click on a ribbon goes to its event, not to what is beside it. */
static gboolean
go_to_bookmark(TdTimelineCanvas *self, double x, double y) {
  TdCanvas *canvas = TD_CANVAS(self);
  td_timeline_view view = make_view(canvas);
  guint n = 0;
  const TdBookmark *bookmarks = bookmarks_of(canvas, &n);
  for (guint i = 0; i < n; i++) {
    if (!td_timeline_is_on_bookmark(&view, (double)bookmarks[i].time_ns, x, y)) continue;
    td_playhead_set_position(td_canvas_get_playhead(canvas), bookmarks[i].position);
    return TRUE;
  }
  return FALSE;
}

static void
point(TdTimelineCanvas *self, double x) {
  td_timeline_view view = make_view(TD_CANVAS(self));
  double ns = td_timeline_time_at(&view, CLAMP(x, 0, view.width));
  self->pointed_ns = CLAMP(ns, view.from_ns, view.to_ns);
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static gboolean
begins_brush(TdTimelineCanvas *self, GtkGestureDrag *gesture, double x) {
  GdkModifierType state =
      gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(gesture));
  if (!self->brush || !(state & GDK_SHIFT_MASK)) return FALSE;
  point(self, x);
  self->brushed_ns = self->pointed_ns;
  self->is_brushing = TRUE;
  return TRUE;
}

/* A click with Shift brushes over nothing: that clears the range. */
static void
drag_end(GtkGestureDrag *gesture, double dx, double dy, gpointer data) {
  TdTimelineCanvas *self = data;
  if (!self->is_brushing) return;
  self->is_brushing = FALSE;
  gtk_widget_queue_draw(GTK_WIDGET(self));
  if (fabs(dx) < LEAST_BRUSH)
    td_brush_clear(self->brush);
  else
    td_brush_set(self->brush, self->brushed_ns, self->pointed_ns);
}

static void
choose_thread(TdTimelineCanvas *self, double y) {
  td_timeline_view view = make_view(TD_CANVAS(self));
  size_t thread = td_timeline_thread_at(timeline_of(TD_CANVAS(self)), &view, y);
  self->sleeper = thread == SIZE_MAX ? 0 : 1 + (uint32_t)thread;
  gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void
drag_begin(GtkGestureDrag *gesture, double x, double y, gpointer data) {
  TdTimelineCanvas *self = data;
  TdCanvas *canvas = data;
  x = td_canvas_units(canvas, x);
  y = td_canvas_units(canvas, y);
  self->press_x = x;
  gtk_widget_grab_focus(GTK_WIDGET(self));
  if (!td_canvas_get_document(canvas)) return;
  if (toggle_lane(self, x, y)) {
    gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_DENIED);
    return;
  }
  if (begins_brush(self, gesture, x)) return;
  td_playhead_set_playing(td_canvas_get_playhead(canvas), FALSE);
  if (go_to_bookmark(self, x, y)) return;
  uint32_t node = td_timeline_canvas_node_at(canvas, x, y);
  scrub(self, x);
  choose_thread(self, y);
  if (node != TD_NONE) td_playhead_set_selection(td_canvas_get_playhead(canvas), node);
}

static void
drag_update(GtkGestureDrag *gesture, double dx, double dy, gpointer data) {
  TdTimelineCanvas *self = data;
  if (self->is_brushing)
    point(self, self->press_x + td_canvas_units(TD_CANVAS(self), dx));
  else if (gtk_drag_check_threshold(GTK_WIDGET(self), 0, 0, (int)dx, 0))
    scrub(self, self->press_x + td_canvas_units(TD_CANVAS(self), dx));
}

/* A double click shows all times. Its first press moved the playhead, which goes back. */
static void
pressed(GtkGestureClick *gesture, int n, double x, double y, gpointer data) {
  TdTimelineCanvas *self = data;
  TdPlayhead *playhead = td_canvas_get_playhead(data);
  if (!td_canvas_get_document(data) || td_canvas_units(data, x) < TD_TIMELINE_GUTTER) return;
  if (n == 1) self->position_before = td_playhead_get_position(playhead);
  if (n != 2) return;
  gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  td_playhead_set_position(playhead, self->position_before);
  td_playhead_reset_span(playhead);
}

static void
zoom_at(TdCanvas *canvas, double x, double factor) {
  td_timeline_view view = make_view(canvas);
  double share = CLAMP((x - TD_TIMELINE_GUTTER) / td_timeline_axis_width(&view), 0, 1);
  double visible = td_timeline_visible_ns(&view);
  double place = td_time_cuts_place(view.cuts, view.from_ns) + share * visible * (1 - factor);
  show_from(canvas, &view, place, visible * factor);
}

static void
zoom_at_pointer(TdCanvas *canvas, double factor) {
  double x, y;
  td_canvas_get_pointer(canvas, &x, &y);
  zoom_at(canvas, x, factor);
}

/* Shares of what is to see. */
static void
pan(TdCanvas *canvas, double share) {
  td_timeline_view view = make_view(canvas);
  double visible = td_timeline_visible_ns(&view);
  show_from(canvas, &view, td_time_cuts_place(view.cuts, view.from_ns) + share * visible, visible);
}

gboolean
td_timeline_canvas_takes(const char *key) {
  return strlen(key) == 1 && strchr("wsad", *key) != NULL;
}

/* W and S zoom around the playhead, or around the middle if it is not to see. A and D pan. */
static gboolean
key_pressed(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
            gpointer data) {
  TdCanvas *canvas = data;
  if (!td_canvas_get_document(canvas) || state & (GDK_CONTROL_MASK | GDK_ALT_MASK))
    return GDK_EVENT_PROPAGATE;
  td_timeline_view view = make_view(canvas);
  bool is_seen = view.now_ns >= view.from_ns && view.now_ns <= view.to_ns;
  double middle = TD_TIMELINE_GUTTER + td_timeline_axis_width(&view) / 2;
  double x = is_seen ? td_timeline_x(&view, view.now_ns) : middle;
  if (key == GDK_KEY_w || key == GDK_KEY_s)
    zoom_at(canvas, x, key == GDK_KEY_w ? 1 / KEY_ZOOM : KEY_ZOOM);
  else if (key == GDK_KEY_a || key == GDK_KEY_d)
    pan(canvas, key == GDK_KEY_a ? -KEY_PAN : KEY_PAN);
  else
    return GDK_EVENT_PROPAGATE;
  return GDK_EVENT_STOP;
}

static gboolean
scrolled(GtkEventControllerScroll *controller, double dx, double dy, gpointer data) {
  TdCanvas *canvas = data;
  if (!td_canvas_get_document(canvas)) return GDK_EVENT_PROPAGATE;
  GdkModifierType state =
      gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
  dx = td_canvas_scroll_units(controller, dx);
  dy = td_canvas_scroll_units(controller, dy);
  if (state & GDK_CONTROL_MASK) {
    zoom_at_pointer(canvas, exp(dy / 200));
    return GDK_EVENT_STOP;
  }
  double along = state & GDK_SHIFT_MASK && dx == 0 ? dy : dx;
  td_timeline_view view = make_view(canvas);
  double visible = td_timeline_visible_ns(&view), ns = along * visible / MAX(view.width, 1);
  if (along != 0)
    show_from(canvas, &view, td_time_cuts_place(view.cuts, view.from_ns) + ns, visible);
  else
    scroll_lanes(TD_TIMELINE_CANVAS(canvas), dy);
  return GDK_EVENT_STOP;
}

void
td_timeline_canvas_set_bookmarks(TdTimelineCanvas *self, TdBookmarks *bookmarks) {
  if (!g_set_object(&self->bookmarks, bookmarks)) return;
  g_signal_connect_object(bookmarks, "changed", G_CALLBACK(gtk_widget_queue_draw), self,
                          G_CONNECT_SWAPPED);
}

void
td_timeline_canvas_set_brush(TdTimelineCanvas *self, TdBrush *brush) {
  if (!g_set_object(&self->brush, brush)) return;
  g_signal_connect_object(brush, "changed", G_CALLBACK(gtk_widget_queue_draw), self,
                          G_CONNECT_SWAPPED);
}

static void
td_timeline_canvas_finalize(GObject *object) {
  g_clear_object(&TD_TIMELINE_CANVAS(object)->brush);
  g_clear_object(&TD_TIMELINE_CANVAS(object)->bookmarks);
  g_hash_table_unref(TD_TIMELINE_CANVAS(object)->collapsed);
  G_OBJECT_CLASS(td_timeline_canvas_parent_class)->finalize(object);
}

static void
td_timeline_canvas_class_init(TdTimelineCanvasClass *klass) {
  TdCanvasClass *canvas_class = TD_CANVAS_CLASS(klass);
  G_OBJECT_CLASS(klass)->finalize = td_timeline_canvas_finalize;
  GTK_WIDGET_CLASS(klass)->query_tooltip = td_timeline_canvas_query_tooltip;
  canvas_class->picture_name = "timeline";
  canvas_class->draw = td_timeline_canvas_draw;
  canvas_class->draw_over = td_timeline_canvas_draw_over;
  canvas_class->update = td_timeline_canvas_update;
  canvas_class->node_at = td_timeline_canvas_node_at;
  canvas_class->tell = td_timeline_canvas_tell;
}

static void
td_timeline_canvas_init(TdTimelineCanvas *self) {
  GtkWidget *widget = GTK_WIDGET(self);
  self->collapsed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GtkGesture *drag = gtk_gesture_drag_new();
  g_signal_connect(drag, "drag-begin", G_CALLBACK(drag_begin), self);
  g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), self);
  g_signal_connect(drag, "drag-end", G_CALLBACK(drag_end), self);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drag));
  GtkGesture *click = gtk_gesture_click_new();
  /* Before the drag, which moves the playhead. */
  gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(click), GTK_PHASE_CAPTURE);
  g_signal_connect(click, "pressed", G_CALLBACK(pressed), self);
  gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(click));
  GtkEventController *keys = gtk_event_controller_key_new();
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key_pressed), self);
  gtk_widget_add_controller(widget, keys);
  GtkEventController *scroll =
      gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect(scroll, "scroll", G_CALLBACK(scrolled), self);
  gtk_widget_add_controller(widget, scroll);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Timeline"),
                                 -1);
  td_canvas_add_reader(TD_CANVAS(self), _("Lanes"));
}
