/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Lets the person choose one of the programs that are being recorded now. Signal "refresh": the
 * list is wanted, again. Signal "attach" with the number of an entry: the person chose it. Closing
 * hides the dialog. Main thread. */
#pragma once

#include <adwaita.h>

#define TD_TYPE_ATTACH_DIALOG (td_attach_dialog_get_type())
G_DECLARE_FINAL_TYPE(TdAttachDialog, td_attach_dialog, TD, ATTACH_DIALOG, AdwWindow)

typedef struct TdAttachEntry {
  const char *command; /* or NULL */
  guint32 process;
  gint64 seconds;   /* for how long it runs, or -1 */
  const char *tape; /* or NULL: nothing to look at yet */
  gboolean can_stop;
  guint n_stopped; /* threads */
} TdAttachEntry;

TdAttachDialog *td_attach_dialog_new(GtkWindow *parent);

/* td_attach_dialog_wait shows that the list is being made. td_attach_dialog_begin empties the list,
 * td_attach_dialog_add appends an entry, and td_attach_dialog_end shows what is in the list. */
void td_attach_dialog_wait(TdAttachDialog *self);
void td_attach_dialog_begin(TdAttachDialog *self);
void td_attach_dialog_add(TdAttachDialog *self, const TdAttachEntry *entry);
void td_attach_dialog_end(TdAttachDialog *self);
