/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The dialog in which somebody chooses where to save what belongs to a tape. Main thread. */
#pragma once

#include <gtk/gtk.h>

typedef struct TdSaveWish {
  const char *title;     /* translated */
  const char *tape;      /* path: it proposes a name like the tape's, beside the tape */
  const char *ending;    /* of that name: for nan.tape, "-graph.png" makes nan-graph.png */
  GtkFileFilter *filter; /* or NULL: all files */
} TdSaveWish;

/* td_save_chooser_show opens the dialog. It calls `chosen` if somebody chose a path. Whatever they
 * do, it calls `done` with the data at last. The wish is needed during the call alone. */
void td_save_chooser_show(GtkWindow *parent, const TdSaveWish *wish,
                          void (*chosen)(const char *path, gpointer data), gpointer data,
                          GDestroyNotify done);
