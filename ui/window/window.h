/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window: a start page, or a tape. It owns the playhead that all panes share. Main thread.
 *
 * The signal "changed" says that the window shows another page, or that the state of the program
 * that it controls is another. */
#pragma once

#include "ui/model/live/live_session.h"
#include "ui/model/playhead/playhead.h"
#include "ui/widgets/dialogs/start_page.h"
#include "ui/widgets/view/tape_view.h"

#include <adwaita.h>

#define TD_TYPE_WINDOW (td_window_get_type())
G_DECLARE_FINAL_TYPE(TdWindow, td_window, TD, WINDOW, AdwApplicationWindow)

TdWindow *td_window_new(AdwApplication *application);

/* td_window_open opens a tape in the background, where a reader wants to begin. */
void td_window_open(TdWindow *self, const char *path);

/* td_window_open_at opens at the position that `find` returns, and selects a node if that segment
 * of the tape has it. If `find` returns FALSE, the window closes. NULL finds where a reader wants
 * to begin. */
void td_window_open_at(TdWindow *self, const char *path, TdFindPosition find, gpointer data,
                       uint64_t node);

/* td_window_attach shows the tape of a program that still runs, and controls the program: see
 * live_tape.h. The window lets the program go when it opens something else or closes. If the
 * session is over, the tape is opened as any other; or the window says that it has another name
 * now. The title has `remote`, USER@HOST, if the program runs elsewhere. td_window_get_live returns
 * the session of the program, or NULL. */
void td_window_attach(TdWindow *self, const char *session, guint32 process, const char *tape,
                      const char *remote);
TdLiveSession *td_window_get_live(TdWindow *self);

/* td_window_show_document shows a tape that is loaded. */
void td_window_show_document(TdWindow *self, TdDocument *document);

/* td_window_show_start goes back to the start page. */
void td_window_show_start(TdWindow *self);

/* td_window_record_example records an example and opens its tape, at a page of the side pane (NULL:
 * the one that was open). */
void td_window_record_example(TdWindow *self, const char *name, const char *page);

/* td_window_begin shows that something goes on, and ends what went on before. It returns what the
 * button Cancel cancels; borrowed. td_window_end says that this is over. It returns FALSE if
 * somebody cancelled it, or if the window waits for something else now. */
GCancellable *td_window_begin(TdWindow *self, const char *title, const char *text);
gboolean td_window_end(TdWindow *self, GCancellable *cancellable);

/* td_window_show_failure says what failed, why, and what to do next. */
void td_window_show_failure(TdWindow *self, const char *title, const char *reason,
                            const char *next);
gboolean td_window_is_at_start(TdWindow *self);

/* td_window_choose_file lets the person choose a tape. td_window_cancel stops what is in
 * progress. td_window_find opens the search for nodes. */
void td_window_choose_file(TdWindow *self);
void td_window_cancel(TdWindow *self);
void td_window_find(TdWindow *self);

/* td_window_bookmark puts a bookmark at the playhead, and lets the person write a note to it. */
void td_window_bookmark(TdWindow *self);

/* td_window_say shows a short message over the content. */
void td_window_say(TdWindow *self, const char *text);

/* td_window_is_settled tells whether nothing is in progress. If so, the picture does not change
 * by itself. */
gboolean td_window_is_settled(TdWindow *self);

TdPlayhead *td_window_get_playhead(TdWindow *self);
TdTapeView *td_window_get_tape_view(TdWindow *self);
TdStartPage *td_window_get_start_page(TdWindow *self);

/* td_window_show_preferences opens the dialog of preferences. */
void td_window_show_preferences(TdWindow *self);
