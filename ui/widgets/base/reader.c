/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/reader.h"

#include <math.h>

#define NO_NODE G_MAXUINT32

/* The tree, or an item of it. */
struct _TdReader {
  GtkWidget parent_instance;
  char *text; /* (owned) */
  guint64 key;
  guint32 node;
  gboolean is_selected;
  graphene_rect_t box; /* pixels of the canvas */
};

G_DEFINE_FINAL_TYPE(TdReader, td_reader, GTK_TYPE_WIDGET)

static guint chosen_signal;

static TdReader *
first_of(TdReader *self) {
  GtkWidget *child = gtk_widget_get_first_child(GTK_WIDGET(self));
  return child ? TD_READER(child) : NULL;
}

static TdReader *
after(TdReader *self) {
  GtkWidget *next = gtk_widget_get_next_sibling(GTK_WIDGET(self));
  return next ? TD_READER(next) : NULL;
}

static TdReader *
new_item(void) {
  return g_object_new(TD_TYPE_READER, "accessible-role", GTK_ACCESSIBLE_ROLE_TREE_ITEM, "focusable",
                      TRUE, NULL);
}

static void
set_text(TdReader *self, const char *text) {
  if (g_strcmp0(self->text, text) == 0) return;
  g_free(self->text);
  self->text = g_strdup(text);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static void
set_selected(TdReader *self, gboolean is_selected) {
  if (self->is_selected == is_selected) return;
  self->is_selected = is_selected;
  gtk_accessible_update_state(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_STATE_SELECTED, is_selected, -1);
}

/* What is about no node cannot be chosen. */
static void
set_node(TdReader *self, guint32 node) {
  self->node = node;
  gtk_widget_action_set_enabled(GTK_WIDGET(self), "reader.choose", node != NO_NODE);
}

static void
set_box(TdReader *self, const graphene_rect_t *box) {
  if (graphene_rect_equal(&self->box, box)) return;
  self->box = *box;
  gtk_widget_queue_allocate(gtk_widget_get_parent(GTK_WIDGET(self)));
}

/* The item with a key among `from` and those after it, moved before `from`; else a new one. */
static TdReader *
obtain(TdReader *parent, TdReader *from, guint64 key) {
  TdReader *found = from;
  while (found && found->key != key)
    found = after(found);
  if (found && found == from) return found;
  if (!found) found = new_item();
  gtk_widget_insert_before(GTK_WIDGET(found), GTK_WIDGET(parent), (GtkWidget *)from);
  return found;
}

static void
remove_from(TdReader *from) {
  while (from) {
    TdReader *next = after(from);
    gtk_widget_unparent(GTK_WIDGET(from));
    from = next;
  }
}

/* Shows items from one place of an array on, until one belongs to a level above. Returns where that
 * is. */
static guint
show_level(TdReader *parent, GArray *told, guint at, guint level, guint32 selected) {
  TdReader *next = first_of(parent);
  while (at < told->len && g_array_index(told, TdTold, at).level >= level) {
    const TdTold *item = &g_array_index(told, TdTold, at++);
    TdReader *shown = obtain(parent, next, item->key);
    shown->key = item->key;
    set_node(shown, item->node);
    set_text(shown, item->text);
    set_selected(shown, item->node != NO_NODE && item->node == selected);
    set_box(shown, &item->box);
    at = show_level(shown, told, at, level + 1, selected);
    next = after(shown);
  }
  remove_from(next);
  return at;
}

void
td_reader_show(TdReader *self, GArray *told, guint32 selected) {
  gboolean has_focus = td_reader_has_focus(self);
  show_level(self, told, 0, 1, selected);
  if (has_focus && !td_reader_has_focus(self) && !td_reader_step(self, 1))
    gtk_widget_grab_focus(gtk_widget_get_parent(GTK_WIDGET(self)));
}

static TdReader *
focused_item(TdReader *self) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(self));
  GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
  return focus && TD_IS_READER(focus) && gtk_widget_is_ancestor(focus, GTK_WIDGET(self))
             ? TD_READER(focus)
             : NULL;
}

