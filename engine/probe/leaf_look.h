/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the probe always looks at: the gradient that a leaf is about to store, which costs a pass
 * over its memory, and a corner of what the leaf holds. Any thread. Read by C and C++. */
#pragma once

#include "engine/probe/gradient.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TD_LEAF_LOOK_API __attribute__((visibility("default")))

/* td_leaf_look_begin begins with a recording: it says on the tape that leaves and roots are
 * looked at: the settings "leaves", "roots" and "ends". */
TD_LEAF_LOOK_API void td_leaf_look_begin(void);

/* td_leaf_look puts on the tape what is unusual: leaf_look. `held` is what .grad holds before. Both
 * were described for numerics.h. The caller keeps others from the leaf meanwhile. */
TD_LEAF_LOOK_API void td_leaf_look(uint32_t graph_task, uint32_t node, const td_gradient *gradient,
                                   const td_gradient *held);

/* td_leaf_look_is_zero tells whether what was described can be read and is zero. */
TD_LEAF_LOOK_API bool td_leaf_look_is_zero(const td_gradient *held);

#ifdef __cplusplus
}
#endif
