/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cuts: where a program cut leaves off its loss: by detach() or .data, as plain numbers, by
 * argmax(), a comparison or a cast to integers, or where no graph is made. Most cuts are meant, so
 * they are no events. Only if a parameter has no gradient, no_gradient says where its cut is. Any
 * thread. Read by C and C++. */
#pragma once

#include "engine/events/event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TD_CUTS_API __attribute__((visibility("default")))

/* What is done once a step is done in the first passes. Later ones need not be watched. */
#define TD_CUTS_PASSES 16u
#define TD_CUTS_NOTED 100000u

typedef struct td_cut {
  td_cut_kind kind;
  uint32_t stack; /* interned; 0: unknown */
} td_cut;

/* td_cuts_begin forgets all and begins to want cuts: for the first TD_CUTS_PASSES outermost passes,
 * which td_cuts_end_pass counts. Initially no cuts are wanted. */
TD_CUTS_API void td_cuts_begin(void);
TD_CUTS_API void td_cuts_end_pass(void);

/* td_cuts_wanted returns true if cuts are to be noted. One load. */
TD_CUTS_API bool td_cuts_wanted(void);

/* td_cuts_note notes the cut of a leaf, which has a number of its own. A detach() counts more than
 * plain numbers, and both more than a use without a graph. .data counts as detach(); argmax(), a
 * comparison and a cast to integers as plain numbers. Of equals the last one counts. After
 * TD_CUTS_NOTED notes it gives up. */
TD_CUTS_API void td_cuts_note(uint64_t leaf, td_cut cut);

/* td_cuts_note_graph notes that an operation which makes a graph took the leaf. So a use without a
 * graph is not what cut it off. */
TD_CUTS_API void td_cuts_note_graph(uint64_t leaf);

/* td_cuts_note_copy notes that autocast took a copy of the leaf where no graph is made, and keeps
 * it. td_cuts_note_copy_used notes that an operation which makes a graph got the leaf under
 * autocast: if autocast still has that copy, it takes it, else td_cuts_note_graph follows. */
TD_CUTS_API void td_cuts_note_copy(uint64_t leaf);
TD_CUTS_API void td_cuts_note_copy_used(uint64_t leaf);

/* td_cuts_give_up wants no more cuts, because to note them costs too much. A cut that is not noted
 * may be the last one, so nothing is known of any leaf from then on. */
TD_CUTS_API void td_cuts_give_up(void);

/* td_cuts_find returns what was noted of a leaf: TD_cut_kind_none if nothing was,
 * TD_cut_kind_unseen if td_cuts_give_up was called. */
td_cut td_cuts_find(uint64_t leaf);

/* td_cuts_last returns the cut that was noted last, of whatever leaf; TD_cut_kind_none if there was
 * none, or if td_cuts_give_up was called. */
td_cut td_cuts_last(void);

#ifdef __cplusplus
}
#endif
