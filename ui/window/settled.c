/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/settled.h"

#include "ui/model/base/delay.h"
#include "ui/model/base/worker.h"
#include "ui/window/compare_window.h"
#include "ui/window/window.h"

#include <unistd.h>

#define QUIET_FRAMES 2
#define AGAIN_MS 4               /* until the next look at threads and frames */
#define WAITS "td-settled-waits" /* of a frame clock: its frame of this round is not over */

/* A compositor of Wayland may read our first question before the keys of X, but not the second. */
#define N_SYNCS 2

static const char interface_xml[] =
    "<node><interface name='org.tapedeck.Test'>"
    "<method name='Settle'/><property name='Pending' type='as' access='read'/>"
    "</interface></node>";

static struct {
  GPtrArray *pressed; /* (owned) of GtkWidget (owned): buttons that did not act yet */
  GPtrArray *asked;   /* (owned) of GDBusMethodInvocation (owned): who waits for the answer */
  guint look;         /* source, or 0 */
  guint n_changes;    /* frames in which something changed */
  guint n_at_round;   /* n_changes when this round of frames began */
  guint n_at_answer;  /* n_changes when the window was settled last */
  guint n_quiet;      /* rounds in a row without a change */
  gboolean has_round; /* a round of frames has begun */
} self;

/* ---- what is pending ---- */

static gboolean
is_open(GtkWindow *window) {
  if (TD_IS_WINDOW(window)) return td_window_is_settled(TD_WINDOW(window));
  return !TD_IS_COMPARE_WINDOW(window) || td_compare_window_is_settled(window);
}

static gboolean
plays(GtkWindow *window) {
  if (TD_IS_WINDOW(window))
    return td_playhead_get_playing(td_window_get_playhead(TD_WINDOW(window)));
  if (!TD_IS_COMPARE_WINDOW(window)) return FALSE;
  TdSideBySide *sides = td_compare_window_get_sides(TD_COMPARE_WINDOW(window));
  return td_playhead_get_playing(td_side_by_side_get_playhead(sides, 0)) ||
         td_playhead_get_playing(td_side_by_side_get_playhead(sides, 1));
}

/* Whether `is` returns `wanted` for a window that is shown. */
static gboolean
some_window(gboolean (*is)(GtkWindow *window), gboolean wanted) {
  GListModel *windows = gtk_window_get_toplevels();
  gboolean found = FALSE;
  for (guint i = 0; i < g_list_model_get_n_items(windows) && !found; i++) {
    g_autoptr(GtkWindow) window = g_list_model_get_item(windows, i);
    found = gtk_widget_get_mapped(GTK_WIDGET(window)) && is(window) == wanted;
  }
  return found;
}

static gboolean
is_there(GtkWindow *window) {
  return TRUE;
}

static gboolean
activated_cb(GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data) {
  GObject *button = g_value_get_object(values);
  if (gtk_widget_get_realized(GTK_WIDGET(button)))
    g_ptr_array_add(self.pressed, g_object_ref(button));
  return TRUE;
}

static gboolean
clicked_cb(GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data) {
  g_ptr_array_remove(self.pressed, g_value_get_object(values));
  return TRUE;
}

/* A button that has gone meanwhile does not act. */
static gboolean
is_pressed(void) {
  for (guint i = self.pressed->len; i > 0; i--)
    if (!gtk_widget_get_realized(self.pressed->pdata[i - 1]))
      g_ptr_array_remove_index(self.pressed, i - 1);
  return self.pressed->len > 0;
}

/* A key or a screen reader that presses a button has it look pressed for a moment before it acts.
 */
static void
watch_buttons(void) {
  g_type_class_unref(g_type_class_ref(GTK_TYPE_BUTTON));
  self.pressed = g_ptr_array_new_with_free_func(g_object_unref);
  g_signal_add_emission_hook(g_signal_lookup("activate", GTK_TYPE_BUTTON), 0, activated_cb, NULL,
                             NULL);
  g_signal_add_emission_hook(g_signal_lookup("clicked", GTK_TYPE_BUTTON), 0, clicked_cb, NULL,
                             NULL);
}

/* Of static texts, NULL-terminated; owned. */
static const char **
list_pending(gboolean frames_too) {
  GPtrArray *names = g_ptr_array_new();
  if (!some_window(is_there, TRUE)) g_ptr_array_add(names, (gpointer) "window");
  if (some_window(is_open, FALSE)) g_ptr_array_add(names, (gpointer) "document");
  if (is_pressed()) g_ptr_array_add(names, (gpointer) "button");
  if (td_worker_is_awaited()) g_ptr_array_add(names, (gpointer) "worker");
  if (td_delay_is_pending()) g_ptr_array_add(names, (gpointer) "delay");
  if (frames_too && self.asked->len) g_ptr_array_add(names, (gpointer) "frame");
  g_ptr_array_add(names, NULL);
  return (const char **)g_ptr_array_free(names, FALSE);
}

