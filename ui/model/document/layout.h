/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The layouts of the window's panes, one for each use. Without GTK: the command line names them. */
#pragma once

/* TD_LAYOUTS(NAME, name): to look for a mistake, to see where the time goes, to explain. */
#define TD_LAYOUTS(X)                                                                              \
  X(DEBUG, debug)                                                                                  \
  X(PROFILE, profile)                                                                              \
  X(TEACH, teach)

typedef enum TdLayout {
#define X(NAME, name) TD_LAYOUT_##NAME,
  TD_LAYOUTS(X)
#undef X
      TD_N_LAYOUTS
} TdLayout;
