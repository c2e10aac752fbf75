/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A text in a row of a list. GTK makes 200 rows for a long list, and a GtkLabel computes its text
 * four to twenty times before it is drawn. A row text computes it once, and not at all if it is one
 * line that nobody sees. It looks like a label, and a screen reader takes it for one. Nobody can
 * select letters in it. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TD_TYPE_ROW_LABEL (td_row_label_get_type())
G_DECLARE_FINAL_TYPE(TdRowLabel, td_row_label, TD, ROW_LABEL, GtkWidget)

/* td_row_label_new makes a text of at most `lines` lines, 0: as many as it needs. Of one line or
 * more, `cut` says where it may be shortened. With PANGO_ELLIPSIZE_NONE, one line is as wide as its
 * text. Any other text takes the width that there is. */
GtkWidget *td_row_label_new(guint lines, PangoEllipsizeMode cut);

void td_row_label_set(TdRowLabel *self, const char *text);
void td_row_label_set_cut(TdRowLabel *self, PangoEllipsizeMode cut);

/* td_row_label_set_number aligns the text to the right, at the top, with digits of equal width. */
void td_row_label_set_number(TdRowLabel *self);

/* td_row_label_set_chars gives the text room for at least so many letters. */
void td_row_label_set_chars(TdRowLabel *self, guint chars);

/* td_row_label_get borrows the text. */
const char *td_row_label_get(TdRowLabel *self);
