/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a screen reader says of the things in the pictures, at the playhead. The states of a node
 * are in the words of node_state_text.h. Main thread; the caller frees every text. */
#pragma once

#include "ui/model/document/document.h"

/* Keys of items that are about no node: above those of nodes. */
#define TD_ACCESSIBLE_MORE (G_GUINT64_CONSTANT(1) << 32)
#define TD_ACCESSIBLE_BEFORE (TD_ACCESSIBLE_MORE + 1)
#define TD_ACCESSIBLE_LAST (TD_ACCESSIBLE_MORE + 2)

/* td_accessible_node returns "MulBackward0 #6 (Linear · layers.0), running on cpu worker". */
char *td_accessible_node(TdDocument *document, uint32_t node);

/* td_accessible_node_whole puts its number between: "MulBackward0 #6, sequence_nr 7, running". */
char *td_accessible_node_whole(TdDocument *document, uint32_t node);

/* td_accessible_queue returns what is in a ready queue: "Queue 0 on cpu: 3 tasks". */
char *td_accessible_queue(TdDocument *document, uint32_t queue);

/* td_accessible_queues returns what is in all of them: "Queue 0 on cpu holds 3.". */
char *td_accessible_queues(TdDocument *document);

/* A task of a queue. */
typedef struct TdAccessibleTask {
  uint32_t node;
  char *text; /* (owned) with its place in the order of popping, from 1:
               * "1: MulBackward0 #6, depth 0, sequence_nr 7" */
} TdAccessibleTask;

/* td_accessible_tasks writes the tasks of a queue that would be popped first, at most `room`.
 * Returns how many. The caller frees the texts. */
uint32_t td_accessible_tasks(TdDocument *document, uint32_t queue, uint32_t room,
                             TdAccessibleTask *tasks);

/* td_accessible_more says how many things a tree leaves out: "12 more". */
char *td_accessible_more(uint32_t n);

/* td_accessible_last returns the node that a queue gave out last, "last popped: MulBackward0 #6";
 * NULL if there is none. */
char *td_accessible_last(TdDocument *document, uint32_t queue);
