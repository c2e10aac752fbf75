/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_predict.h"

#include "ui/model/analysis/prediction_work.h"
#include "ui/model/document/document_segment.h"
#include "ui/window/window_compare.h"

#include <glib/gi18n.h>

typedef struct Wait {
  TdWindow *window; /* (owned) */
  char *recorded;   /* (owned) path */
} Wait;

static void
wait_free(Wait *wait) {
  g_object_unref(wait->window);
  g_free(wait->recorded);
  g_free(wait);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Wait, wait_free)

static void
window_gone(gpointer path, GObject *window) {
  td_prediction_remove(path);
  g_free(path);
}

static void
predicted(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(Wait) wait = data;
  g_autoptr(GError) error = NULL;
  char *path = td_prediction_finish(result, &error);
  if (!path) {
    td_window_say(wait->window, error->message);
    return;
  }
  if (!gtk_window_get_application(GTK_WINDOW(wait->window))) { /* it was closed meanwhile */
    window_gone(path, NULL);
    return;
  }
  const TdAlignmentWish wish = {.path = {wait->recorded, path}};
  g_object_weak_ref(G_OBJECT(td_window_compare(wait->window, &wish)), window_gone, path);
}

void
td_window_predict(TdWindow *window) {
  TdDocument *document = td_playhead_get_document(td_window_get_playhead(window));
  TdAnalysisWish wish;
  const char *policy = td_analysis_pane_get_policy(
      td_tape_view_get_analysis(td_window_get_tape_view(window)), &wish);
  if (!document) return;
  if (!policy) {
    td_window_say(window, _("Select a policy in the table first"));
    return;
  }
  Wait *wait = g_new0(Wait, 1);
  *wait = (Wait){g_object_ref(window), g_strdup(td_document_get_path(document))};
  td_prediction_async(wait->recorded, &wish, policy, NULL, predicted, wait);
}
