/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Counts how often the canvases paint their pictures: never while the pointer moves or a node is
 * selected, once after a change. See Note [The kept picture]. The X server moves a real pointer, so
 * that whatever GTK does on the way (styles, tooltips, cursors) is a part of the test. */
#include "engine/replay/segments.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/widgets/graph/graph_canvas.h"
#include "ui/widgets/graph/minimap.h"
#include "ui/widgets/timeline/queues_canvas.h"
#include "ui/widgets/timeline/timeline_canvas.h"

#include <X11/Xlib.h>
#include <adwaita.h>
#include <gdk/x11/gdkx.h>
#include <glib/gstdio.h>
#include <time.h>

#define N_NODES 10000
#define N_THREADS 24
#define WIDTH 1000
#define HEIGHT 900

typedef enum Pane { GRAPH, QUEUES, TIMELINE, N_PANES } Pane;

typedef void (*Draw)(TdCanvas *canvas, cairo_t *cr);

static struct {
  Draw draw, draw_over;  /* of the class */
  int n_painted, n_over; /* since forget_counts */
  double painted_height; /* of the last picture */
} panes[N_PANES];

static GtkWindow *window;
static TdPlayhead *playhead;
static TdCanvas *canvases[N_PANES];
static GtkWidget *scroller;
static GArray *frames_ms; /* double */
static clock_t frame_began;
static int drawn_before;
static unsigned n_frames; /* that the window has had */

static Pane
pane_of(TdCanvas *canvas) {
  return TD_IS_GRAPH_CANVAS(canvas) ? GRAPH : TD_IS_QUEUES_CANVAS(canvas) ? QUEUES : TIMELINE;
}

static void
count_draw(TdCanvas *canvas, cairo_t *cr) {
  double left, top, right, bottom;
  Pane pane = pane_of(canvas);
  cairo_clip_extents(cr, &left, &top, &right, &bottom);
  panes[pane].painted_height = bottom - top;
  panes[pane].n_painted++;
  panes[pane].draw(canvas, cr);
}

static void
count_draw_over(TdCanvas *canvas, cairo_t *cr) {
  Pane pane = pane_of(canvas);
  panes[pane].n_over++;
  panes[pane].draw_over(canvas, cr);
}

static void
count_canvas(TdCanvas *canvas) {
  TdCanvasClass *class = TD_CANVAS_GET_CLASS(canvas);
  Pane pane = pane_of(canvas);
  panes[pane].draw = class->draw;
  panes[pane].draw_over = class->draw_over;
  class->draw = count_draw;
  class->draw_over = count_draw_over;
  canvases[pane] = canvas;
}

static void
forget_counts(void) {
  for (Pane pane = 0; pane < N_PANES; pane++)
    panes[pane].n_painted = panes[pane].n_over = 0;
  g_array_set_size(frames_ms, 0);
}

static int
count_graph(void) {
  return panes[GRAPH].n_painted + panes[GRAPH].n_over;
}

static void
before_paint(void) {
  frame_began = clock();
  drawn_before = count_graph();
}

/* Only frames in which the graph was drawn; processor time, since other tests run beside this. */
static void
after_paint(void) {
  n_frames++;
  if (count_graph() == drawn_before) return;
  double ms = (double)(clock() - frame_began) * 1e3 / CLOCKS_PER_SEC;
  g_array_append_val(frames_ms, ms);
}

static int
compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
median_frame_ms(void) {
  g_array_sort(frames_ms, compare_doubles);
  return frames_ms->len ? g_array_index(frames_ms, double, frames_ms->len / 2) : 0;
}

static gboolean
stop_cb(gpointer data) {
  *(gboolean *)data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Lets GTK take what the X server has for it, and draw what it has to: two frames, however long
 * they take. Before them, short animations come to their end. */
static void
settle(unsigned ms) {
  gboolean stop = FALSE;
  GdkFrameClock *clock = gtk_widget_get_frame_clock(GTK_WIDGET(window));
  XSync(gdk_x11_display_get_xdisplay(gdk_display_get_default()), False);
  g_timeout_add(ms, stop_cb, &stop);
  while (!stop)
    g_main_context_iteration(NULL, TRUE);
  for (unsigned wanted = n_frames + 2; n_frames != wanted;) {
    gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT);
    g_main_context_iteration(NULL, TRUE);
  }
}

