/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the calling thread is to the engine, PyTorch's worker_device, current_depth, total_depth and
 * local_ready_queue. What it works on just now is in engine/torch/graph/now.h. Read and written by
 * its own thread alone. Private to engine/torch/pass, but for td_checkpoint_is_valid. */
#pragma once

#include "engine/torch/graph/now.h"
#include "engine/torch/pass/ready_queue.h"

#define TD_NO_DEVICE ((td_device)-2)

typedef struct td_engine_thread {
  td_device device;       /* TD_NO_DEVICE outside a pass; a device thread's own for ever */
  uint32_t current_depth; /* nested passes on this thread */
  uint32_t total_depth;   /* depth of nesting, with outer passes that other threads run */
  uint32_t n_selective;   /* passes that want chosen gradients, of those it works in */
  td_ready_queue *queue;  /* (owned reference) kept for the thread's life */
} td_engine_thread;

extern _Thread_local td_engine_thread td_thread_self;

/* td_checkpoint_is_valid: a nested backward of everything makes sense here: neither the calling
 * thread's pass nor one around it wants chosen gradients alone. */
bool td_checkpoint_is_valid(void);
