/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/event_rows.h"

#include "ui/widgets/base/focus.h"
#include "ui/widgets/base/row_label.h"
#include "ui/widgets/base/wrapped.h"

#include <glib/gi18n.h>

#define ROWS_AROUND 4

static GtkWidget *
text_new(const char *css_class, guint lines, PangoEllipsizeMode cut) {
  GtkWidget *text = td_row_label_new(lines, cut);
  gtk_widget_add_css_class(text, css_class);
  return text;
}

static GtkWidget *
number_new(void) {
  GtkWidget *seq = text_new("seq", 1, PANGO_ELLIPSIZE_NONE);
  td_row_label_set_number(TD_ROW_LABEL(seq));
  td_row_label_set_chars(TD_ROW_LABEL(seq), 5);
  gtk_widget_set_valign(seq, GTK_ALIGN_START);
  gtk_widget_add_css_class(seq, "numeric");
  return seq;
}

static void
clicked(GtkGestureClick *gesture, int n, double x, double y, gpointer item) {
  guint row = gtk_list_item_get_position(item);
  GtkWidget *box = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(gesture));
  gtk_widget_activate_action(box, "list.activate-item", "u", row);
}

/* A click goes to the event. GTK's own single-click-activate also selects what is under the
 * pointer: the list would not show where one is, and GTK 4.8 then uses rows that are freed. */
static void
add_click(GtkWidget *box, GtkListItem *item) {
  GtkGesture *click = gtk_gesture_click_new();
  gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), GDK_BUTTON_PRIMARY);
  g_signal_connect(click, "released", G_CALLBACK(clicked), item);
  gtk_widget_add_controller(box, GTK_EVENT_CONTROLLER(click));
}

/* The number of a node stays with its name. */
static char *
take_row_text(char *text) {
  g_auto(GStrv) parts = g_strsplit(text, " #", -1);
  g_free(text);
  return g_strjoinv("\u00a0#", parts);
}

/* A text that is set beforehand makes GTK ask the display where the pointer is, once for each row.
 */
static gboolean
tell_text(GtkWidget *box, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer item) {
  TdEventItem *event = gtk_list_item_get_item(item);
  if (!event) return FALSE;
  g_autofree char *text = take_row_text(td_event_item_dup_text(event));
  gtk_tooltip_set_text(tooltip, text);
  return TRUE;
}

/* A row that is not whole has room for the sentence, not for modules in it. The module has a line
 * of its own, whose end says more than its beginning. A whole row is a problem's, and has a line
 * that says where it is and what led to it. */
static void
setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer whole) {
  PangoEllipsizeMode end = whole ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END;
  PangoEllipsizeMode start = whole ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_START;
  GtkWidget *right = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *known = text_new("seq", 1, PANGO_ELLIPSIZE_END);
  td_row_label_set(TD_ROW_LABEL(known), _("reconstructed"));
  gtk_box_append(GTK_BOX(right), text_new("what", whole ? 0 : 3, end));
  gtk_box_append(GTK_BOX(right), text_new("seq", whole ? 0 : 1, start));
  gtk_box_append(GTK_BOX(right), known);
  GtkWidget *box = td_wrapped_row_new(9);
  gtk_widget_set_hexpand(right, TRUE);
  gtk_box_append(GTK_BOX(box), number_new());
  gtk_box_append(GTK_BOX(box), right);
  add_click(box, item);
  gtk_widget_set_has_tooltip(box, !whole);
  if (!whole) g_signal_connect_object(box, "query-tooltip", G_CALLBACK(tell_text), item, 0);
  gtk_list_item_set_child(item, box);
}

static void
bind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer whole) {
  TdEventItem *event = gtk_list_item_get_item(item);
  GtkWidget *box = gtk_list_item_get_child(item);
  GtkWidget *seq = gtk_widget_get_first_child(box);
  GtkWidget *what = gtk_widget_get_first_child(gtk_widget_get_next_sibling(seq));
  GtkWidget *where = gtk_widget_get_next_sibling(what), *known = gtk_widget_get_next_sibling(where);
  g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, td_event_item_get_seq(event));
  g_autofree char *text =
      take_row_text(whole ? td_event_item_dup_text(event) : td_event_item_dup_brief(event));
  g_autofree char *place =
      whole ? td_event_item_dup_problem_place(event) : td_event_item_dup_module(event);
  td_row_label_set(TD_ROW_LABEL(seq), number);
  td_row_label_set(TD_ROW_LABEL(what), text);
  td_row_label_set(TD_ROW_LABEL(where), place ? place : "");
  gtk_widget_set_visible(where, place && *place);
  gtk_widget_set_visible(known, td_event_item_is_reconstructed(event));
}

GtkListItemFactory *
td_event_rows_new(gboolean whole) {
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
  g_signal_connect(factory, "setup", G_CALLBACK(setup), GINT_TO_POINTER(whole));
  g_signal_connect(factory, "bind", G_CALLBACK(bind), GINT_TO_POINTER(whole));
  return factory;
}

static void
drop_focus(GtkWidget *view) {
  if (!td_focus_is_in(view)) return;
  g_object_set_data(G_OBJECT(view), "td-focused", view);
  td_focus_drop(view);
}

static GtkWidget *
selected_row(GtkWidget *view) {
  GtkWidget *row = gtk_widget_get_first_child(view);
  while (row && !(gtk_widget_get_state_flags(row) & GTK_STATE_FLAG_SELECTED))
    row = gtk_widget_get_next_sibling(row);
  return row;
}

