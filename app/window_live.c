/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/window_live.h"

#include "app/window_actions.h"

#include <fcntl.h>
#include <glib/gi18n.h>
#include <unistd.h>

/* A program that runs through the same stop again and again must not make the window do nothing
 * but read. */
#define PAUSE_BETWEEN_READINGS_MS 60

struct TdWindowLive {
  TdWindow *window; /* (borrowed): owns this */
  TdLiveSession *session;
  char *path;               /* (owned) */
  int fd;                   /* (owned) the tape, which may get another name when it is whole */
  GCancellable *reading;    /* (owned) or NULL */
  gboolean is_stale, ended; /* the tape has grown since it was read */
  guint later;              /* source, or 0 */
};

static void read_again(TdWindowLive *self);

static char *
dup_tape_path(TdWindowLive *self) {
  g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", self->fd);
  char *now = self->fd >= 0 ? g_file_read_link(link, NULL) : NULL;
  if (now && g_file_test(now, G_FILE_TEST_EXISTS)) return now;
  g_free(now);
  return g_strdup(self->path);
}

static gboolean
later_cb(gpointer data) {
  TdWindowLive *self = data;
  self->later = 0;
  if (self->is_stale) read_again(self);
  return G_SOURCE_REMOVE;
}

static void
show(TdWindowLive *self, TdDocument *document) {
  TdPlayhead *playhead = td_window_get_playhead(self->window);
  if (td_playhead_get_document(playhead))
    td_playhead_update_document(playhead, document);
  else
    td_window_show_document(self->window, document);
}

static void
read_done(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(GError) error = NULL;
  gboolean fine = td_document_load_finish(TD_DOCUMENT(source), result, &error);
  if (g_cancellable_is_cancelled(g_task_get_cancellable(G_TASK(result)))) return;
  TdWindowLive *self = data;
  g_clear_object(&self->reading);
  if (fine)
    show(self, TD_DOCUMENT(source));
  else
    td_window_say(self->window, error->message);
  self->later = g_timeout_add(PAUSE_BETWEEN_READINGS_MS, later_cb, self);
  td_window_actions_update(self->window);
}

/* Who stands at the end wants to see the new end; the others stay where they are. */
static uint64_t
wanted_position(TdWindowLive *self) {
  TdPlayhead *playhead = td_window_get_playhead(self->window);
  if (!td_playhead_get_document(playhead) || td_playhead_is_at_end(playhead)) return G_MAXUINT64;
  return td_playhead_get_position(playhead);
}

static void
read_again(TdWindowLive *self) {
  self->is_stale = TRUE;
  if (self->reading || self->later) return;
  self->is_stale = FALSE;
  self->reading = g_cancellable_new();
  g_autofree char *path = dup_tape_path(self);
  g_autoptr(TdDocument) document = td_document_new_live(path, wanted_position(self), !self->ended);
  td_document_load_async(document, self->reading, read_done, self);
}

static void
stopped_cb(TdWindowLive *self) {
  read_again(self);
}

static void
ended_cb(TdWindowLive *self) {
  self->ended = TRUE;
  read_again(self);
}

static void
changed_cb(TdWindowLive *self) {
  td_window_actions_update(self->window);
}

TdWindowLive *
td_window_live_new(TdWindow *window, const char *path, guint32 process, const char *tape) {
  g_autoptr(GError) error = NULL;
  TdLiveSession *session = td_live_session_new(path, process, &error);
  if (!session) {
    td_window_say(window, _("The program is no longer there: this is what was recorded"));
    return NULL;
  }
  TdWindowLive *self = g_new0(TdWindowLive, 1);
  self->window = window;
  self->session = session;
  self->path = g_strdup(tape);
  self->fd = open(tape, O_RDONLY | O_CLOEXEC);
  g_signal_connect_swapped(session, "changed", G_CALLBACK(changed_cb), self);
  g_signal_connect_swapped(session, "stopped", G_CALLBACK(stopped_cb), self);
  g_signal_connect_swapped(session, "ended", G_CALLBACK(ended_cb), self);
  td_tape_view_set_session(td_window_get_tape_view(window), session);
  read_again(self);
  return self;
}

void
td_window_live_free(TdWindowLive *self) {
  if (self->reading) g_cancellable_cancel(self->reading);
  g_clear_object(&self->reading);
  if (self->later) g_source_remove(self->later);
  g_signal_handlers_disconnect_by_data(self->session, self);
  td_tape_view_set_session(td_window_get_tape_view(self->window), NULL);
  g_object_unref(self->session);
  if (self->fd >= 0) close(self->fd);
  g_free(self->path);
  g_free(self);
}

TdLiveSession *
td_window_live_get_session(TdWindowLive *self) {
  return self->session;
}

gboolean
td_window_live_is_reading(TdWindowLive *self) {
  return self->reading != NULL || self->is_stale;
}
