/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/view/palette.h"

#include "ui/model/facts/node_words.h"
#include "ui/model/palette/palette_search.h"
#include "ui/widgets/base/focus.h"
#include "ui/widgets/panes/answer_row.h"

#include <glib/gi18n.h>

#define TOP 48 /* px below the top of the parent */

typedef struct Action {
  char *name, *title, *key; /* (owned); key may be NULL */
} Action;

/* What a row does. */
typedef struct Target {
  TdPaletteKind kind;
  char *action;         /* (owned) or NULL */
  TdAnswerItem *answer; /* (owned) or NULL */
  const TdPlace *place; /* (borrowed from the places) or NULL */
  uint32_t node;
  uint64_t seq;
} Target;

struct _TdPalette {
  GtkPopover parent_instance;
  GtkSearchEntry *entry;
  GtkLabel *summary;
  GtkScrolledWindow *scroll;
  GtkListBox *results;
  TdPlayhead *playhead;    /* (owned) */
  GArray *actions;         /* (owned) of Action */
  GListModel *answers;     /* (owned) or NULL */
  TdPlaces *places;        /* (owned) of the document, or NULL */
  TdPaletteSearch *search; /* (owned) or NULL */
  gboolean wants_first;    /* Enter came before anything was found */
};

G_DEFINE_FINAL_TYPE(TdPalette, td_palette, GTK_TYPE_POPOVER)

static const char *const kind_titles[] = {
    [TD_PALETTE_ACTION] = N_("Action"), [TD_PALETTE_ANSWER] = N_("Answer"),
    [TD_PALETTE_MODULE] = N_("Module"), [TD_PALETTE_LINE] = N_("Line"),
    [TD_PALETTE_NODE] = N_("Node"),     [TD_PALETTE_EVENT] = N_("Event"),
};

static void
clear_action(gpointer data) {
  Action *action = data;
  g_free(action->name);
  g_free(action->title);
  g_free(action->key);
}

static void
free_target(gpointer data) {
  Target *target = data;
  g_clear_object(&target->answer);
  g_free(target->action);
  g_free(target);
}

/* ---- rows ---- */

static GtkWidget *
make_label(const char *text, const char *css_class) {
  GtkWidget *label = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  if (css_class) gtk_widget_add_css_class(label, css_class);
  return label;
}

static GtkWidget *
make_content(const char *text, const char *note) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12), *label = make_label(text, NULL);
  gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand(label, TRUE);
  gtk_widget_set_tooltip_text(label, text);
  gtk_box_append(GTK_BOX(box), label);
  gtk_box_append(GTK_BOX(box), make_label(note, "dim-label"));
  return box;
}

static const char *
label_of(GtkListBoxRow *row) {
  return g_object_get_data(G_OBJECT(row), "label");
}

/* The focus stays in the entry, so the entry's description says which row Enter takes. */
static void
row_selected(TdPalette *self) {
  GtkListBoxRow *row = gtk_list_box_get_selected_row(self->results);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self->entry), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                 row ? label_of(row) : "", -1);
}

/* Takes what the target owns. `note` is a key or the kind. */
static void
add_row(TdPalette *self, Target target, const char *text, const char *note) {
  GtkWidget *row = gtk_list_box_row_new();
  const char *kind = _(kind_titles[target.kind]);
  char *label = g_strdup_printf("%s, %s", text, note ? note : kind);
  gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), make_content(text, note ? note : kind));
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_object_set_data_full(G_OBJECT(row), "label", label, g_free);
  g_object_set_data_full(G_OBJECT(row), "target", g_memdup2(&target, sizeof target), free_target);
  gtk_list_box_append(self->results, row);
  if (!gtk_list_box_get_selected_row(self->results))
    gtk_list_box_select_row(self->results, GTK_LIST_BOX_ROW(row));
}

static void
clear(TdPalette *self) {
  GtkListBoxRow *row;
  g_clear_pointer(&self->search, td_palette_search_free);
  self->wants_first = FALSE;
  td_focus_drop(GTK_WIDGET(self->results));
  while ((row = gtk_list_box_get_row_at_index(self->results, 0)))
    gtk_list_box_remove(self->results, GTK_WIDGET(row));
}

static void
show_summary(TdPalette *self) {
  gboolean has_rows = gtk_list_box_get_row_at_index(self->results, 0) != NULL;
  gboolean is_over = !self->search || td_palette_search_is_over(self->search);
  const char *text = !is_over ? _("Searching…") : !has_rows ? _("Nothing matches") : "";
  gtk_label_set_text(self->summary, text);
}

/* ---- searching ---- */