static void
take_focus_back(GtkWidget *view) {
  GtkRoot *root = gtk_widget_get_root(view);
  if (!g_object_steal_data(G_OBJECT(view), "td-focused") || !root) return;
  if (gtk_root_get_focus(root) && !td_focus_is_in(view)) return;
  GtkWidget *row = selected_row(view);
  gtk_widget_grab_focus(row ? row : view);
}

/* When a row goes that has the focus, GTK 4.8 gives it to the row beside, selects that, and aborts
 * because the list has no more rows. */
void
td_event_rows_clear(GtkListView *view) {
  drop_focus(GTK_WIDGET(view));
  gtk_list_view_set_model(view, NULL);
}

void
td_event_rows_show(GtkListView *view, TdEventList *events) {
  td_event_rows_clear(view);
  g_autoptr(GtkSingleSelection) selection = gtk_single_selection_new(NULL);
  gtk_single_selection_set_autoselect(selection, FALSE);
  gtk_single_selection_set_can_unselect(selection, TRUE);
  gtk_single_selection_set_model(selection, G_LIST_MODEL(events));
  gtk_list_view_set_model(view, GTK_SELECTION_MODEL(selection));
  g_object_unref(events);
}

static TdEventList *
events_of(GtkListView *view) {
  GtkSelectionModel *selection = gtk_list_view_get_model(view);
  if (!selection) return NULL;
  return TD_EVENT_LIST(gtk_single_selection_get_model(GTK_SINGLE_SELECTION(selection)));
}

/* Shows some rows beyond the one to see, on the side to which one moves. */
static guint
with_rows_around(GtkWidget *view, guint row) {
  guint n = g_list_model_get_n_items(G_LIST_MODEL(gtk_list_view_get_model(GTK_LIST_VIEW(view))));
  guint last = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(view), "td-last"));
  g_object_set_data(G_OBJECT(view), "td-last", GUINT_TO_POINTER(row));
  return row >= last ? MIN(row + ROWS_AROUND, n - 1) : row - MIN(row, ROWS_AROUND);
}

/* The focus goes where the selection goes, once the list has scrolled there. */
static void
focus_with_selection(GtkWidget *view) {
  if (td_focus_is_in(view)) g_object_set_data(G_OBJECT(view), "td-focused", view);
}

/* A list that was not laid out with its present model cannot scroll yet (GTK 4.8 then shows
 * nothing), so the scrolling waits for a whole frame. */
static gboolean
scroll_cb(GtkWidget *view, GdkFrameClock *clock, gpointer data) {
  gint64 asked = GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(view), "td-asked"));
  if (gdk_frame_clock_get_frame_counter(clock) < asked + 2) return G_SOURCE_CONTINUE;
  GtkSelectionModel *selection = gtk_list_view_get_model(GTK_LIST_VIEW(view));
  guint row = selection ? gtk_single_selection_get_selected(GTK_SINGLE_SELECTION(selection))
                        : GTK_INVALID_LIST_POSITION;
  if (row != GTK_INVALID_LIST_POSITION)
    gtk_widget_activate_action(view, "list.scroll-to-item", "u", with_rows_around(view, row));
  take_focus_back(view);
  g_object_set_data(G_OBJECT(view), "td-asked", NULL);
  return G_SOURCE_REMOVE;
}

static void
scroll_soon(GtkListView *view) {
  GdkFrameClock *clock = gtk_widget_get_frame_clock(GTK_WIDGET(view));
  if (!clock || g_object_get_data(G_OBJECT(view), "td-asked")) return;
  gint64 now = MAX(1, gdk_frame_clock_get_frame_counter(clock));
  g_object_set_data(G_OBJECT(view), "td-asked", GSIZE_TO_POINTER(now));
  gtk_widget_add_tick_callback(GTK_WIDGET(view), scroll_cb, NULL, NULL);
}

void
td_event_rows_follow(GtkListView *view, uint64_t seq) {
  TdEventList *events = events_of(view);
  if (!events) return;
  guint row = seq == UINT64_MAX ? G_MAXUINT : td_event_list_find(events, seq);
  GtkSingleSelection *selection = GTK_SINGLE_SELECTION(gtk_list_view_get_model(view));
  gtk_single_selection_set_selected(selection, row == G_MAXUINT ? GTK_INVALID_LIST_POSITION : row);
  focus_with_selection(GTK_WIDGET(view));
  if (row != G_MAXUINT) scroll_soon(view);
}

uint64_t
td_event_rows_beside(GtkListView *view, uint64_t position, int by) {
  TdEventList *events = events_of(view);
  guint n = events ? g_list_model_get_n_items(G_LIST_MODEL(events)) : 0;
  if (!n) return UINT64_MAX;
  guint row = position ? td_event_list_find(events, position - 1) : G_MAXUINT;
  /* Between two listed events, the one above is that of `row`. */
  gboolean between = row != G_MAXUINT && td_event_rows_activated(view, row) + 1 < position;
  gint64 wanted = (row == G_MAXUINT ? -1 : (gint64)row) + by + (between && by < 0);
  return td_event_rows_activated(view, (guint)CLAMP(wanted, 0, (gint64)n - 1));
}

uint64_t
td_event_rows_activated(GtkListView *view, guint row) {
  g_autoptr(TdEventItem) item = g_list_model_get_item(G_LIST_MODEL(events_of(view)), row);
  return td_event_item_get_seq(item);
}

char *
td_event_rows_dup_text(gpointer item, gpointer data) {
  g_autofree char *sentence = td_event_item_dup_text(item);
  return g_strdup_printf("%" G_GUINT64_FORMAT "\t%s", td_event_item_get_seq(item), sentence);
}
