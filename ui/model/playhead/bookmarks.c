/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/playhead/bookmarks.h"

#include "engine/base/bisect.h"
#include "ui/model/base/user_file.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>

typedef enum ChangeKind { CHANGE_ADD, CHANGE_NOTE, CHANGE_REMOVE } ChangeKind;

typedef struct Change {
  ChangeKind kind;
  TdBookmark to; /* its note is owned, and NULL without CHANGE_NOTE */
} Change;

struct _TdBookmarks {
  GObject parent_instance;
  TdPlayhead *playhead; /* (owned) */
  GArray *bookmarks;    /* (owned) of TdBookmark, by position */
  GArray *pending;      /* (owned) of Change: what the file does not have yet */
  char *file;           /* (owned), or NULL: no tape */
};

G_DEFINE_FINAL_TYPE(TdBookmarks, td_bookmarks, G_TYPE_OBJECT)

static guint changed_signal;

static void
bookmark_clear(gpointer data) {
  g_free(((TdBookmark *)data)->note);
}

static void
change_clear(gpointer data) {
  g_free(((Change *)data)->to.note);
}

/* An imported trace may not say when it began. Then its path must do. */
static char *
identity_of(TdDocument *document, gboolean is_ended) {
  const td_tape_info *info = td_document_get_info(document);
  g_autofree char *path = g_canonicalize_filename(td_document_get_path(document), NULL);
  if (!info->started_ns) return g_compute_checksum_for_string(G_CHECKSUM_SHA1, path, -1);
  g_autofree char *started = g_strdup_printf("%016" G_GINT64_MODIFIER "x", info->started_ns);
  if (!is_ended) return g_steal_pointer(&started);
  return g_strdup_printf("%s-%" G_GUINT64_FORMAT, started, (guint64)info->n_events);
}

static char *
file_of(TdDocument *document, gboolean is_ended) {
  g_autofree char *identity = identity_of(document, is_ended);
  g_autofree char *name = g_strconcat(identity, ".bookmarks", NULL);
  return g_build_filename(g_get_user_data_dir(), "tapedeck", name, NULL);
}

/* The tape may have grown when people put the bookmarks. */
static char *
find_file(TdDocument *document) {
  g_autofree char *growing = file_of(document, FALSE), *ended = file_of(document, TRUE);
  if (!td_document_get_info(document)->complete) return g_steal_pointer(&growing);
  if (!g_file_test(ended, G_FILE_TEST_EXISTS)) g_rename(growing, ended);
  return g_steal_pointer(&ended);
}

/* ---- the file: a group for each bookmark, named by its position ---- */

static gboolean
read_position(const char *group, uint64_t *position) {
  guint64 number;
  if (!g_ascii_string_to_unsigned(group, 10, 0, UINT64_MAX - 1, &number, NULL)) return FALSE;
  *position = number;
  return TRUE;
}

static int
by_position(gconstpointer a, gconstpointer b) {
  uint64_t left = ((const TdBookmark *)a)->position, right = ((const TdBookmark *)b)->position;
  return left < right ? -1 : left > right;
}

static void
take_groups(TdBookmarks *self, GKeyFile *file) {
  g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
  for (guint i = 0; groups[i]; i++) {
    TdBookmark bookmark = {0};
    if (!read_position(groups[i], &bookmark.position)) continue;
    bookmark.time_ns = g_key_file_get_uint64(file, groups[i], "time", NULL);
    bookmark.note = g_key_file_get_string(file, groups[i], "note", NULL);
    if (!bookmark.note) bookmark.note = g_strdup("");
    g_array_append_val(self->bookmarks, bookmark);
  }
  g_array_sort(self->bookmarks, by_position);
}

static void
load(TdBookmarks *self) {
  g_autoptr(GKeyFile) file = self->file ? td_user_file_load(self->file, NULL) : NULL;
  g_array_set_size(self->bookmarks, 0);
  if (file) take_groups(self, file);
}

/* A note that a person wrote is kept, even if another window took the bookmark away. */
static void
apply(GKeyFile *file, const Change *change) {
  g_autofree char *group = g_strdup_printf("%" G_GUINT64_FORMAT, change->to.position);
  if (change->kind == CHANGE_REMOVE) {
    g_key_file_remove_group(file, group, NULL);
    return;
  }
  if (!g_key_file_has_group(file, group)) {
    g_key_file_set_uint64(file, group, "time", change->to.time_ns);
    g_key_file_set_string(file, group, "note", "");
  }
  if (change->kind == CHANGE_NOTE) g_key_file_set_string(file, group, "note", change->to.note);
}

static void
changed(TdBookmarks *self) {
  g_signal_emit(self, changed_signal, 0);
}

static void
say_failure(TdBookmarks *self, gboolean is_empty, const GError *error) {
  g_autofree char *text = is_empty
                              ? g_strdup(_("The bookmark comes back: its file cannot be removed"))
                              : g_strdup_printf(_("The bookmark is not kept: %s"), error->message);
  td_playhead_say(self->playhead, text);
}

