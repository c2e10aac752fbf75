/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an empty window shows: ways to open a tape, to record a program and to attach to one. Then
 * recent tapes, questions with an example that answers each, and all examples. Rows activate the
 * window's actions "open-recent", "example", "example-page" and "copy-text". Main thread. */
#pragma once

#include <adwaita.h>

#define TD_TYPE_START_PAGE (td_start_page_get_type())
G_DECLARE_FINAL_TYPE(TdStartPage, td_start_page, TD, START_PAGE, AdwBin)

/* td_start_page_set_recent shows these tapes, latest first; td_start_page_add_example appends an
 * example. */
void td_start_page_set_recent(TdStartPage *self, const char *const *paths);
void td_start_page_add_lesson(TdStartPage *self, const char *name, const char *title,
                              const char *about);
void td_start_page_add_example(TdStartPage *self, const char *name, const char *summary);