gboolean
td_reader_has_focus(TdReader *self) {
  return focused_item(self) != NULL;
}

static void
collect(TdReader *self, GPtrArray *items) {
  for (TdReader *item = first_of(self); item; item = after(item)) {
    g_ptr_array_add(items, item);
    collect(item, items);
  }
}

gboolean
td_reader_focus_node(TdReader *self, guint32 node) {
  g_autoptr(GPtrArray) items = g_ptr_array_new();
  collect(self, items);
  for (guint i = 0; i < items->len; i++) {
    TdReader *item = items->pdata[i];
    if (item->node == node && node != NO_NODE)
      return item == focused_item(self) || gtk_widget_grab_focus(GTK_WIDGET(item));
  }
  return FALSE;
}

gboolean
td_reader_step(TdReader *self, int direction) {
  g_autoptr(GPtrArray) items = g_ptr_array_new();
  guint at = 0;
  collect(self, items);
  if (g_ptr_array_find(items, focused_item(self), &at)) at += (guint)direction;
  return at < items->len && gtk_widget_grab_focus(items->pdata[at]);
}

void
td_reader_choose(TdReader *self) {
  TdReader *item = focused_item(self);
  if (item) gtk_widget_activate_action(GTK_WIDGET(item), "reader.choose", NULL);
}

static void
td_reader_size_allocate(GtkWidget *widget, int width, int height, int baseline) {
  TdReader *self = TD_READER(widget);
  for (TdReader *item = first_of(self); item; item = after(item)) {
    const graphene_rect_t *box = &item->box;
    GtkAllocation place = {(int)floorf(box->origin.x - self->box.origin.x),
                           (int)floorf(box->origin.y - self->box.origin.y),
                           MAX((int)ceilf(box->size.width), 1),
                           MAX((int)ceilf(box->size.height), 1)};
    gtk_widget_size_allocate(GTK_WIDGET(item), &place, -1);
  }
}

static void
choose(GtkWidget *widget, const char *action, GVariant *parameter) {
  TdReader *self = TD_READER(widget);
  GtkWidget *tree = widget;
  while (TD_IS_READER(gtk_widget_get_parent(tree)))
    tree = gtk_widget_get_parent(tree);
  if (self->node != NO_NODE) g_signal_emit(tree, chosen_signal, 0, self->node);
}

static void
td_reader_dispose(GObject *object) {
  remove_from(first_of(TD_READER(object)));
  G_OBJECT_CLASS(td_reader_parent_class)->dispose(object);
}

static void
td_reader_finalize(GObject *object) {
  g_free(TD_READER(object)->text);
  G_OBJECT_CLASS(td_reader_parent_class)->finalize(object);
}

static void
td_reader_class_init(TdReaderClass *klass) {
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  G_OBJECT_CLASS(klass)->dispose = td_reader_dispose;
  G_OBJECT_CLASS(klass)->finalize = td_reader_finalize;
  widget_class->size_allocate = td_reader_size_allocate;
  chosen_signal = g_signal_new("chosen", TD_TYPE_READER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                               G_TYPE_NONE, 1, G_TYPE_UINT);
  gtk_widget_class_set_css_name(widget_class, "tdreader");
  gtk_widget_class_install_action(widget_class, "reader.choose", NULL, choose);
}

static void
td_reader_init(TdReader *self) {
  self->node = NO_NODE;
}

TdReader *
td_reader_new(const char *title) {
  TdReader *self = g_object_new(TD_TYPE_READER, "accessible-role", GTK_ACCESSIBLE_ROLE_TREE, NULL);
  set_node(self, NO_NODE);
  gtk_widget_set_can_target(GTK_WIDGET(self), FALSE);
  gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  return self;
}
