/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/thread_locals.h"

#include "engine/base/alloc.h"

#include <assert.h>
#include <stdatomic.h>

#define MAX_CLASSES 8

static _Thread_local bool single_threaded;

static void *
single_threaded_save(void) {
  return single_threaded ? &single_threaded : NULL;
}

static void
single_threaded_install(void *value) {
  single_threaded = value != NULL;
}

static const td_thread_local_class single_threaded_class = {.save = single_threaded_save,
                                                            .install = single_threaded_install};

static const td_thread_local_class *classes[MAX_CLASSES] = {&single_threaded_class};
static int n_classes = 1;
static _Atomic uint64_t n_stamps;

_Thread_local uint64_t td_thread_locals_stamp;

void
td_thread_local_add(const td_thread_local_class *klass) {
  assert(n_classes < MAX_CLASSES);
  classes[n_classes++] = klass;
}

void
td_thread_local_changed(void) {
  td_thread_locals_stamp = 1 + atomic_fetch_add_explicit(&n_stamps, 1, memory_order_relaxed);
}

void
td_thread_locals_save(td_thread_locals *locals) {
  *locals = (td_thread_locals){.stamp = td_thread_locals_stamp};
  if (!locals->stamp) return;
  locals->values = TD_NEW_N(void *, MAX_CLASSES);
  for (int i = 0; i < n_classes; i++)
    locals->values[i] = classes[i]->save();
}

void
td_thread_locals_fini(td_thread_locals *locals) {
  for (int i = 0; locals->values && i < n_classes; i++)
    if (locals->values[i] && classes[i]->release) classes[i]->release(locals->values[i]);
  free(locals->values);
  *locals = (td_thread_locals){0};
}

static void
install(const td_thread_locals *locals) {
  for (int i = 0; i < n_classes; i++)
    classes[i]->install(locals->values ? locals->values[i] : NULL);
  td_thread_locals_stamp = locals->stamp;
}

void
td_thread_locals_switch(const td_thread_locals *wanted, td_thread_locals *before) {
  td_thread_locals_save(before);
  install(wanted);
}

/* Where nothing was switched, what was there before is what was wanted. */
void
td_thread_locals_restore(const td_thread_locals *wanted, td_thread_locals *before) {
  install(before->stamp == wanted->stamp ? wanted : before);
  td_thread_locals_fini(before);
}

bool
td_multithreading(void) {
  return !single_threaded;
}

void
td_multithreading_set(bool enabled) {
  single_threaded = !enabled;
  td_thread_local_changed();
}
