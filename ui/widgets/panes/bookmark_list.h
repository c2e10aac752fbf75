/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A popover with the bookmarks of a tape: go to one, write its note, take it away. Main thread. */
#pragma once

#include "ui/model/playhead/bookmarks.h"

#include <adwaita.h>

#define TD_TYPE_BOOKMARK_LIST (td_bookmark_list_get_type())
G_DECLARE_FINAL_TYPE(TdBookmarkList, td_bookmark_list, TD, BOOKMARK_LIST, GtkPopover)

void td_bookmark_list_set_bookmarks(TdBookmarkList *self, TdBookmarks *bookmarks);

/* td_bookmark_list_write puts the cursor into the note of the bookmark at a position. */
void td_bookmark_list_write(TdBookmarkList *self, uint64_t position);
