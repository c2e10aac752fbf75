/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which OpenBLAS this is, and how threads share it. It computes on the thread that asks. Any
 * thread. */
#pragma once

/* td_blas_enter and td_blas_leave go around each call of BLAS. */
void td_blas_enter(void);
void td_blas_leave(void);

/* td_blas_choose_kernels chooses OpenBLAS's kernels once more, if it does not know this processor.
 * The last bits of products change. So it is for processes in which the engine alone uses OpenBLAS,
 * not for those of the real PyTorch. It does nothing if other threads run. */
void td_blas_choose_kernels(void);