static void
move_pointer(GtkWidget *widget, double x, double y) {
  GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
  double there_x, there_y, frame_x, frame_y;
  gtk_widget_translate_coordinates(widget, GTK_WIDGET(window), x, y, &there_x, &there_y);
  gtk_native_get_surface_transform(GTK_NATIVE(window), &frame_x, &frame_y);
  Display *display = gdk_x11_display_get_xdisplay(gdk_surface_get_display(surface));
  XWarpPointer(display, None, gdk_x11_surface_get_xid(surface), 0, 0, 0, 0,
               (int)(there_x + frame_x), (int)(there_y + frame_y));
  XFlush(display);
}

/* Sweeps the pointer over the middle of a canvas; returns over how many nodes it came, and writes
 * the last of them. */
static int
sweep(TdCanvas *canvas, int n_rows, uint32_t *last) {
  GtkWidget *widget = GTK_WIDGET(canvas);
  int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget), n = 0;
  uint32_t before = TD_NONE;
  for (int row = 0; row < n_rows; row++)
    for (int column = 0; column < 16; column++) {
      move_pointer(widget, width * (0.2 + column * 0.6 / 16), height * (0.2 + row * 0.6 / n_rows));
      settle(0);
      uint32_t node = td_canvas_get_hovered(canvas);
      n += node != TD_NONE && node != before;
      if (node != TD_NONE) *last = node;
      before = node;
    }
  return n;
}

static void
assert_painted(int graph, int queues, int timeline) {
  settle(120);
  g_assert_cmpint(panes[GRAPH].n_painted, ==, graph);
  g_assert_cmpint(panes[QUEUES].n_painted, ==, queues);
  g_assert_cmpint(panes[TIMELINE].n_painted, ==, timeline);
}

static void
test_hover(void) {
  uint32_t node = TD_NONE;
  forget_counts();
  int n_graph = sweep(canvases[GRAPH], 18, &node);
  double ms = median_frame_ms();
  g_assert_cmpint(n_graph, >=, 10);
  g_assert_cmpint(panes[GRAPH].n_over, >, n_graph);
  assert_painted(0, 0, 0);
  g_test_message("graph of %d nodes: a hover takes %.2f ms of processor time a frame", N_NODES, ms);
  forget_counts();
  td_playhead_set_selection(playhead, node);
  assert_painted(0, 0, 0);
  g_assert_cmpint(panes[GRAPH].n_over, >, 0);
  sweep(canvases[TIMELINE], 4, &node);
  assert_painted(0, 0, 0);
}

static void
test_change(void) {
  forget_counts();
  td_playhead_step_event(playhead, 1);
  assert_painted(1, 1, 1);
  forget_counts();
  td_graph_canvas_zoom(TD_GRAPH_CANVAS(canvases[GRAPH]), 0.9);
  assert_painted(1, 0, 0);
  forget_counts();
  double from, to;
  td_playhead_get_span(playhead, &from, &to);
  td_playhead_set_span(playhead, from, from + (to - from) / 2);
  assert_painted(0, 0, 1);
  forget_counts();
  adw_style_manager_set_color_scheme(adw_style_manager_get_default(), ADW_COLOR_SCHEME_FORCE_DARK);
  settle(600); /* the style goes over slowly */
  for (Pane pane = 0; pane < N_PANES; pane++)
    g_assert_cmpint(panes[pane].n_painted, >, 0);
  forget_counts();
  settle(200);
  assert_painted(0, 0, 0);
}

/* The whole graph from far away, where every frame would touch all nodes. */
static void
test_far(void) {
  uint32_t node = TD_NONE;
  td_graph_canvas_fit(TD_GRAPH_CANVAS(canvases[GRAPH]));
  settle(200);
  forget_counts();
  sweep(canvases[GRAPH], 6, &node);
  double ms = median_frame_ms();
  assert_painted(0, 0, 0);
  g_test_message("whole graph in view: a hover takes %.2f ms", ms);
  forget_counts();
  for (int i = 0; i < 40; i++) {
    td_graph_canvas_zoom(TD_GRAPH_CANVAS(canvases[GRAPH]), i & 1 ? 1.01 : 1 / 1.01);
    settle(25);
  }
  g_assert_cmpint(panes[GRAPH].n_painted, >, 10);
  g_test_message("whole graph in view: a zoom takes %.2f ms", median_frame_ms());
}

/* A graph that is seen whole stays where it is, whichever node is followed. */
static void
test_fit_stays(void) {
  td_graph_canvas_fit(TD_GRAPH_CANVAS(canvases[GRAPH]));
  settle(200);
  forget_counts();
  for (uint32_t node = 0; node < N_NODES; node += N_NODES / 8) {
    td_playhead_set_selection(playhead, node);
    assert_painted(0, 0, 0);
  }
  g_assert_cmpint(panes[GRAPH].n_over, >, 0);
}

