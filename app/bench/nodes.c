/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine's cost per node, with and without a recording. */
#include "app/bench/figure.h"
#include "app/bench/graphs.h"
#include "app/bench/recording.h"
#include "app/bench/scale.h"

#include "engine/base/alloc.h"

#include <glib.h>

#define NODES 10000
#define ROUNDS 40
#define BUSY_NODES 2000
#define MANY 1000000
#define FEW 2000 /* in small figures */

/* The same chain on PyTorch, whose cheapest node with a function of its own is clone's. */
static const char torch_chain[] = "import time, torch\n"
                                  "torch.set_num_threads(1)\n"
                                  "best = 1e9\n"
                                  "for _ in range(8):\n"
                                  "    y = torch.ones(1, requires_grad=True)\n"
                                  "    for _ in range(10000): y = y.clone()\n"
                                  "    begin = time.perf_counter(); y.backward()\n"
                                  "    best = min(best, time.perf_counter() - begin)\n"
                                  "print(best / 10000 * 1e9)\n";

static double
ns_per_node(uint32_t n, uint64_t busy_ns) {
  double best = 1e30;
  for (uint32_t round = 0; round < td_bench_size(ROUNDS, 2); round++) {
    td_tensor *end = td_bench_chain(n, busy_ns);
    double took = td_bench_backward(end, false);
    best = TD_MIN(best, took);
    td_tensor_unref(end);
  }
  return best / n * 1e9;
}

static char *
measure_torch(double *ns) {
  g_autofree char *output = NULL;
  g_autofree char *complaint = NULL;
  const char *argv[] = {TD_PYTHON, "-c", torch_chain, NULL};
  int status = 1;
  g_autoptr(GError) error = NULL;
  bool started = g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output,
                              &complaint, &status, &error);
  if (!started) return g_strdup(error->message);
  *ns = g_ascii_strtod(output, NULL);
  if (status == 0 && *ns > 0) return NULL;
  return g_strdup(strstr(complaint, "No module named") ? "PyTorch is not installed (python3-torch)"
                                                       : "PyTorch's chain did not run");
}

void
td_bench_node_off(td_measured *measured) {
  measured->value = ns_per_node(td_bench_size(NODES, FEW), 0);
  measured->skipped = measure_torch(&measured->floor_value);
}

static void
measure_recorded(td_measured *measured, uint32_t n, uint64_t busy_ns) {
  measured->floor_value = ns_per_node(n, busy_ns);
  td_bench_recording recording = {0};
  measured->skipped = td_bench_record_begin(&recording);
  if (measured->skipped) return;
  measured->value = ns_per_node(n, busy_ns);
  measured->skipped = td_bench_record_end(&recording);
  td_bench_record_remove(&recording);
}

void
td_bench_node_recording(td_measured *measured) {
  measure_recorded(measured, td_bench_size(NODES, FEW), 0);
}

void
td_bench_node_1us_recording(td_measured *measured) {
  measure_recorded(measured, td_bench_size(BUSY_NODES, 200), 1000);
}

/* Nanoseconds for a block as large as a node. */
static double
malloc_free(uint32_t n) {
  double best;
  TD_BEST_OF(
      5, best, for (uint32_t i = 0; i < n; i++) {
        void *block = malloc(160);
        __asm__ volatile("" : "+r"(block) : : "memory");
        free(block);
      });
  return best / n * 1e9;
}

void
td_bench_free_node(td_measured *measured) {
  uint32_t n = td_bench_size(MANY, FEW);
  double best = 1e30;
  for (int round = 0; round < 3; round++) {
    td_tensor *end = td_bench_chain(n, 0);
    double begin = td_bench_now();
    td_tensor_unref(end);
    best = TD_MIN(best, td_bench_now() - begin);
  }
  measured->value = best / n * 1e9;
  measured->floor_value = malloc_free(n);
}

static double
build_and_run_ms(uint32_t n) {
  double best;
  TD_BEST_OF(3, best, td_tensor *end = td_bench_chain(n, 0); td_bench_backward(end, false);
             td_tensor_unref(end););
  return best * 1e3;
}

/* The pass runs on memory that no cache holds. */
void
td_bench_chain_million(td_measured *measured) {
  uint32_t n = td_bench_size(MANY, FEW);
  measured->value = build_and_run_ms(n) * 1e6 / n;
  measured->floor_value = malloc_free(n);
}

char *
td_bench_scale_chain(uint32_t n, double *value) {
  *value = build_and_run_ms(n);
  return NULL;
}

char *
td_bench_scale_recorded_chain(uint32_t n, double *value) {
  td_bench_recording recording = {0};
  char *trouble = td_bench_record_begin(&recording);
  if (trouble) return trouble;
  *value = build_and_run_ms(n);
  trouble = td_bench_record_end(&recording);
  td_bench_record_remove(&recording);
  return trouble;
}
