/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Names of leaves that no module has: what the variables of the running functions call them when a
 * pass begins. A leaf without a variable keeps no name. Read by C and C++. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TD_LEAVES_API __attribute__((visibility("default")))

/* td_leaves_want notes that the calling thread's pass has announced an AccumulateGrad without a
 * name. `impl` is the at::TensorImpl of its leaf. */
TD_LEAVES_API void td_leaves_want(uint32_t node, const void *impl);

/* td_leaves_name emits the names that it finds for what this thread has wanted, and forgets the
 * rest. The caller holds no lock but perhaps the GIL; td_leaves_name takes the GIL if something is
 * wanted. The leaves live. */
TD_LEAVES_API void td_leaves_name(void);

/* td_leaves_begin forgets all names: a tape begins, with names of leaves or without.
 * td_leaves_label returns the name that td_leaves_name found last for a leaf, or the one of
 * td_leaves_own; an interned string, or 0. */
TD_LEAVES_API void td_leaves_begin(bool has_names);
TD_LEAVES_API uint32_t td_leaves_label(const void *impl);

/* td_leaves_own gives a leaf the name that its optimizer knows it by, for the nodes to come.
 * td_leaves_owned_label returns that name, or 0. The optimizer keeps the leaf alive. */
TD_LEAVES_API void td_leaves_own(const void *impl, uint32_t label);
TD_LEAVES_API uint32_t td_leaves_owned_label(const void *impl);

#ifdef __cplusplus
}
#endif
