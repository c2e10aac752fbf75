/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/base/live_lists.h"

#include "ui/widgets/base/focus.h"

#include <glib/gi18n.h>

struct _TdThreadList {
  GtkBox parent_instance;
  GtkBox *rows;
  TdPlayhead *playhead;   /* (owned) */
  TdLiveSession *session; /* (owned) or NULL */
  GPtrArray *lines;       /* (owned) of Line, by thread */
};

G_DEFINE_FINAL_TYPE(TdThreadList, td_thread_list, GTK_TYPE_BOX)

/* The widgets of a thread, all borrowed from the rows. */
typedef struct Line {
  GtkLabel *where;
  GtkWidget *step, *hold;
} Line;

char *
td_live_dup_thread_name(TdPlayhead *playhead, uint32_t thread) {
  TdDocument *document = td_playhead_get_document(playhead);
  const td_catalog *catalog = document ? td_document_get_catalog(document) : NULL;
  const char *name = catalog && thread < catalog->n_threads ? catalog->threads[thread].name : "";
  return *name ? g_strdup(name) : g_strdup_printf("%u", thread);
}

static uint32_t
thread_of(gpointer widget) {
  return GPOINTER_TO_UINT(g_object_get_data(widget, "thread"));
}

static void
step_clicked(GtkButton *button, TdThreadList *self) {
  td_live_session_step(self->session, thread_of(button));
}

static void
hold_toggled(GtkToggleButton *button, TdThreadList *self) {
  td_live_session_set_held(self->session, thread_of(button), gtk_toggle_button_get_active(button));
}

static void
set_name(GtkWidget *widget, const char *text) {
  gtk_widget_set_tooltip_text(widget, text);
  gtk_accessible_reset_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static GtkWidget *
make_labels(const char *name, GtkLabel **where) {
  GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *title = gtk_label_new(name);
  *where = GTK_LABEL(gtk_label_new(NULL));
  gtk_label_set_xalign(GTK_LABEL(title), 0);
  gtk_label_set_xalign(*where, 0);
  gtk_label_set_ellipsize(*where, PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars(*where, 26);
  gtk_label_set_max_width_chars(*where, 40);
  gtk_widget_add_css_class(GTK_WIDGET(*where), "dim-label");
  gtk_widget_set_hexpand(box, TRUE);
  gtk_box_append(GTK_BOX(box), title);
  gtk_box_append(GTK_BOX(box), GTK_WIDGET(*where));
  return box;
}

static void
add_line(TdThreadList *self, uint32_t thread) {
  Line *line = g_new0(Line, 1);
  g_autofree char *name = td_live_dup_thread_name(self->playhead, thread);
  g_autofree char *step = g_strdup_printf(_("Step thread %s alone"), name);
  g_autofree char *hold =
      g_strdup_printf(_("Hold thread %s: it waits while the others go on"), name);
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_box_append(GTK_BOX(row), make_labels(name, &line->where));
  line->step = gtk_button_new_from_icon_name("td-event-step-symbolic");
  line->hold = gtk_toggle_button_new_with_label(_("Hold"));
  set_name(line->step, step);
  set_name(line->hold, hold);
  g_object_set_data(G_OBJECT(line->step), "thread", GUINT_TO_POINTER(thread));
  g_object_set_data(G_OBJECT(line->hold), "thread", GUINT_TO_POINTER(thread));
  gtk_widget_set_valign(line->step, GTK_ALIGN_CENTER);
  gtk_widget_set_valign(line->hold, GTK_ALIGN_CENTER);
  g_signal_connect(line->step, "clicked", G_CALLBACK(step_clicked), self);
  g_signal_connect(line->hold, "toggled", G_CALLBACK(hold_toggled), self);
  gtk_box_append(GTK_BOX(row), line->step);
  gtk_box_append(GTK_BOX(row), line->hold);
  gtk_box_append(self->rows, row);
  g_ptr_array_add(self->lines, line);
}

static char *
dup_where(TdThreadList *self, uint32_t thread) {
  const TdLiveStop *stop = td_live_session_find_stop(self->session, thread);
  if (!stop) return g_strdup(_("not stopped"));
  return stop->name ? g_strdup_printf(_("stopped at %s of %s"), stop->kind, stop->name)
                    : g_strdup_printf(_("stopped at %s"), stop->kind);
}

static void
update(TdThreadList *self) {
  for (guint thread = 0; thread < self->lines->len; thread++) {
    Line *line = self->lines->pdata[thread];
    g_autofree char *where = dup_where(self, thread);
    gtk_label_set_text(line->where, where);
    gtk_widget_set_sensitive(line->step, td_live_session_find_stop(self->session, thread) != NULL);
    g_signal_handlers_block_by_func(line->hold, hold_toggled, self);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(line->hold),
                                 td_live_session_is_held(self->session, thread));
    g_signal_handlers_unblock_by_func(line->hold, hold_toggled, self);
  }
}

/* Threads come while the tape grows; those that are there stay. */
static void
fill(TdThreadList *self) {
  TdDocument *document = self->playhead ? td_playhead_get_document(self->playhead) : NULL;
  if (!self->session || !document) return;
  while (self->lines->len < td_document_get_catalog(document)->n_threads)
    add_line(self, self->lines->len);
  update(self);
}

void
td_thread_list_set_playhead(TdThreadList *self, TdPlayhead *playhead) {
  if (!g_set_object(&self->playhead, playhead)) return;
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(fill), self, G_CONNECT_SWAPPED);
}

void
td_thread_list_set_session(TdThreadList *self, TdLiveSession *session) {
  GtkWidget *child;
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_set_object(&self->session, session);
  g_ptr_array_set_size(self->lines, 0);
  td_focus_drop(GTK_WIDGET(self->rows));
  while ((child = gtk_widget_get_first_child(GTK_WIDGET(self->rows))))
    gtk_box_remove(self->rows, child);
  if (session) g_signal_connect_swapped(session, "changed", G_CALLBACK(update), self);
  fill(self);
}

static void
td_thread_list_dispose(GObject *object) {
  TdThreadList *self = TD_THREAD_LIST(object);
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_clear_object(&self->session);
  g_clear_object(&self->playhead);
  g_clear_pointer(&self->lines, g_ptr_array_unref);
  G_OBJECT_CLASS(td_thread_list_parent_class)->dispose(object);
}

static void
td_thread_list_class_init(TdThreadListClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_thread_list_dispose;
}

static void
td_thread_list_init(TdThreadList *self) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(self), 6);
  GtkWidget *heading = gtk_label_new(_("Threads of the program"));
  gtk_label_set_xalign(GTK_LABEL(heading), 0);
  gtk_widget_add_css_class(heading, "heading");
  self->rows = GTK_BOX(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6));
  self->lines = g_ptr_array_new_with_free_func(g_free);
  gtk_box_append(GTK_BOX(self), heading);
  gtk_box_append(GTK_BOX(self), GTK_WIDGET(self->rows));
}
