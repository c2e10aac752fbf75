/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/linalg/blas.h"

#include <cblas.h>
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* OpenBLAS comes in several flavours. If one has threads of its own, they stay idle: the thread
 * that asks for a product computes it, as the tape says. The flavour without threads has no locks
 * either: two threads in it at once get wrong products, so one waits for the other here. */
static pthread_mutex_t sequential = PTHREAD_MUTEX_INITIALIZER;
static bool is_sequential;

void
td_blas_enter(void) {
  if (is_sequential) pthread_mutex_lock(&sequential);
}

void
td_blas_leave(void) {
  if (is_sequential) pthread_mutex_unlock(&sequential);
}

/* The child of a fork must find nobody inside. */
__attribute__((constructor)) static void
choose_flavour(void) {
  openblas_set_num_threads(1);
  is_sequential = openblas_get_parallel() == OPENBLAS_SEQUENTIAL;
  if (is_sequential) pthread_atfork(td_blas_enter, td_blas_leave, td_blas_leave);
}

#ifdef __x86_64__
/* OpenBLAS calls these two as it is loaded and unloaded. No header has them, and not every build.
 */
__attribute__((weak)) void gotoblas_dynamic_init(void);
__attribute__((weak)) void gotoblas_dynamic_quit(void);

#define CORE_VARIABLE "OPENBLAS_CORETYPE"

/* OpenBLAS's name for the best kernels that this processor can run, or NULL. */
static const char *
best_core(void) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd"))
    return "SkylakeX";
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell" : NULL;
}

static bool
is_alone(void) {
  DIR *folder = opendir("/proc/self/task");
  int n = 0;
  while (folder && readdir(folder))
    n++;
  if (folder) closedir(folder);
  return n == 3; /* ".", ".." and this thread */
}

/* Before 0.3.25, OpenBLAS takes an Intel processor that is younger than itself for a Prescott of
 * 2004: its issue 4267. Products then take three times as long. So it chooses once more, unless
 * somebody chose for it. A thread inside it would lose its kernels meanwhile. */
void
td_blas_choose_kernels(void) {
  const char *best = best_core();
  if (!best || !gotoblas_dynamic_init || !gotoblas_dynamic_quit || getenv(CORE_VARIABLE)) return;
  if (strcmp(openblas_get_corename(), "Prescott") != 0 || !is_alone()) return;
  setenv(CORE_VARIABLE, best, 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(CORE_VARIABLE);
}
#else
void
td_blas_choose_kernels(void) {
}
#endif
