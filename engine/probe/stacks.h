/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The forward side: in which module and at which line of the program a node was made, and what a
 * leaf is called there. A node takes a sequence number when it is made. The probe reads the module
 * at that moment, and keeps it under (thread, sequence number) until a backward pass meets the
 * node. With `--stacks` it reads the Python stack too; see Note [Forward stacks] in stacks.c.
 *
 * A stack is one text, a frame a line, `FILE:LINE FUNCTION`, the innermost last, as in a traceback
 * and in PyTorch's anomaly mode. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TD_STACKS_API __attribute__((visibility("default")))

/* Where a node was made: interned strings, 0 if unknown. */
typedef struct td_forward {
  uint32_t stack, module, module_class;
} td_forward;

/* td_stacks_start begins to follow the modules and, if they are wanted, to read stacks. `thread_id`
 * is at::RecordFunction::currentThreadId, the number that nodes bear. `no_hooks` is for creation.h;
 * NULL if an observer reads that number. NULL when it works, else why it does not, in words
 * (static). Any thread, holding no lock; takes the GIL. */
const char *td_stacks_start(uint64_t (*thread_id)(void), bool (*no_hooks)(void), bool stacks);

/* td_stacks_want tells whether stacks are read from now on, after td_stacks_start. */
void td_stacks_want(bool stacks);

/* td_stacks_has_names tells whether modules and parameters are named. Any thread. */
TD_STACKS_API bool td_stacks_has_names(void);

/* td_stacks_tell says on the tape that begins how modules and names are known. */
void td_stacks_tell(void);

/* For preload.c: td_stacks_hook returns what is to be called instead of
 * at::sequence_number::get_and_increment, which it is given. */
TD_STACKS_API void *td_stacks_hook(void *get_and_increment);

/* td_stacks_find returns where the node was made that took this number on that thread. Any
 * thread that came to know of the node. */
TD_STACKS_API td_forward td_stacks_find(uint64_t thread_id, uint64_t sequence_nr);

/* td_stacks_find_any is for those who do not know the thread: nothing, where two have taken the
 * number. */
TD_STACKS_API td_forward td_stacks_find_any(uint64_t sequence_nr);

/* td_stacks_label returns the name of the parameter that is this at::TensorImpl, or 0. */
TD_STACKS_API uint32_t td_stacks_label(const void *tensor);

/* td_stacks_here returns where the calling thread's Python is now, 0 if unknown. It takes the GIL.
 */
TD_STACKS_API uint32_t td_stacks_here(void);

/* td_stacks_emit puts what is known beside its stack on the tape, after node_new: its module. */
TD_STACKS_API void td_stacks_emit(uint32_t node, td_forward forward);

#ifdef __cplusplus
}
#endif
