/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/live_tape.h"

#include "ui/model/base/delay.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program may run through one stop again and again. The window must not do nothing but read
 * then. */
#define PAUSE_BETWEEN_READINGS_MS 60

/* If no stops say when, it looks for news so often. Readings take a tenth of the time at most. */
#define FOLLOW_MS 2000
#define FOLLOW_TIMES 10

struct _TdLiveTape {
  GObject parent_instance;
  TdLiveSession *session;   /* (owned) */
  TdPlayhead *playhead;     /* (owned) */
  char *path;               /* (owned) */
  int fd;                   /* (owned) the tape; it may get another name when it is whole */
  GCancellable *reading;    /* (owned) or NULL */
  gboolean is_stale, ended; /* the tape has grown since it was read */
  gboolean has_failed;      /* the latest reading */
  guint later;              /* source, or 0 */
  guint following;          /* source, or 0 */
  gint64 began_us, took_us; /* the latest reading */
  off_t size_read;          /* of the tape, when that reading began */
};

G_DEFINE_FINAL_TYPE(TdLiveTape, td_live_tape, G_TYPE_OBJECT)

enum { SIGNAL_READ, SIGNAL_FAILED, SIGNAL_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void read_again(TdLiveTape *self);

static char *
dup_tape_path(TdLiveTape *self) {
  g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", self->fd);
  char *now = self->fd >= 0 ? g_file_read_link(link, NULL) : NULL;
  if (now && g_file_test(now, G_FILE_TEST_EXISTS)) return now;
  g_free(now);
  return g_strdup(self->path);
}

static gboolean
later_cb(gpointer data) {
  TdLiveTape *self = data;
  self->later = 0;
  if (self->is_stale) read_again(self);
  return G_SOURCE_REMOVE;
}

static off_t
tape_size(TdLiveTape *self) {
  struct stat info;
  return self->fd >= 0 && fstat(self->fd, &info) == 0 ? info.st_size : 0;
}

static gboolean
follow_cb(gpointer data) {
  TdLiveTape *self = data;
  if (tape_size(self) == self->size_read) return G_SOURCE_CONTINUE;
  self->following = 0;
  read_again(self);
  return G_SOURCE_REMOVE;
}

/* Nobody stops the program, so the window comes along with its tape. */
static void
follow(TdLiveTape *self) {
  TdLiveState state = td_live_session_get_state(self->session);
  gboolean wanted = state == TD_LIVE_WATCHED || state == TD_LIVE_DETACHED;
  if (!wanted) g_clear_handle_id(&self->following, g_source_remove);
  if (!wanted || self->following || self->reading) return;
  gint64 pause_ms = MIN(self->took_us / 1000 * FOLLOW_TIMES, G_MAXINT32);
  self->following = g_timeout_add((guint)MAX(pause_ms, FOLLOW_MS), follow_cb, self);
}

/* A cancelled reading may end after the object did. */
static void
read_done(GObject *source, GAsyncResult *result, gpointer data) {
  g_autoptr(GError) error = NULL;
  gboolean fine = td_document_load_finish(TD_DOCUMENT(source), result, &error);
  if (g_cancellable_is_cancelled(g_task_get_cancellable(G_TASK(result)))) return;
  TdLiveTape *self = data;
  g_clear_object(&self->reading);
  self->took_us = g_get_monotonic_time() - self->began_us;
  self->later = td_delay_add(PAUSE_BETWEEN_READINGS_MS, later_cb, self);
  gboolean is_news = !self->has_failed;
  self->has_failed = !fine;
  follow(self);
  if (fine)
    g_signal_emit(self, signals[SIGNAL_READ], 0, source);
  else if (is_news)
    g_signal_emit(self, signals[SIGNAL_FAILED], 0, error->message);
  g_signal_emit(self, signals[SIGNAL_CHANGED], 0);
}

static uint64_t
wanted_position(TdLiveTape *self) {
  if (!td_playhead_get_document(self->playhead) || td_playhead_is_at_end(self->playhead))
    return G_MAXUINT64;
  return td_playhead_get_position(self->playhead);
}

static void
read_again(TdLiveTape *self) {
  self->is_stale = TRUE;
  if (self->reading || self->later) return;
  self->is_stale = FALSE;
  self->reading = g_cancellable_new();
  self->began_us = g_get_monotonic_time();
  self->size_read = tape_size(self);
  g_autofree char *path = dup_tape_path(self);
  g_autoptr(TdDocument) document = td_document_new_live(path, wanted_position(self), !self->ended);
  td_document_load_async(document, self->reading, read_done, self);
}

static void
ended_cb(TdLiveTape *self) {
  self->ended = TRUE;
  read_again(self);
}

static void
changed_cb(TdLiveTape *self) {
  follow(self);
  g_signal_emit(self, signals[SIGNAL_CHANGED], 0);
}

static void
td_live_tape_dispose(GObject *object) {
  TdLiveTape *self = TD_LIVE_TAPE(object);
  if (self->reading) g_cancellable_cancel(self->reading);
  g_clear_object(&self->reading);
  g_clear_handle_id(&self->later, g_source_remove);
  g_clear_handle_id(&self->following, g_source_remove);
  if (self->session) g_signal_handlers_disconnect_by_data(self->session, self);
  g_clear_object(&self->session);
  g_clear_object(&self->playhead);
  G_OBJECT_CLASS(td_live_tape_parent_class)->dispose(object);
}

static void
td_live_tape_finalize(GObject *object) {
  TdLiveTape *self = TD_LIVE_TAPE(object);
  if (self->fd >= 0) close(self->fd);
  g_free(self->path);
  G_OBJECT_CLASS(td_live_tape_parent_class)->finalize(object);
}

static guint
new_signal(const char *name, guint n_parameters, GType parameter) {
  return g_signal_new(name, TD_TYPE_LIVE_TAPE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                      n_parameters, parameter);
}

static void
td_live_tape_class_init(TdLiveTapeClass *klass) {
  G_OBJECT_CLASS(klass)->dispose = td_live_tape_dispose;
  G_OBJECT_CLASS(klass)->finalize = td_live_tape_finalize;
  signals[SIGNAL_READ] = new_signal("read", 1, TD_TYPE_DOCUMENT);
  signals[SIGNAL_FAILED] = new_signal("failed", 1, G_TYPE_STRING);
  signals[SIGNAL_CHANGED] = new_signal("changed", 0, G_TYPE_NONE);
}

static void
td_live_tape_init(TdLiveTape *self) {
  self->fd = -1;
}

TdLiveTape *
td_live_tape_new(const char *path, guint32 process, const char *tape, TdPlayhead *playhead) {
  TdLiveSession *session = td_live_session_new(path, process, NULL);
  if (!session) return NULL;
  TdLiveTape *self = g_object_new(TD_TYPE_LIVE_TAPE, NULL);
  self->session = session;
  self->playhead = g_object_ref(playhead);
  self->path = g_strdup(tape);
  self->fd = open(tape, O_RDONLY | O_CLOEXEC);
  g_signal_connect_swapped(session, "changed", G_CALLBACK(changed_cb), self);
  g_signal_connect_swapped(session, "stopped", G_CALLBACK(read_again), self);
  g_signal_connect_swapped(session, "ended", G_CALLBACK(ended_cb), self);
  read_again(self);
  return self;
}

TdLiveSession *
td_live_tape_get_session(TdLiveTape *self) {
  return self->session;
}

gboolean
td_live_tape_is_reading(TdLiveTape *self) {
  return self->reading != NULL || self->is_stale;
}
