/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Products in several threads at once: none disturbs another. */
#include "engine/torch/ops/linalg/gemm.h"

#include <glib.h>
#include <string.h>

#define N_THREADS 4
#define N_PRODUCTS 200000
#define ROWS 8
#define INNER 32
#define COLUMNS 24

/* What one thread multiplies. Each thread has numbers of its own. */
typedef struct factors {
  float a[ROWS * INNER], b[INNER * COLUMNS], c[ROWS * COLUMNS];
  int n_wrong;
} factors;

static void
multiply(factors *f, float *c) {
  td_gemm(TD_FLOAT32, ROWS, INNER, COLUMNS, (td_matrix){f->a, INNER, 1},
          (td_matrix){f->b, COLUMNS, 1}, (td_matrix){c, COLUMNS, 1}, false);
}

static gpointer
multiply_often(gpointer data) {
  factors *f = data;
  float c[ROWS * COLUMNS];
  for (int i = 0; i < N_PRODUCTS; i++) {
    multiply(f, c);
    f->n_wrong += memcmp(c, f->c, sizeof c) != 0;
  }
  return NULL;
}

static void
test_threads_multiply_at_once(void) {
  static factors all[N_THREADS];
  GThread *threads[N_THREADS];
  g_autoptr(GRand) numbers = g_rand_new_with_seed(7);
  for (int t = 0; t < N_THREADS; t++) {
    for (size_t i = 0; i < G_N_ELEMENTS(all->a); i++)
      all[t].a[i] = (float)g_rand_double(numbers);
    for (size_t i = 0; i < G_N_ELEMENTS(all->b); i++)
      all[t].b[i] = (float)g_rand_double(numbers);
    multiply(&all[t], all[t].c);
  }
  for (int t = 0; t < N_THREADS; t++)
    threads[t] = g_thread_new("multiplies", multiply_often, &all[t]);
  for (int t = 0; t < N_THREADS; t++)
    g_thread_join(threads[t]);
  for (int t = 0; t < N_THREADS; t++)
    g_assert_cmpint(all[t].n_wrong, ==, 0);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/gemm/threads_multiply_at_once", test_threads_multiply_at_once);
  return g_test_run();
}
