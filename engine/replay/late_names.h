/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Late names: leaves that are born in one segment of a tape and named in a later one. That happens
 * if one thread builds a graph while another runs a pass. A catalog of the whole tape has each
 * leaf's name. So the keyframes of the segments in between get it too. It needs memory for the
 * unnamed leaves that live, and for the late names. Private to engine/replay. One thread. */
#pragma once

#include "engine/replay/cut_moments.h"
#include "engine/trace/keyframe.h"

/* Zero-initialise. */
typedef struct td_late_names {
  td_number_map unnamed; /* by leaf that lives: 1 + the number of its node_new, or 0 */
  uint64_t n_dead;       /* entries of `unnamed` with 0 */
  uint64_t last_cut;     /* the latest event before which the tape can be cut */
  td_keyframe names;     /* node_label of leaves, in the order of the tape */
  uint64_t *births;      /* (owned) [names.n] the numbers of their node_new */
  size_t capacity;
} td_late_names;

/* td_late_names_take looks at the next event of the tape. `may_cut` tells whether a segment may
 * begin with it. */
void td_late_names_take(td_late_names *names, const td_event *event, uint64_t seq, bool may_cut);

/* td_late_names_put adds what names leaves that were born before event `end` from that event on. A
 * segment that ends there has them in its keyframe. Their numbers rise. */
void td_late_names_put(const td_late_names *names, td_keyframe *keyframe, uint64_t end);
void td_late_names_fini(td_late_names *names);