/* The strips of many queues are taller than the window; their picture is not. */
static void
test_scroll(void) {
  int tall = gtk_widget_get_height(GTK_WIDGET(canvases[QUEUES]));
  int seen = gtk_widget_get_height(scroller);
  GtkAdjustment *down = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scroller));
  g_assert_cmpint(tall, >, 8 * seen);
  gtk_adjustment_set_value(down, tall / 2.0);
  settle(120);
  forget_counts();
  gtk_adjustment_set_value(down, tall / 2.0 + 4 * seen);
  settle(120);
  g_assert_cmpint(panes[QUEUES].n_painted, ==, 1);
  g_assert_cmpfloat(panes[QUEUES].painted_height, >=, seen);
  g_assert_cmpfloat(panes[QUEUES].painted_height, <=, 3 * seen + 2);
  forget_counts();
  for (int i = 0; i < 8; i++) {
    gtk_adjustment_set_value(down, tall / 2.0 + 4 * seen + i);
    settle(25);
  }
  g_assert_cmpint(panes[QUEUES].n_over, >, 3);
  assert_painted(0, 0, 0);
}

static void
set_font(const char *font) {
  g_object_set(gtk_settings_get_default(), "gtk-font-name", font, NULL);
  settle(200);
}

/* Text of twice the size makes all of a picture twice as large, and points go with it. */
static void
test_text_size(void) {
  TdCanvas *queues = canvases[QUEUES], *graph = canvases[GRAPH];
  set_font("Cantarell 11");
  double width, height;
  int before = gtk_widget_get_height(GTK_WIDGET(queues));
  td_canvas_get_size(graph, &width, &height);
  g_assert_cmpfloat(width, ==, gtk_widget_get_width(GTK_WIDGET(graph)));
  set_font("Cantarell 22");
  td_canvas_get_size(graph, &width, &height);
  g_assert_cmpfloat_with_epsilon(2 * width, gtk_widget_get_width(GTK_WIDGET(graph)), 0.1);
  g_assert_cmpint(abs(gtk_widget_get_height(GTK_WIDGET(queues)) - 2 * before), <=, 2);
  g_assert_cmpfloat_with_epsilon(td_canvas_pixels(graph, td_canvas_units(graph, 7)), 7, 1e-9);
  set_font("Cantarell 5");
  td_canvas_get_size(graph, &width, &height);
  g_assert_cmpfloat(width, ==, gtk_widget_get_width(GTK_WIDGET(graph)));
  set_font("Cantarell 11");
}

/* The minimap goes if the pane gets too low for it and for the legend, and comes again. */
static void
test_minimap_room(void) {
  const td_graph_view *view = td_graph_canvas_get_view(TD_GRAPH_CANVAS(canvases[GRAPH]));
  td_graph_canvas_zoom(TD_GRAPH_CANVAS(canvases[GRAPH]), 20);
  settle(200);
  for (int i = 0; i < 2; i++) {
    gtk_widget_set_size_request(scroller, -1, 200);
    settle(200);
    g_assert_cmpfloat(view->covered_bottom, >, 0);
    gtk_widget_set_size_request(scroller, -1, 500);
    settle(200);
    g_assert_cmpfloat(view->height, <, 230);
    g_assert_cmpfloat(view->covered_bottom, ==, 0);
  }
  gtk_widget_set_size_request(scroller, -1, 200);
  settle(200);
}

/* Takes the document. */
static TdDocument *
load(TdDocument *document) {
  g_autoptr(GError) error = NULL;
  td_load_document(document, &error);
  g_assert_no_error(error);
  return document;
}

static gboolean
shows_picture(TdCanvas *canvas) {
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(GTK_WIDGET(canvas));
  GtkSnapshot *snapshot = gtk_snapshot_new();
  gdk_paintable_snapshot(paintable, snapshot, WIDTH, HEIGHT);
  g_autoptr(GskRenderNode) node = gtk_snapshot_free_to_node(snapshot);
  return node != NULL;
}

