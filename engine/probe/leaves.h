/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Names of leaves that no module has: what the variables of the running functions call them when a
 * pass begins. A leaf without a variable keeps no name. Read by C and C++. */
#pragma once

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

#ifdef __cplusplus
}
#endif
