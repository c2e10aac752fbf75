/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For level 2, since PyTorch 2.14: a hook that PyTorch calls with each node when the node is made.
 * It notes in the node's metadata which thread makes the node. Without it nobody could tell two
 * nodes of two threads apart that have the same sequence number. Private to the probe. */
#pragma once

#include "engine/probe/python.h"

/* Under this name a node's metadata has the number of the thread that made the node. */
#define TD_CREATION_THREAD "tapedeck thread"

/* td_creation_start prepares the hook. `no_hooks` is at::impl::NodeCreationHooks::empty, or NULL:
 * then nothing happens. `thread_id` is at::RecordFunction::currentThreadId. Wants the GIL. Once. */
void td_creation_start(const td_python *python, bool (*no_hooks)(void),
                       uint64_t (*thread_id)(void));

/* td_creation_is_missing tells whether this thread has no creation hook at all. Any thread.
 * td_creation_enter gives the thread ours; it wants the GIL. A thread calls them while it makes a
 * node, before PyTorch looks for hooks. */
bool td_creation_is_missing(void);
void td_creation_enter(void);