static void
list_actions(TdPalette *self, const TdNodeWords *words) {
  for (guint i = 0; i < self->actions->len; i++) {
    const Action *action = &g_array_index(self->actions, Action, i);
    if (!td_node_words_are_in(words, action->title)) continue;
    Target target = {.kind = TD_PALETTE_ACTION, .action = g_strdup(action->name)};
    add_row(self, target, action->title, action->key);
  }
}

static void
list_answers(TdPalette *self, const TdNodeWords *words) {
  for (guint i = 0; self->answers && i < g_list_model_get_n_items(self->answers); i++) {
    g_autoptr(TdAnswerItem) item = g_list_model_get_item(self->answers, i);
    const char *figure = td_answer_item_get_figure(item), *answer = td_answer_item_get_text(item);
    g_autofree char *text = *figure ? g_strdup_printf("%s: %s", figure, answer) : g_strdup(answer);
    g_autofree char *all = g_strconcat(text, "\n", td_answer_item_get_detail(item), "\n",
                                       td_answer_item_get_place(item), NULL);
    if (td_answer_item_get_seq(item) == UINT64_MAX || !td_node_words_are_in(words, all)) continue;
    add_row(self, (Target){.kind = TD_PALETTE_ANSWER, .answer = g_object_ref(item)}, text, NULL);
  }
}

static void
found(const TdPaletteHit *hit, gpointer data) {
  Target target = {.kind = hit->kind, .place = hit->place, .node = hit->node, .seq = hit->seq};
  add_row(data, target, hit->text, NULL);
}

static void choose(TdPalette *self, GtkListBoxRow *row);

static void
searched(gpointer data) {
  TdPalette *self = data;
  show_summary(self);
  if (self->wants_first) choose(self, gtk_list_box_get_selected_row(self->results));
}

static void
search(TdPalette *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  const char *typed = gtk_editable_get_text(GTK_EDITABLE(self->entry));
  g_autoptr(TdNodeWords) words = td_node_words_new(typed);
  clear(self);
  list_actions(self, words);
  if (!td_node_words_is_empty(words)) {
    list_answers(self, words);
    if (document && !self->places) self->places = td_places_new(document);
    if (self->places)
      self->search = td_palette_search_new(
          self->places, typed, td_playhead_get_position(self->playhead), found, searched, self);
  }
  show_summary(self);
}

static void
forget_document(TdPalette *self) {
  gtk_popover_popdown(GTK_POPOVER(self));
  clear(self);
  g_clear_pointer(&self->places, td_places_free);
}

/* ---- going there ---- */

/* The selection is a node of the pass shown, if one is among them. */
static void
mark_place(TdPalette *self, const TdPlace *place) {
  GArray *nodes = td_places_dup_nodes(self->places, place);
  td_graph_scene *scene = td_document_get_scene(td_playhead_get_document(self->playhead));
  uint32_t chosen = nodes->len ? g_array_index(nodes, uint32_t, 0) : TD_NONE;
  double x, y;
  for (guint i = 0; scene && i < nodes->len; i++) {
    uint32_t node = g_array_index(nodes, uint32_t, i);
    if (!td_graph_scene_place(scene, node, &x, &y)) continue;
    chosen = node;
    break;
  }
  td_playhead_set_selection(self->playhead, chosen);
  td_playhead_set_marks(self->playhead, nodes);
}

static void
go(TdPalette *self, const Target *target) {
  if (target->kind != TD_PALETTE_ACTION) td_playhead_set_playing(self->playhead, FALSE);
  switch (target->kind) {
  case TD_PALETTE_ACTION:
    gtk_widget_activate_action(gtk_widget_get_parent(GTK_WIDGET(self)), target->action, NULL);
    break;
  case TD_PALETTE_ANSWER:
    td_answer_row_go(target->answer, self->playhead);
    break;
  case TD_PALETTE_MODULE:
  case TD_PALETTE_LINE:
    mark_place(self, target->place);
    break;
  case TD_PALETTE_NODE:
    td_playhead_set_selection(self->playhead, target->node);
    break;
  case TD_PALETTE_EVENT:
    td_playhead_set_position(self->playhead, target->seq + 1);
    break;
  }
}

static void
choose(TdPalette *self, GtkListBoxRow *row) {
  if (!row) return;
  Target *target = g_object_steal_data(G_OBJECT(row), "target"); /* the row goes with the popover */
  gtk_popover_popdown(GTK_POPOVER(self));
  go(self, target);
  free_target(target);
}

static void
entry_activated(TdPalette *self) {
  GtkListBoxRow *row = gtk_list_box_get_selected_row(self->results);
  self->wants_first = !row;
  choose(self, row);
}

