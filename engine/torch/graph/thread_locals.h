/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Thread-local settings that follow a backward pass, as PyTorch's ThreadLocalState. Nodes and final
 * callbacks may run on any thread, but must see what the caller of backward has set. So each such
 * setting declares a class here, and a pass installs its caller's values around each node. To make
 * that cheap, a thread's settings together have a stamp: if the stamps are equal, nothing is to be
 * done. Grad mode is not among them: a graph task sets it.
 *
 * Any thread, for its own settings; classes are added while the program starts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A setting. NULL stands for its initial value, which every thread starts with. */
typedef struct td_thread_local_class {
  void *(*save)(void);          /* what the calling thread has, a new reference */
  void (*install)(void *value); /* (borrowed) makes it the calling thread's */
  void (*release)(void *value); /* drops what save returned; NULL: nothing to drop */
} td_thread_local_class;

/* td_thread_local_add makes a setting known, once, before it is changed for the first time. */
void td_thread_local_add(const td_thread_local_class *klass);

/* td_thread_local_changed must be called after the calling thread's value of any setting changed.
 */
void td_thread_local_changed(void);

/* A thread's settings at one moment. */
typedef struct td_thread_locals {
  uint64_t stamp; /* 0: all are initial */
  void **values;  /* (owned) one for each class, or NULL: all are initial */
} td_thread_locals;

void td_thread_locals_save(td_thread_locals *locals);
void td_thread_locals_fini(td_thread_locals *locals);

/* td_thread_locals_enter makes `wanted` the calling thread's settings and notes what was there in
 * *before; td_thread_locals_leave restores that, whatever was changed meanwhile. */
extern _Thread_local uint64_t td_thread_locals_stamp;
void td_thread_locals_switch(const td_thread_locals *wanted, td_thread_locals *before);
void td_thread_locals_restore(const td_thread_locals *wanted, td_thread_locals *before);

static inline void
td_thread_locals_enter(const td_thread_locals *wanted, td_thread_locals *before) {
  *before = (td_thread_locals){.stamp = td_thread_locals_stamp};
  if (__builtin_expect(before->stamp != wanted->stamp, 0)) td_thread_locals_switch(wanted, before);
}

static inline void
td_thread_locals_leave(const td_thread_locals *wanted, td_thread_locals *before) {
  if (__builtin_expect(td_thread_locals_stamp != before->stamp || before->values, 0))
    td_thread_locals_restore(wanted, before);
}

/* Whether passes that the calling thread begins use device threads (they do at first):
 * set_multithreading_enabled. A pass keeps to what held where it was begun. */
bool td_multithreading(void);
void td_multithreading_set(bool enabled);
