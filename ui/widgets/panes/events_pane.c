/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/panes/events_pane.h"

#include "ui/geometry/format.h"
#include "ui/model/document/document_segment.h"
#include "ui/widgets/base/list_bin.h"
#include "ui/widgets/base/list_copy.h"
#include "ui/widgets/panes/event_rows.h"

#include <glib/gi18n.h>

#define ROWS_OF_PAGE 10

struct _TdEventsPane {
  AdwBin parent_instance;
  GtkDropDown *family;
  GtkToggleButton *only_selected;
  GtkStack *stack;
  GtkListView *list;
  GtkEditable *words;
  GtkWidget *before, *after, *all_times;
  GtkLabel *found, *segment;
  TdPlayhead *playhead;      /* (owned) */
  TdBrush *brush;            /* (owned) */
  GCancellable *cancellable; /* (owned): of the filter that runs */
  uint32_t listed_node;      /* of the list shown, TD_NONE: of all */
};

G_DEFINE_FINAL_TYPE(TdEventsPane, td_events_pane, ADW_TYPE_BIN)

static void
follow(TdEventsPane *self) {
  if (!td_playhead_get_document(self->playhead) || !gtk_widget_get_mapped(GTK_WIDGET(self))) return;
  uint64_t position = td_playhead_get_position(self->playhead);
  td_event_rows_follow(self->list, position ? position - 1 : UINT64_MAX);
}

static void
say_found(TdEventsPane *self, guint n) {
  g_autofree char *count = td_format_count(n);
  g_autofree char *text = g_strdup_printf(ngettext("%s event", "%s events", n), count);
  g_autofree char *range = td_brush_dup_text(self->brush);
  g_autofree char *all = range ? g_strdup_printf("%s · %s", text, range) : g_strdup(text);
  gtk_label_set_text(self->found, all);
}

static TdEventRule
rule_of(TdEventsPane *self) {
  double from, to;
  TdEventRule rule = {gtk_drop_down_get_selected(self->family), self->listed_node,
                      gtk_editable_get_text(self->words)};
  gboolean brushed = td_brush_get(self->brush, &from, &to);
  if (brushed) rule.from_ns = (uint64_t)MAX(from, 0);
  if (brushed) rule.to_ns = (uint64_t)MAX(to, 1);
  gtk_widget_set_visible(self->all_times, brushed);
  return rule;
}

static void
filtered(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdEventsPane) self = data;
  TdEventList *events = td_event_filter_finish(TD_DOCUMENT(source), result, NULL);
  if (!events) return;
  guint n = g_list_model_get_n_items(G_LIST_MODEL(events));
  td_event_rows_show(self->list, events);
  say_found(self, n);
  gtk_stack_set_visible_child_name(self->stack, n ? "list" : "empty");
  follow(self);
}

static void
filter(TdEventsPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  gboolean one = gtk_toggle_button_get_active(self->only_selected);
  g_cancellable_cancel(self->cancellable);
  g_clear_object(&self->cancellable);
  td_event_rows_clear(self->list);
  self->listed_node = one ? td_playhead_get_selection(self->playhead) : TD_NONE;
  if (!document) return;
  self->cancellable = g_cancellable_new();
  TdEventRule rule = rule_of(self);
  gtk_label_set_text(self->found, _("Searching…"));
  gtk_widget_set_visible(GTK_WIDGET(self->found), !td_event_rule_lists_all(&rule));
  td_event_filter_async(document, rule, self->cancellable, filtered, g_object_ref(self));
}

static void
document_changed(TdEventsPane *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  gboolean cut = document && td_document_is_cut(document);
  g_autofree char *segment = cut ? td_document_dup_segment_text(document) : NULL;
  g_autofree char *events = cut ? td_document_dup_segment_events(document) : NULL;
  g_autofree char *text = cut ? g_strdup_printf("%s: %s", segment, events) : NULL;
  gtk_label_set_text(self->segment, text ? text : "");
  gtk_widget_set_visible(GTK_WIDGET(self->segment), cut);
  filter(self);
}

static void
selection_changed(TdEventsPane *self) {
  if (!gtk_toggle_button_get_active(self->only_selected)) return;
  if (td_playhead_get_selection(self->playhead) != self->listed_node) filter(self);
}

void
td_events_pane_show_selected(TdEventsPane *self) {
  gtk_toggle_button_set_active(self->only_selected, TRUE);
}