/* Another segment of a tape is shown before its scene is there: until then, the graph stays. */
static void
test_segment(void) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 3, .n_passes = 30, .trains = true, .seed = 7};
  g_autofree char *folder = g_dir_make_tmp("tapedeck-canvas-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "cut.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_segments_add(path, 1500, NULL), ==, TD_OK);
  g_autoptr(TdDocument) first = load(td_document_new(path));
  td_playhead_set_document(playhead, first);
  settle(200);
  g_autoptr(TdDocument) segment =
      load(td_document_new_segment(first, td_playhead_get_length(playhead)));
  forget_counts();
  td_playhead_set_document(playhead, segment);
  settle(200);
  g_assert_cmpint(panes[GRAPH].n_painted, ==, 0);
  g_assert_cmpint(panes[QUEUES].n_painted, >, 0);
  g_assert_true(shows_picture(canvases[GRAPH]));
  td_document_show_graph_task(segment, td_document_get_graph_task(segment));
  while (!td_document_get_scene(segment))
    g_main_context_iteration(NULL, TRUE);
  settle(200);
  g_assert_cmpint(panes[GRAPH].n_painted, >, 0);
  g_remove(path);
  g_rmdir(folder);
}

static void
add_canvases(void) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  TdCanvas *graph = g_object_new(TD_TYPE_GRAPH_CANVAS, "vexpand", TRUE, NULL);
  TdCanvas *queues = g_object_new(TD_TYPE_QUEUES_CANVAS, NULL);
  TdCanvas *timeline = g_object_new(TD_TYPE_TIMELINE_CANVAS, "height-request", 180, NULL);
  GtkWidget *overlay = gtk_overlay_new();
  TdMinimap *minimap = g_object_new(TD_TYPE_MINIMAP, "halign", GTK_ALIGN_END, "valign",
                                    GTK_ALIGN_START, "margin-top", 52, NULL);
  gtk_overlay_set_child(GTK_OVERLAY(overlay), GTK_WIDGET(graph));
  gtk_overlay_add_overlay(GTK_OVERLAY(overlay), GTK_WIDGET(minimap));
  scroller = gtk_scrolled_window_new();
  gtk_widget_set_size_request(scroller, -1, 200);
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), GTK_WIDGET(queues));
  gtk_box_append(GTK_BOX(box), overlay);
  gtk_box_append(GTK_BOX(box), scroller);
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(timeline));
  gtk_window_set_child(window, box);
  TdCanvas *all[] = {graph, queues, timeline};
  for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
    count_canvas(all[i]);
    td_canvas_set_playhead(all[i], playhead);
  }
  td_minimap_set_canvas(minimap, TD_GRAPH_CANVAS(graph));
}

static void
open_window(TdDocument *document) {
  playhead = td_playhead_new();
  window = GTK_WINDOW(gtk_window_new());
  gtk_window_set_default_size(window, WIDTH, HEIGHT);
  add_canvases();
  td_playhead_set_document(playhead, document);
  td_playhead_set_follow(playhead, FALSE);
  td_playhead_set_position(playhead, td_playhead_get_length(playhead) / 2);
  gtk_window_present(window);
  GdkFrameClock *clock = gtk_widget_get_frame_clock(GTK_WIDGET(window));
  g_signal_connect(clock, "before-paint", G_CALLBACK(before_paint), NULL);
  g_signal_connect(clock, "after-paint", G_CALLBACK(after_paint), NULL);
  settle(500);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  adw_init();
  if (!GDK_IS_X11_DISPLAY(gdk_display_get_default())) {
    g_print("needs an X server, to move its pointer\n");
    return 77;
  }
  td_tape_plan plan = {.n_nodes = N_NODES, .n_threads = N_THREADS, .n_passes = 1, .seed = 7};
  g_autofree char *folder = g_dir_make_tmp("tapedeck-canvas-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "graph.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
  g_autoptr(TdDocument) document = load(td_document_new(path));
  frames_ms = g_array_new(FALSE, FALSE, sizeof(double));
  open_window(document);
  g_test_add_func("/ui/canvas/hover", test_hover);
  g_test_add_func("/ui/canvas/change", test_change);
  g_test_add_func("/ui/canvas/far", test_far);
  g_test_add_func("/ui/canvas/fit-stays", test_fit_stays);
  g_test_add_func("/ui/canvas/scroll", test_scroll);
  g_test_add_func("/ui/canvas/text-size", test_text_size);
  g_test_add_func("/ui/canvas/minimap-room", test_minimap_room);
  g_test_add_func("/ui/canvas/segment", test_segment);
  int status = run_tests();
  gtk_window_destroy(window);
  g_object_unref(playhead);
  g_array_unref(frames_ms);
  g_remove(path);
  g_rmdir(folder);
  return status;
}
