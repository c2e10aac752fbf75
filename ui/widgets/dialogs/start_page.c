/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/widgets/dialogs/start_page.h"

#include "ui/widgets/base/focus.h"
#include "ui/widgets/base/list_bin.h"
#include "ui/widgets/base/wrapped.h"

#include <glib/gi18n.h>

#define MAX_RECENT_SHOWN 3
#define WRAP_CHARS 34    /* a row is at least so wide */
#define ROWS_AT_A_TIME 6 /* GTK measures them in 20 ms */

/* Note [Rows that stay folded]
 * GTK measures all rows of a folded AdwExpanderRow, and that takes longer than anything else that
 * the page does. So its rows wait in a queue until somebody opens it, and come in a few at a time.
 */
typedef struct Folded {
  GQueue waiting; /* of GtkWidget (owned) */
  guint idle;     /* moves the next rows */
} Folded;

struct _TdStartPage {
  AdwBin parent_instance;
  GtkWidget *groups, *recent_group, *examples_group;
  GtkListBox *recent, *nan, *slow, *learn;
  AdwExpanderRow *examples, *lessons;
  Folded folded_examples, folded_lessons;
};

G_DEFINE_FINAL_TYPE(TdStartPage, td_start_page, ADW_TYPE_BIN)

typedef enum Purpose { PURPOSE_NAN, PURPOSE_SLOW, PURPOSE_LEARN, N_PURPOSES } Purpose;

/* A question, the example that answers it, and the page of the side pane that shows the answer. */
static const struct {
  Purpose purpose;
  const char *title, *subtitle, *example, *page;
} questions[] = {
    {PURPOSE_NAN, N_("Where was the NaN born?"),
     N_("Two infinities meet in a sum. No node is to blame."), "nan_from_sum", "findings"},
    {PURPOSE_NAN, N_("Which gradient became infinite?"),
     N_("The gradient of sqrt at zero, and what 0 × Inf makes of it."), "sqrt_at_zero", "findings"},
    {PURPOSE_NAN, N_("Why is the loss NaN, but no gradient?"),
     N_("The NaN is in a constant that the backward pass never sees."), "silent_nan", "findings"},
    {PURPOSE_SLOW, N_("Where did the time go?"),
     N_("A small network: the time of each operation, node, thread and hook."), "digits",
     "profile"},
    {PURPOSE_SLOW, N_("What did the end wait for?"),
     N_("The longest chain of a ResNet. Only what lies on it makes the pass shorter."), "resnet18",
     "critical"},
    {PURPOSE_SLOW, N_("Who waits for whom?"),
     N_("Two devices, two queues, and one sum that needs both."), "two_devices", "contention"},
    {PURPOSE_SLOW, N_("Why does memory grow with each step?"),
     N_("A list of losses keeps the graph of each step."), "losses_kept", "findings"},
    {PURPOSE_LEARN, N_("How does a backward pass run?"),
     N_("A chain of few nodes, event by event. The arrow keys step."), "exp_sum", "events"},
    {PURPOSE_LEARN, N_("Why does a node wait?"),
     N_("The gradient of a shortcut waits for the one from the long way."), "residual_block",
     "waiting"},
    {PURPOSE_LEARN, N_("Which of two nodes goes first?"),
     N_("The ready queue decides by depth and sequence_nr."), "polynomial", "inspector"},
    {PURPOSE_LEARN, N_("What is a backward pass inside another one?"),
     N_("Forty checkpoints, one inside the other."), "deep_reentry", "inspector"},
};

static GtkWidget *
row_new(const char *title, const char *subtitle, const char *icon) {
  GtkWidget *row = adw_action_row_new();
  g_autofree char *safe_title = g_markup_escape_text(title, -1);
  g_autofree char *safe_subtitle = g_markup_escape_text(subtitle, -1);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), safe_title);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), safe_subtitle);
  adw_action_row_add_suffix(ADW_ACTION_ROW(row), gtk_image_new_from_icon_name(icon));
  gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), TRUE);
  td_wrapped_fix(row, WRAP_CHARS);
  return row;
}

/* ---- rows that stay folded ---- */

static Folded *
folded_of(TdStartPage *self, AdwExpanderRow *expander) {
  return expander == self->examples ? &self->folded_examples : &self->folded_lessons;
}

static gboolean
add_some(TdStartPage *self, AdwExpanderRow *expander) {
  Folded *folded = folded_of(self, expander);
  for (int i = 0; i < ROWS_AT_A_TIME && folded->waiting.length; i++) {
    g_autoptr(GtkWidget) row = g_queue_pop_head(&folded->waiting);
    adw_expander_row_add_row(expander, row);
  }
  if (folded->waiting.length) return G_SOURCE_CONTINUE;
  folded->idle = 0;
  return G_SOURCE_REMOVE;
}

static gboolean
add_examples_cb(gpointer self) {
  return add_some(self, TD_START_PAGE(self)->examples);
}

static gboolean
add_lessons_cb(gpointer self) {
  return add_some(self, TD_START_PAGE(self)->lessons);
}

static void
expanded(TdStartPage *self, GParamSpec *spec, AdwExpanderRow *expander) {
  Folded *folded = folded_of(self, expander);
  if (folded->idle || !folded->waiting.length) return;
  folded->idle = g_idle_add(expander == self->examples ? add_examples_cb : add_lessons_cb, self);
}

