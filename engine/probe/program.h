/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* td_program_name returns what people call this process: the script or module that Python runs, or
 * "-c"; for other programs the path. If TAPEDECK_PROGRAM is set, it is that. Any thread. The caller
 * frees. */
char *td_program_name(void);

/* td_program_call gives the process another name, once: that of Python's kernel says nothing. */
void td_program_call(const char *name);

/* td_program_rank returns the rank of this process, or -1: that in its process group, if it is
 * noted, else the one that torchrun gave it. Any thread. */
int32_t td_program_rank(void);
void td_program_note_rank(int32_t rank);
bool td_program_has_group_rank(void); /* it is noted */

/* td_program_torch returns the path of the libtorch_cpu.so that is loaded, or NULL. It lives as
 * long as the library. Any thread. */
const char *td_program_torch(void);

/* td_program_find_in_torch returns a function of PyTorch's by its mangled name, or NULL. Any
 * thread.
 */
void *td_program_find_in_torch(const char *name);