/* Another window may have written the file since. What could not be saved is tried again. */
static void
make_change(TdBookmarks *self, Change change) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GKeyFile) found = td_user_file_load(self->file, &error);
  g_autoptr(GKeyFile) file = found ? g_key_file_ref(found) : g_key_file_new();
  g_array_append_val(self->pending, change);
  for (guint i = 0; i < self->pending->len; i++)
    apply(file, &g_array_index(self->pending, Change, i));
  g_array_set_size(self->bookmarks, 0);
  take_groups(self, file);
  if (found && td_user_file_save(file, self->file, &error))
    g_array_set_size(self->pending, 0);
  else
    say_failure(self, self->bookmarks->len == 0, error);
  changed(self);
}

/* The number of the first bookmark that is not before a position. */
static guint
find(TdBookmarks *self, uint64_t position) {
  guint found;
  TD_BISECT(found, 0, self->bookmarks->len,
            g_array_index(self->bookmarks, TdBookmark, found).position < position);
  return found;
}

static TdBookmark *
at(TdBookmarks *self, uint64_t position) {
  guint i = find(self, position);
  if (i == self->bookmarks->len) return NULL;
  TdBookmark *bookmark = &g_array_index(self->bookmarks, TdBookmark, i);
  return bookmark->position == position ? bookmark : NULL;
}

const TdBookmark *
td_bookmarks_get(TdBookmarks *self, guint *n) {
  *n = self->bookmarks->len;
  return (const TdBookmark *)(gpointer)self->bookmarks->data;
}

uint64_t
td_bookmarks_add(TdBookmarks *self) {
  uint64_t position = td_playhead_get_position(self->playhead);
  TdBookmark to = {position, td_playhead_get_time_ns(self->playhead), NULL};
  if (self->file) make_change(self, (Change){CHANGE_ADD, to});
  return position;
}

void
td_bookmarks_set_note(TdBookmarks *self, uint64_t position, const char *note) {
  TdBookmark *bookmark = at(self, position);
  if (!bookmark || strcmp(bookmark->note, note) == 0) return;
  TdBookmark to = {position, bookmark->time_ns, g_strdup(note)};
  make_change(self, (Change){CHANGE_NOTE, to});
}

void
td_bookmarks_remove(TdBookmarks *self, uint64_t position) {
  if (at(self, position)) make_change(self, (Change){CHANGE_REMOVE, {.position = position}});
}

gboolean
td_bookmarks_go(TdBookmarks *self, int direction) {
  uint64_t position = td_playhead_get_position(self->playhead);
  guint i = find(self, direction > 0 ? position + 1 : position);
  if (direction > 0 ? i == self->bookmarks->len : i == 0) return FALSE;
  i = direction > 0 ? i : i - 1;
  td_playhead_set_playing(self->playhead, FALSE);
  td_playhead_set_position(self->playhead, g_array_index(self->bookmarks, TdBookmark, i).position);
  return TRUE;
}

TdPlayhead *
td_bookmarks_get_playhead(TdBookmarks *self) {
  return self->playhead;
}

/* Segments of one tape are documents too. */
static void
document_changed(TdBookmarks *self) {
  TdDocument *document = td_playhead_get_document(self->playhead);
  g_autofree char *file = document ? find_file(document) : NULL;
  if (g_strcmp0(file, self->file) == 0) return;
  g_free(self->file);
  self->file = g_steal_pointer(&file);
  g_array_set_size(self->pending, 0);
  load(self);
  changed(self);
}

TdBookmarks *
td_bookmarks_new(TdPlayhead *playhead) {
  TdBookmarks *self = g_object_new(TD_TYPE_BOOKMARKS, NULL);
  self->playhead = g_object_ref(playhead);
  g_signal_connect_object(playhead, "notify::document", G_CALLBACK(document_changed), self,
                          G_CONNECT_SWAPPED);
  document_changed(self);
  return self;
}

static void
td_bookmarks_finalize(GObject *object) {
  TdBookmarks *self = TD_BOOKMARKS(object);
  g_clear_object(&self->playhead);
  g_array_unref(self->bookmarks);
  g_array_unref(self->pending);
  g_free(self->file);
  G_OBJECT_CLASS(td_bookmarks_parent_class)->finalize(object);
}

static void
td_bookmarks_class_init(TdBookmarksClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = td_bookmarks_finalize;
  changed_signal = g_signal_new("changed", TD_TYPE_BOOKMARKS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
}

static void
td_bookmarks_init(TdBookmarks *self) {
  self->bookmarks = g_array_new(FALSE, FALSE, sizeof(TdBookmark));
  g_array_set_clear_func(self->bookmarks, bookmark_clear);
  self->pending = g_array_new(FALSE, FALSE, sizeof(Change));
  g_array_set_clear_func(self->pending, change_clear);
}
