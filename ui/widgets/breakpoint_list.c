/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document_texts.h"
#include "ui/widgets/live_lists.h"

#include <glib/gi18n.h>

struct _TdBreakpointList {
  GtkBox parent_instance;
  GtkBox *rows;
  TdPlayhead *playhead;   /* (owned) */
  TdLiveSession *session; /* (owned) or NULL */
  GHashTable *boxes;      /* (owned) condition to GtkCheckButton (borrowed from rows) */
};

G_DEFINE_FINAL_TYPE(TdBreakpointList, td_breakpoint_list, GTK_TYPE_BOX)

static const struct {
  const char *condition, *title;
} standing[] = {
    {"nan", N_("A NaN is born")},
    {"nonfinite", N_("A NaN or an Inf is born")},
    {"error", N_("A node fails")},
    {"begin", N_("A backward pass begins")},
};

static void
toggled(GtkCheckButton *box, TdBreakpointList *self) {
  const char *condition = g_object_get_data(G_OBJECT(box), "condition");
  td_live_session_set_condition(self->session, condition, gtk_check_button_get_active(box));
}

/* A line per condition; the first to ask for it names it. */
static void
add_row(TdBreakpointList *self, const char *condition, const char *title) {
  if (g_hash_table_contains(self->boxes, condition)) return;
  GtkWidget *box = gtk_check_button_new_with_label(title);
  g_object_set_data_full(G_OBJECT(box), "condition", g_strdup(condition), g_free);
  gtk_check_button_set_active(GTK_CHECK_BUTTON(box),
                              td_live_session_has_condition(self->session, condition));
  g_autofree char *tooltip = g_strdup_printf(_("On the command line: --break %s"), condition);
  gtk_widget_set_tooltip_text(box, tooltip);
  g_signal_connect(box, "toggled", G_CALLBACK(toggled), self);
  gtk_box_append(self->rows, box);
  g_hash_table_insert(self->boxes, g_strdup(condition), box);
}

static void
add_selected(TdBreakpointList *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  uint32_t node = td_playhead_get_selection(self->playhead);
  if (!document || node == TD_NONE) return;
  g_autofree char *name = td_document_dup_node_words(document, node);
  g_autofree char *here = g_strdup_printf("node:%u", node);
  g_autofree char *title = g_strdup_printf(_("%s runs"), name);
  add_row(self, here, title);
  const char *op = td_catalog_node_get(td_document_get_catalog(document), node)->name;
  if (!*op) return;
  g_autofree char *any = g_strdup_printf("op:%s", op);
  g_autofree char *any_title = g_strdup_printf(_("Any %s runs"), op);
  add_row(self, any, any_title);
}

static void
add_others(TdBreakpointList *self) {
  const char *const *conditions = td_live_session_get_conditions(self->session);
  for (; *conditions; conditions++) {
    const char *op = g_str_has_prefix(*conditions, "op:") ? *conditions + 3 : NULL;
    const char *node = g_str_has_prefix(*conditions, "node:") ? *conditions + 5 : NULL;
    g_autofree char *title = op     ? g_strdup_printf(_("Any %s runs"), op)
                             : node ? g_strdup_printf(_("Node %s runs"), node)
                                    : g_strdup(*conditions);
    add_row(self, *conditions, title);
  }
}

static void
fill(TdBreakpointList *self) {
  GtkWidget *child;
  g_hash_table_remove_all(self->boxes);
  while ((child = gtk_widget_get_first_child(GTK_WIDGET(self->rows))))
    gtk_box_remove(self->rows, child);
  if (!self->session || !self->playhead) return;
  add_selected(self);
  for (guint i = 0; i < G_N_ELEMENTS(standing); i++)
    add_row(self, standing[i].condition, _(standing[i].title));
  add_others(self);
}

/* What has the focus stays as long as the lines are the same. */
static void
session_changed(TdBreakpointList *self) {
  GHashTableIter at;
  gpointer condition, box;
  const char *const *conditions = td_live_session_get_conditions(self->session);
  for (; *conditions; conditions++)
    if (!g_hash_table_contains(self->boxes, *conditions)) {
      fill(self);
      return;
    }
  g_hash_table_iter_init(&at, self->boxes);
  while (g_hash_table_iter_next(&at, &condition, &box)) {
    g_signal_handlers_block_by_func(box, toggled, self);
    gtk_check_button_set_active(box, td_live_session_has_condition(self->session, condition));
    g_signal_handlers_unblock_by_func(box, toggled, self);
  }
}

void
td_breakpoint_list_set_playhead(TdBreakpointList *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::selection", G_CALLBACK(fill), self, G_CONNECT_SWAPPED);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(fill), self, G_CONNECT_SWAPPED);
}

void
td_breakpoint_list_set_session(TdBreakpointList *self, TdLiveSession *session) {
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_set_object(&self->session, session);
  if (session) g_signal_connect_swapped(session, "changed", G_CALLBACK(session_changed), self);
  fill(self);
}

static void
td_breakpoint_list_dispose(GObject *object) {
  TdBreakpointList *self = TD_BREAKPOINT_LIST(object);
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_clear_object(&self->session);
  g_clear_object(&self->playhead);
  g_clear_pointer(&self->boxes, g_hash_table_unref);
  G_OBJECT_CLASS(td_breakpoint_list_parent_class)->dispose(object);
}

static void
td_breakpoint_list_class_init(TdBreakpointListClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_breakpoint_list_dispose;
}

static void
td_breakpoint_list_init(TdBreakpointList *self) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(self), 6);
  GtkWidget *heading = gtk_label_new(_("Stop the program when"));
  gtk_label_set_xalign(GTK_LABEL(heading), 0);
  gtk_widget_add_css_class(heading, "heading");
  self->rows = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 3));
  self->boxes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  gtk_box_append(GTK_BOX(self), heading);
  gtk_box_append(GTK_BOX(self), GTK_WIDGET(self->rows));
}
