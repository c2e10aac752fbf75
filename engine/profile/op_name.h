/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When two nodes' names mean the same operation. Names of one engine and version are compared as
 * they are. Between versions they differ in four ways. The rule looks past these alone:
 *
 * - a leading "torch::autograd::" (AccumulateGrad, CopySlices, CopyBackwards, GraphRoot) is C++'s;
 * - digits that end a name ("SumBackward0", "SumBackward1") number the overloads of an operation,
 *   and later versions insert new ones;
 * - an "s" after "Backward" (CopyBackwards) is old spelling;
 * - operations were renamed: the table in op_name.c.
 *
 * So SumBackward0 and SumBackward1 are the same operation here, and what tells them apart is the
 * shape of their gradient. Any thread.
 */
#pragma once

#include <stdint.h>

/* td_op_name_hash returns the same number for names that mean the same operation. */
uint64_t td_op_name_hash(const char *name);