static void
add_folded(TdStartPage *self, AdwExpanderRow *expander, GtkWidget *row) {
  g_queue_push_tail(&folded_of(self, expander)->waiting, g_object_ref_sink(row));
  if (adw_expander_row_get_expanded(expander)) expanded(self, NULL, expander);
}

static void
folded_fini(Folded *self) {
  g_clear_handle_id(&self->idle, g_source_remove);
  g_queue_clear_full(&self->waiting, g_object_unref);
}

static char *
tilde_path(const char *path) {
  const char *home = g_get_home_dir();
  g_autofree char *folder = g_path_get_dirname(path);
  return g_str_has_prefix(folder, home) ? g_strconcat("~", folder + strlen(home), NULL)
                                        : g_steal_pointer(&folder);
}

void
td_start_page_set_recent(TdStartPage *self, const char *const *paths) {
  GtkListBoxRow *row;
  guint n = 0;
  td_focus_drop(GTK_WIDGET(self->recent));
  while ((row = gtk_list_box_get_row_at_index(self->recent, 0)))
    gtk_list_box_remove(self->recent, GTK_WIDGET(row));
  for (; paths && paths[n] && n < MAX_RECENT_SHOWN; n++) {
    g_autofree char *name = g_path_get_basename(paths[n]);
    g_autofree char *folder = tilde_path(paths[n]);
    GtkWidget *recent = row_new(name, folder, "go-next-symbolic");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(recent), "win.open-recent");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(recent), "s", paths[n]);
    gtk_list_box_append(self->recent, recent);
  }
  gtk_widget_set_visible(self->recent_group, n > 0);
}

void
td_start_page_add_example(TdStartPage *self, const char *name, const char *summary) {
  GtkWidget *row = row_new(name, summary, "media-playback-start-symbolic");
  gtk_actionable_set_action_name(GTK_ACTIONABLE(row), "win.example");
  gtk_actionable_set_action_target(GTK_ACTIONABLE(row), "s", name);
  add_folded(self, self->examples, row);
  gtk_widget_set_visible(self->examples_group, TRUE);
}

void
td_start_page_add_lesson(TdStartPage *self, const char *name, const char *title,
                         const char *about) {
  GtkWidget *row = row_new(title, about, "media-playback-start-symbolic");
  gtk_actionable_set_action_name(GTK_ACTIONABLE(row), "win.lesson");
  gtk_actionable_set_action_target(GTK_ACTIONABLE(row), "s", name);
  add_folded(self, self->lessons, row);
}

static void
add_command(GtkListBox *list, const char *command) {
  GtkWidget *row = row_new(_("In your own program"), "", "edit-copy-symbolic");
  g_autofree char *text = g_markup_printf_escaped("<tt>%s</tt>", command);
  adw_action_row_set_subtitle(ADW_ACTION_ROW(row), text);
  gtk_widget_set_tooltip_text(row, _("Copy the command"));
  gtk_actionable_set_action_name(GTK_ACTIONABLE(row), "win.copy-text");
  gtk_actionable_set_action_target(GTK_ACTIONABLE(row), "s", command);
  gtk_list_box_append(list, row);
}

static void
ask_questions(TdStartPage *self) {
  GtkListBox *const lists[] = {
      [PURPOSE_NAN] = self->nan, [PURPOSE_SLOW] = self->slow, [PURPOSE_LEARN] = self->learn};
  for (guint i = 0; i < G_N_ELEMENTS(questions); i++) {
    GtkWidget *row =
        row_new(_(questions[i].title), _(questions[i].subtitle), "media-playback-start-symbolic");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(row), "win.example-page");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(row), "(ss)", questions[i].example,
                                     questions[i].page);
    gtk_list_box_append(lists[questions[i].purpose], row);
  }
  GtkWidget *schedulers =
      row_new(_("How did the engine of 2017 schedule?"),
              _("The same script on a stack of tasks and on today's heap, beside each other."),
              "media-playback-start-symbolic");
  gtk_actionable_set_action_name(GTK_ACTIONABLE(schedulers), "win.schedulers");
  gtk_list_box_append(self->learn, schedulers);
  add_command(self->nan, "tapedeck record --anomaly nonfinite -- python train.py");
  add_command(self->slow, "tapedeck record -- python train.py");
}

#define BIND(child) gtk_widget_class_bind_template_child(widget_class, TdStartPage, child)

static void
td_start_page_dispose(GObject *object) {
  TdStartPage *self = TD_START_PAGE(object);
  folded_fini(&self->folded_examples);
  folded_fini(&self->folded_lessons);
  G_OBJECT_CLASS(td_start_page_parent_class)->dispose(object);
}

static void
td_start_page_class_init(TdStartPageClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_start_page_dispose;
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
  g_type_ensure(TD_TYPE_LIST_BIN);
  gtk_widget_class_set_template_from_resource(widget_class,
                                              "/org/tapedeck/Tapedeck/ui/start_page.ui");
  BIND(groups);
  BIND(recent_group);
  BIND(examples_group);
  BIND(recent);
  BIND(nan);
  BIND(slow);
  BIND(learn);
  BIND(examples);
  BIND(lessons);
  gtk_widget_class_bind_template_callback(widget_class, expanded);
}

static void
td_start_page_init(TdStartPage *self) {
  gtk_widget_init_template(GTK_WIDGET(self));
  for (GtkWidget *child = gtk_widget_get_first_child(self->groups); child;
       child = gtk_widget_get_next_sibling(child))
    if (ADW_IS_PREFERENCES_GROUP(child)) td_wrapped_fix(child, WRAP_CHARS);
  ask_questions(self);
}
