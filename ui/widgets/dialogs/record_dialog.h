/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Asks which program to record: its command line, its folder, whether to look for NaN, whether to
 * stop it at its events. Closing hides it, so that it keeps what was typed. Signal "record": the
 * person wants it. Main thread. */
#pragma once

#include <adwaita.h>

#define TD_TYPE_RECORD_DIALOG (td_record_dialog_get_type())
G_DECLARE_FINAL_TYPE(TdRecordDialog, td_record_dialog, TD, RECORD_DIALOG, AdwWindow)

TdRecordDialog *td_record_dialog_new(GtkWindow *parent);

/* td_record_dialog_propose has it look for NaN. What was typed before stays; else `command` is
 * there.
 */
void td_record_dialog_propose(TdRecordDialog *self, const char *command);

const char *td_record_dialog_get_command(TdRecordDialog *self);
const char *td_record_dialog_get_folder(TdRecordDialog *self);
gboolean td_record_dialog_finds_nan(TdRecordDialog *self);
gboolean td_record_dialog_is_live(TdRecordDialog *self);