static gboolean
is_at_work(void) {
  g_autofree const char **names = list_pending(FALSE);
  return names[0] != NULL;
}

/* ---- frames ---- */

static void
changed(void) {
  self.n_changes++;
}

static void
frame_over(GdkFrameClock *clock) {
  g_object_set_data(G_OBJECT(clock), WAITS, GINT_TO_POINTER(FALSE));
}

static gboolean
waits_for_frame(GtkWindow *window) {
  GdkFrameClock *clock = gtk_widget_get_frame_clock(GTK_WIDGET(window));
  return GPOINTER_TO_INT(g_object_get_data(G_OBJECT(clock), WAITS));
}

/* A frame that only we want ends, but has no update, no layout and no picture. Popovers have the
 * clock of their window. */
static gboolean
ask_for_frame(GtkWindow *window) {
  static const char *const signs[] = {"update", "layout", "paint"};
  GdkFrameClock *clock = gtk_widget_get_frame_clock(GTK_WIDGET(window));
  if (!g_signal_handler_find(clock, G_SIGNAL_MATCH_FUNC, 0, 0, NULL, (gpointer)frame_over, NULL)) {
    for (guint i = 0; i < G_N_ELEMENTS(signs); i++)
      g_signal_connect(clock, signs[i], G_CALLBACK(changed), NULL);
    g_signal_connect(clock, "after-paint", G_CALLBACK(frame_over), NULL);
    changed();
  }
  g_object_set_data(G_OBJECT(clock), WAITS, GINT_TO_POINTER(TRUE));
  gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_AFTER_PAINT);
  return TRUE;
}

static void
begin_round(void) {
  self.has_round = TRUE;
  self.n_at_round = self.n_changes;
  some_window(ask_for_frame, FALSE);
}

static void
end_round(void) {
  self.has_round = FALSE;
  self.n_quiet = self.n_changes == self.n_at_round ? self.n_quiet + 1 : 0;
}

/* ---- the answer ---- */

/* What was drawn is on the screen by then. */
static void
answer(void) {
  gdk_display_sync(gdk_display_get_default());
  self.n_at_answer = self.n_changes;
  for (guint i = 0; i < self.asked->len; i++)
    g_dbus_method_invocation_return_value(g_object_ref(self.asked->pdata[i]), NULL);
  g_ptr_array_set_size(self.asked, 0);
}

static gboolean look_cb(gpointer data);

/* Of low priority: what is due goes first, such as events, frames and idle work. */
static void
look_after(guint ms) {
  if (!self.look) self.look = g_timeout_add_full(G_PRIORITY_LOW, ms, look_cb, NULL, NULL);
}

static gboolean
look_cb(gpointer data) {
  self.look = 0;
  gboolean frames_are_over = !some_window(waits_for_frame, TRUE);
  if (self.has_round && frames_are_over) end_round();
  td_delay_hurry();
  if (is_at_work()) self.n_quiet = 0;
  if (some_window(plays, TRUE) || (!is_at_work() && self.n_quiet >= QUIET_FRAMES)) {
    answer();
    return G_SOURCE_REMOVE;
  }
  if (!self.has_round && !is_at_work()) begin_round();
  look_after(AGAIN_MS);
  return G_SOURCE_REMOVE;
}

static void
settle_called(GDBusConnection *bus, const char *sender, const char *path, const char *interface,
              const char *method, GVariant *arguments, GDBusMethodInvocation *invocation,
              gpointer data) {
  for (int i = 0; i < N_SYNCS; i++)
    gdk_display_sync(gdk_display_get_default());
  self.has_round = FALSE; /* a frame of before may have missed what is new */
  self.n_quiet = self.n_changes == self.n_at_answer ? QUIET_FRAMES - 1 : 0;
  g_ptr_array_add(self.asked, invocation);
  look_after(0);
}

static GVariant *
get_pending(GDBusConnection *bus, const char *sender, const char *path, const char *interface,
            const char *name, GError **error, gpointer data) {
  g_autofree const char **names = list_pending(TRUE);
  return g_variant_new_strv(names, -1);
}

static const GDBusInterfaceVTable interface_table = {.method_call = settle_called,
                                                     .get_property = get_pending};

void
td_settled_tell(void) {
  if (!g_getenv("TAPEDECK_TEST")) return;
  g_object_set(gtk_settings_get_default(), "gtk-cursor-blink", FALSE, NULL);
  g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
  g_autoptr(GDBusNodeInfo) node = g_dbus_node_info_new_for_xml(interface_xml, NULL);
  if (!bus) return;
  watch_buttons();
  self.asked = g_ptr_array_new_with_free_func(g_object_unref);
  g_dbus_connection_register_object(bus, "/org/tapedeck/Test", node->interfaces[0],
                                    &interface_table, NULL, NULL, NULL);
  g_autofree char *name = g_strdup_printf("org.tapedeck.Test.p%d", (int)getpid());
  g_bus_own_name_on_connection(bus, name, G_BUS_NAME_OWNER_FLAGS_NONE, NULL, NULL, NULL, NULL);
}
