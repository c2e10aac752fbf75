/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a screen reader finds in a canvas: a tree of named items, each where the canvas draws it.
 * In GTK 4.8 only widgets are accessible. So the tree and its items are widgets without a picture,
 * and the pointer does not meet them. Main thread.
 *
 * Note [What the tree has]. A graph may have 100,000 nodes, and a playhead moves 60 times a second.
 * So the tree has some dozens of items, and says how many more there are. The canvas tells anew
 * some time after a change. While a tape plays, that is once a second. An item that is still there
 * stays, and only texts that differ are sent to the screen reader. */
#pragma once

#include <gtk/gtk.h>

#define TD_TYPE_READER (td_reader_get_type())
G_DECLARE_FINAL_TYPE(TdReader, td_reader, TD, READER, GtkWidget)

/* One item of a tree. */
typedef struct TdTold {
  char *text;          /* (owned) */
  guint level;         /* 1, or 2: below the last item of level 1 */
  guint64 key;         /* the same thing has the same key each time */
  guint32 node;        /* that it is about, or TD_NONE */
  graphene_rect_t box; /* pixels of the canvas */
} TdTold;

/* td_reader_new returns a tree without items. The signal "chosen" says which node's item somebody
 * activates: with td_reader_choose, or with the action of a screen reader. */
TdReader *td_reader_new(const char *title);

/* td_reader_show makes the items those of an array of TdTold. Items of the node `selected` are
 * selected. */
void td_reader_show(TdReader *self, GArray *told, guint32 selected);

/* td_reader_has_focus tells whether the focus is on an item. td_reader_focus_node moves it to the
 * item of a node, and returns FALSE if there is none. td_reader_step moves it to the next item (1)
 * or the one before (-1); to the first item, if it was on none. */
gboolean td_reader_has_focus(TdReader *self);
gboolean td_reader_focus_node(TdReader *self, guint32 node);
gboolean td_reader_step(TdReader *self, int direction);

/* td_reader_choose activates the item that has the focus. */
void td_reader_choose(TdReader *self);
