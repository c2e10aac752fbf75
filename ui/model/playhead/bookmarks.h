/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bookmarks on the tape of a playhead, with a note each. They are kept in a small file of the
 * user's data folder, not on the tape. A tape is known by when its recording began and by how many
 * events it has. So a copy of it or another name of it has the same bookmarks. Another dump of the
 * same program has its own.
 *
 * A tape without an end may grow, so its beginning alone tells what it is. The first tape with that
 * beginning that is opened with an end takes over its bookmarks. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

typedef struct TdBookmark {
  uint64_t position, time_ns;
  char *note; /* (owned), "": none */
} TdBookmark;

#define TD_TYPE_BOOKMARKS (td_bookmarks_get_type())
G_DECLARE_FINAL_TYPE(TdBookmarks, td_bookmarks, TD, BOOKMARKS, GObject)

/* td_bookmarks_new returns the bookmarks of the playhead's tape, whichever it is. The signal
 * "changed" says that there are others, or another note. */
TdBookmarks *td_bookmarks_new(TdPlayhead *playhead);

/* td_bookmarks_get returns the bookmarks by position; borrowed until the next change. */
const TdBookmark *td_bookmarks_get(TdBookmarks *self, guint *n);

/* td_bookmarks_add puts a bookmark where the playhead is, or keeps the one that is there. It
 * returns the position. Each change is made to the file as it is now, so that windows of one tape
 * keep each other's bookmarks. If that fails, the playhead says so, and the next change tries
 * again. */
uint64_t td_bookmarks_add(TdBookmarks *self);
void td_bookmarks_set_note(TdBookmarks *self, uint64_t position, const char *note);
void td_bookmarks_remove(TdBookmarks *self, uint64_t position);

/* td_bookmarks_go goes to the bookmark after the playhead (1) or before it (-1). FALSE if there is
 * none. */
gboolean td_bookmarks_go(TdBookmarks *self, int direction);

TdPlayhead *td_bookmarks_get_playhead(TdBookmarks *self);
