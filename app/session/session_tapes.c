/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/session_tapes.h"

#include "app/common/output_file.h"
#include "engine/replay/segments.h"
#include "engine/trace/derive/derive.h"
#include "engine/trace/join.h"
#include "engine/trace/tape.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define SUFFIX ".tape"

static void
tape_free_cb(gpointer data) {
  td_session_tape *tape = data;
  g_free(tape->path);
  g_free(tape);
}

void
td_session_tapes_init(td_session_tapes *self, const char *path, bool overwrite) {
  *self = (td_session_tapes){.path = g_strdup(path), .overwrite = overwrite};
  self->tapes = g_ptr_array_new_with_free_func(tape_free_cb);
}

void
td_session_tapes_fini(td_session_tapes *self) {
  g_free(self->path);
  g_free(self->joined);
  g_free(self->problem);
  g_free(self->unread);
  g_ptr_array_unref(self->tapes);
}

/* NAME.MIDDLE.tape */
static char *
name_with(const td_session_tapes *self, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *middle = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  gsize length = strlen(self->path);
  if (g_str_has_suffix(self->path, SUFFIX)) length -= strlen(SUFFIX);
  return g_strdup_printf("%.*s.%s" SUFFIX, (int)length, self->path, middle);
}

static bool
is_taken(const td_session_tapes *self, const char *path) {
  for (guint i = 0; i < self->tapes->len; i++)
    if (strcmp(((td_session_tape *)self->tapes->pdata[i])->path, path) == 0) return true;
  return td_output_is_taken(path);
}

/* One process may come several times, if it executes another program. */
td_session_tape *
td_session_tapes_add(td_session_tapes *self, guint32 pid, guint32 rank) {
  td_session_tape *tape = g_new0(td_session_tape, 1);
  char *path = name_with(self, "%u", pid);
  for (guint again = 2; is_taken(self, path); again++) {
    g_free(path);
    path = name_with(self, "%u-%u", pid, again);
  }
  tape->path = path;
  tape->rank = rank;
  g_ptr_array_add(self->tapes, tape);
  return tape;
}

char *
td_session_tapes_find_taken(const td_session_tapes *self) {
  char *names[] = {g_strdup(self->path), name_with(self, "rank0"), name_with(self, "1")};
  char *taken = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
    if (!taken && td_output_is_taken(names[i])) taken = g_steal_pointer(&names[i]);
    g_free(names[i]);
  }
  return taken;
}

/* A process that loaded an engine may never have run a backward pass; its tape is not wanted. But a
 * rank may hang before its first one: what it handed to its process groups tells why. Or the
 * program may have failed before it, for its loss had no graph. An unreadable tape is kept, because
 * somebody may want to know why. */
static bool
is_wanted(td_session_tapes *self, td_session_tape *own) {
  td_tape *tape;
  if (!g_file_test(own->path, G_FILE_TEST_EXISTS)) return false;
  if (g_file_test(own->path, G_FILE_TEST_IS_SYMLINK)) return false; /* no process made that */
  td_error error = {0};
  (void)td_derive_in_place(own->path, NULL);                 /* readers can do it, too */
  (void)td_segments_add(own->path, TD_SEGMENT_EVENTS, NULL); /* a tape without a table is as good */
  if (td_tape_open(own->path, &tape, &error) != TD_OK) {
    g_free(self->unread);
    self->unread = g_strdup(td_error_text(&error));
    td_error_clear(&error);
    return true;
  }
  const td_tape_info *info = td_tape_info_get(tape);
  bool has_end = self->keeps_ends && info->n_by_kind[TD_EVENT_left_out] > 0;
  bool wanted = has_end || info->n_by_kind[TD_EVENT_graph_task_begin] > 0 ||
                info->n_by_kind[TD_EVENT_collective] > 0 ||
                info->n_by_kind[TD_EVENT_program_failed] > 0;
  own->whole = info->complete && !info->damage;
  if (!wanted && own->whole) self->n_empty++;
  if (!wanted && !own->whole) self->n_lost++;
  td_tape_close(tape);
  if (!wanted) g_unlink(own->path);
  return wanted;
}

/* By rank; processes without a rank come last. The worker processes of a rank follow it. */
static void
sort_by_rank(GPtrArray *tapes) {
  for (guint i = 1; i < tapes->len; i++)
    for (guint j = i; j > 0; j--) {
      td_session_tape **pair = (td_session_tape **)&tapes->pdata[j - 1], *later = pair[1];
      if (pair[0]->rank <= later->rank) break;
      pair[1] = pair[0];
      pair[0] = later;
    }
}

static void
rename_to(const td_session_tapes *self, td_session_tape *tape, char *path) {
  if (td_output_rename(tape->path, path, self->overwrite)) {
    g_free(tape->path);
    tape->path = g_steal_pointer(&path);
  }
  g_free(path);
}

/* "rank0", then "rank0-2" for a process that rank 0 started. "3" for the third process without a
 * rank. */
static void
name_all(td_session_tapes *self) {
  guint again = 1;
  for (guint i = 0; i < self->tapes->len; i++) {
    td_session_tape *tape = self->tapes->pdata[i];
    bool same = i > 0 && ((td_session_tape *)self->tapes->pdata[i - 1])->rank == tape->rank;
    again = same ? again + 1 : 1;
    rename_to(self, tape,
              tape->rank == TD_NO_RANK ? name_with(self, "%u", again)
              : again > 1              ? name_with(self, "rank%u-%u", tape->rank, again)
                                       : name_with(self, "rank%u", tape->rank));
  }
}

static void
join_all(td_session_tapes *self) {
  td_error error = {0};
  g_autofree const char **paths = g_new(const char *, self->tapes->len);
  g_autofree guint64 *gone_ns = g_new(guint64, self->tapes->len);
  for (guint i = 0; i < self->tapes->len; i++) {
    const td_session_tape *tape = self->tapes->pdata[i];
    paths[i] = tape->path;
    gone_ns[i] = tape->gone_ns;
  }
  td_output_file output;
  td_output_file_begin(&output, self->path);
  if (td_join_gone(paths, gone_ns, self->tapes->len, output.part, true, &error) != TD_OK) {
    self->problem = g_strdup(td_error_text(&error));
    td_output_file_drop(&output);
  } else {
    (void)td_segments_add(output.part, TD_SEGMENT_EVENTS, NULL);
    if (td_output_file_keep(&output, self->overwrite))
      self->joined = g_strdup(self->path);
    else
      self->problem = g_strdup(g_strerror(errno));
  }
  td_error_clear(&error);
}

guint
td_session_tapes_conclude(td_session_tapes *self) {
  for (guint i = self->tapes->len; i-- > 0;)
    if (!is_wanted(self, self->tapes->pdata[i])) g_ptr_array_remove_index(self->tapes, i);
  guint n = self->tapes->len;
  if (n == 1) rename_to(self, self->tapes->pdata[0], g_strdup(self->path));
  if (n <= 1) return n;
  sort_by_rank(self->tapes);
  name_all(self);
  join_all(self);
  return n;
}
