/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/window_save.h"

#include "app/common/paths.h"
#include "ui/model/document/document_segment.h"
#include "ui/model/document/passes.h"
#include "ui/window/save_chooser.h"

#include <glib/gi18n.h>

/* What is to be saved, while the person chooses where. */
typedef struct Save {
  TdWindow *window; /* (owned) */
  char *tape;       /* (owned) */
  uint32_t graph_task;
  uint64_t seq;
} Save;

static void
save_free(gpointer data) {
  Save *save = data;
  g_object_unref(save->window);
  g_free(save->tape);
  g_free(save);
}

static void
written(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(TdWindow) window = data;
  g_autoptr(GError) error = NULL;
  g_autofree char *said = NULL;
  GSubprocess *child = G_SUBPROCESS(source);
  gboolean over = g_subprocess_communicate_utf8_finish(child, result, NULL, &said, &error);
  if (over && g_subprocess_get_successful(child)) {
    td_window_say(window, _("Saved. Any browser shows the page, without further files."));
    return;
  }
  const char *reason = error ? error->message : said ? g_strstrip(said) : "";
  g_autofree char *text = g_strdup_printf(_("Not saved: %s"), reason);
  td_window_say(window, text);
}

static void
write_page(const char *path, gpointer data) {
  const Save *save = data;
  g_autoptr(GError) error = NULL;
  g_autofree char *pass = g_strdup_printf("%u", save->graph_task);
  g_autoptr(GSubprocess) child = g_subprocess_new(
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, td_path_program(),
      "export", "--to", "html", "--force", "--pass", pass, "-o", path, save->tape, NULL);
  if (child)
    g_subprocess_communicate_utf8_async(child, NULL, NULL, written, g_object_ref(save->window));
  else
    td_window_say(save->window, error->message);
}

static void
ask(Save *save) {
  g_autofree char *ending = g_strdup_printf("-event-%" G_GUINT64_FORMAT ".html", save->seq);
  const TdSaveWish wish = {.title = _("Save the Finding"), .tape = save->tape, .ending = ending};
  td_save_chooser_show(GTK_WINDOW(save->window), &wish, write_page, save, save_free);
}

void
td_window_save_pass(TdWindow *window, uint64_t seq) {
  TdDocument *document = td_playhead_get_document(td_window_get_playhead(window));
  if (!document) return;
  uint32_t pass = td_pass_at(td_document_get_whole(document), td_document_get_length(document),
                             td_document_get_process(document), seq + 1);
  if (pass == TD_NONE) {
    td_window_say(window, _("The tape has no backward pass to save"));
    return;
  }
  Save *save = g_new(Save, 1);
  *save = (Save){g_object_ref(window), g_strdup(td_document_get_path(document)), pass, seq};
  ask(save);
}