void
td_events_pane_set_brush(TdEventsPane *self, TdBrush *brush) {
  if (!g_set_object(&self->brush, brush)) return;
  g_signal_connect_object(brush, "changed", G_CALLBACK(filter), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(self->all_times, "clicked", G_CALLBACK(td_brush_clear), brush,
                          G_CONNECT_SWAPPED);
}

void
td_events_pane_find(TdEventsPane *self) {
  gtk_widget_grab_focus(GTK_WIDGET(self->words));
  gtk_editable_select_region(self->words, 0, -1);
}

/* To the event that is listed after the playhead (1) or before it (-1). */
static void
go_listed(TdEventsPane *self, int by) {
  uint64_t position = td_playhead_get_position(self->playhead);
  uint64_t seq = td_event_rows_beside(self->list, position, by);
  if (seq == UINT64_MAX || (by > 0 ? seq < position : seq + 1 >= position)) return;
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, seq + 1);
}

static void
go_before(TdEventsPane *self) {
  go_listed(self, -1);
}

static void
go_after(TdEventsPane *self) {
  go_listed(self, 1);
}

static void
row_activated(GtkListView *list, guint row, gpointer data) {
  TdEventsPane *self = data;
  uint64_t seq = td_event_rows_activated(list, row);
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, seq + 1);
}

/* By how many rows a key moves. */
static int
rows_of_key(guint key) {
  switch (key) {
  case GDK_KEY_Up:
  case GDK_KEY_KP_Up:
    return -1;
  case GDK_KEY_Down:
  case GDK_KEY_KP_Down:
    return 1;
  case GDK_KEY_Page_Up:
    return -ROWS_OF_PAGE;
  case GDK_KEY_Page_Down:
    return ROWS_OF_PAGE;
  default:
    return 0;
  }
}

/* A key in the list moves the playhead to the event above or below. */
static gboolean
key_pressed(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
            gpointer data) {
  TdEventsPane *self = data;
  GdkModifierType modifiers = GDK_CONTROL_MASK | GDK_SHIFT_MASK | GDK_ALT_MASK;
  int by = state & modifiers ? 0 : rows_of_key(key);
  if (!by) return GDK_EVENT_PROPAGATE;
  uint64_t position = td_playhead_get_position(self->playhead);
  uint64_t seq = td_event_rows_beside(self->list, position, by);
  td_playhead_set_playing(self->playhead, FALSE);
  if (seq != UINT64_MAX) td_playhead_set_position(self->playhead, seq + 1);
  return GDK_EVENT_STOP;
}

static void
add_keys(TdEventsPane *self) {
  GtkEventController *key = gtk_event_controller_key_new();
  gtk_event_controller_set_propagation_phase(key, GTK_PHASE_CAPTURE);
  g_signal_connect(key, "key-pressed", G_CALLBACK(key_pressed), self);
  gtk_widget_add_controller(GTK_WIDGET(self->list), key);
}

void
td_events_pane_set_playhead(TdEventsPane *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::position", G_CALLBACK(follow), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(selection_changed), self,
                          G_CONNECT_SWAPPED);
  g_signal_connect(self, "map", G_CALLBACK(follow), NULL);
  g_signal_connect_swapped(self->family, "notify::selected", G_CALLBACK(filter), self);
  g_signal_connect_swapped(self->only_selected, "toggled", G_CALLBACK(filter), self);
  g_signal_connect_swapped(self->words, "search-changed", G_CALLBACK(filter), self);
  g_signal_connect_swapped(self->words, "activate", G_CALLBACK(go_after), self);
  g_signal_connect_swapped(self->words, "next-match", G_CALLBACK(go_after), self);
  g_signal_connect_swapped(self->words, "previous-match", G_CALLBACK(go_before), self);
  g_signal_connect_swapped(self->before, "clicked", G_CALLBACK(go_before), self);
  g_signal_connect_swapped(self->after, "clicked", G_CALLBACK(go_after), self);
}

static void
td_events_pane_dispose(GObject *object) {
  TdEventsPane *self = TD_EVENTS_PANE(object);
  if (self->cancellable) g_cancellable_cancel(self->cancellable);
  g_clear_object(&self->cancellable);
  g_clear_object(&self->brush);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_events_pane_parent_class)->dispose(object);
}

static void
td_events_pane_class_init(TdEventsPaneClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_events_pane_dispose;
  g_type_ensure(TD_TYPE_LIST_BIN);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/events_pane.ui");
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, family);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, only_selected);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, stack);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, list);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, words);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, before);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, after);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, found);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, all_times);
  gtk_widget_class_bind_template_child(widget_class, TdEventsPane, segment);
}

static void
td_events_pane_init(TdEventsPane *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  self->listed_node = TD_NONE;
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  const char *name;
  for (guint i = 0; (name = td_event_filter_name(i)); i++)
    gtk_string_list_append(names, name);
  gtk_drop_down_set_model(self->family, G_LIST_MODEL(names));
  g_autoptr(GtkListItemFactory) factory = td_event_rows_new(FALSE);
  gtk_list_view_set_factory(self->list, factory);
  g_signal_connect(self->list, "activate", G_CALLBACK(row_activated), self);
  td_list_copy_add(GTK_WIDGET(self->list), td_event_rows_dup_text, NULL, NULL);
  add_keys(self);
}
