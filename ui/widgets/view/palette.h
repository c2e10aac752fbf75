/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The command palette: a popover with one search over actions, answers, modules, source lines,
 * nodes and events. Enter does the action, or goes to what was found. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

#include <gtk/gtk.h>

#define TD_TYPE_PALETTE (td_palette_get_type())
G_DECLARE_FINAL_TYPE(TdPalette, td_palette, TD, PALETTE, GtkPopover)

/* td_palette_new returns a palette whose parent is `parent`. The caller unparents it. */
TdPalette *td_palette_new(GtkWidget *parent, TdPlayhead *playhead);

/* td_palette_open shows it at the top of its parent, with what was typed last. */
void td_palette_open(TdPalette *self);

/* td_palette_clear_actions forgets all actions. td_palette_add_action offers one: "win.play", its
 * title in the reader's language, its key as people read it or NULL. */
void td_palette_clear_actions(TdPalette *self);
void td_palette_add_action(TdPalette *self, const char *action, const char *title, const char *key);

/* td_palette_set_answers offers a list of TdAnswerItem; NULL: none. */
void td_palette_set_answers(TdPalette *self, GListModel *answers);