static void
row_activated(GtkListBox *list, GtkListBoxRow *row, gpointer data) {
  choose(data, row);
}

static void
show_row(TdPalette *self, GtkListBoxRow *row) {
  double x, y;
  GtkWidget *widget = GTK_WIDGET(row);
  if (!gtk_widget_translate_coordinates(widget, GTK_WIDGET(self->results), 0, 0, &x, &y)) return;
  gtk_adjustment_clamp_page(gtk_scrolled_window_get_vadjustment(self->scroll), y,
                            y + gtk_widget_get_height(widget));
}

static gboolean
key_pressed(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType modifiers,
            gpointer data) {
  TdPalette *self = data;
  int step = key == GDK_KEY_Down || key == GDK_KEY_KP_Down ? 1
             : key == GDK_KEY_Up || key == GDK_KEY_KP_Up   ? -1
                                                           : 0;
  if (step == 0) return FALSE;
  GtkListBoxRow *row = gtk_list_box_get_selected_row(self->results);
  int at = row ? gtk_list_box_row_get_index(row) + step : 0;
  GtkListBoxRow *next = at < 0 ? NULL : gtk_list_box_get_row_at_index(self->results, at);
  if (next) {
    gtk_list_box_select_row(self->results, next);
    show_row(self, next);
  }
  return TRUE;
}

/* ---- the widget ---- */

void
td_palette_clear_actions(TdPalette *self) {
  g_array_set_size(self->actions, 0);
}

void
td_palette_add_action(TdPalette *self, const char *action, const char *title, const char *key) {
  Action added = {g_strdup(action), g_strdup(title), g_strdup(key)};
  g_array_append_val(self->actions, added);
}

void
td_palette_set_answers(TdPalette *self, GListModel *answers) {
  g_set_object(&self->answers, answers);
}

void
td_palette_open(TdPalette *self) {
  GtkWidget *parent = gtk_widget_get_parent(GTK_WIDGET(self));
  GdkRectangle top = {gtk_widget_get_width(parent) / 2, TOP, 1, 1};
  gtk_popover_set_pointing_to(GTK_POPOVER(self), &top);
  gtk_popover_popup(GTK_POPOVER(self));
  gtk_editable_select_region(GTK_EDITABLE(self->entry), 0, -1);
  gtk_widget_grab_focus(GTK_WIDGET(self->entry));
  search(self);
}

static void
td_palette_dispose(GObject *object) {
  TdPalette *self = TD_PALETTE(object);
  g_clear_pointer(&self->search, td_palette_search_free);
  g_clear_pointer(&self->places, td_places_free);
  g_clear_pointer(&self->actions, g_array_unref);
  g_clear_object(&self->answers);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_palette_parent_class)->dispose(object);
}

static void
td_palette_class_init(TdPaletteClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_palette_dispose;
  gtk_widget_class_set_template_from_resource(widget_class, "/org/tapedeck/Tapedeck/ui/palette.ui");
  gtk_widget_class_bind_template_child(widget_class, TdPalette, entry);
  gtk_widget_class_bind_template_child(widget_class, TdPalette, summary);
  gtk_widget_class_bind_template_child(widget_class, TdPalette, scroll);
  gtk_widget_class_bind_template_child(widget_class, TdPalette, results);
}

static void
td_palette_init(TdPalette *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  self->actions = g_array_new(FALSE, FALSE, sizeof(Action));
  g_array_set_clear_func(self->actions, clear_action);
  GtkEventController *keys = gtk_event_controller_key_new();
  gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
  g_signal_connect(keys, "key-pressed", G_CALLBACK(key_pressed), self);
  gtk_widget_add_controller(GTK_WIDGET(self->entry), keys);
  g_signal_connect_swapped(self->entry, "changed", G_CALLBACK(search), self);
  g_signal_connect_swapped(self->entry, "stop-search", G_CALLBACK(gtk_popover_popdown), self);
  g_signal_connect_swapped(self->entry, "activate", G_CALLBACK(entry_activated), self);
  g_signal_connect_swapped(self->results, "row-selected", G_CALLBACK(row_selected), self);
  g_signal_connect(self->results, "row-activated", G_CALLBACK(row_activated), self);
  g_signal_connect(self, "hide", G_CALLBACK(clear), NULL);
}

TdPalette *
td_palette_new(GtkWidget *parent, TdPlayhead *playhead) {
  TdPalette *self = g_object_new(TD_TYPE_PALETTE, NULL);
  self->playhead = g_object_ref(playhead);
  gtk_widget_set_parent(GTK_WIDGET(self), parent);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(forget_document), self,
                          G_CONNECT_SWAPPED);
  return self;
}
