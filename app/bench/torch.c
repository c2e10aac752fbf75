/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of recording the real PyTorch. One process runs the work plain. Another has the probe
 * preloaded but off, another records, and another records in steps that nobody wants. They take
 * turns, so that each round meets the same noise. The profiler and anomaly mode take their turns in
 * the plain process. The least time of all rounds counts. The spread is that of the rounds' ratios.
 */
#include "app/bench/torch.h"

#include "app/bench/figure.h"
#include "app/bench/worker.h"
#include "app/common/paths.h"
#include "app/common/preload.h"
#include "engine/base/alloc.h"
#include "engine/trace/tape.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WARM_ROUNDS 3

/* Waits for the name of a way, runs one round of the work in that way and answers with
 * nanoseconds per node. Of the chain it measures the backward pass, of the model a whole step. */
static const char work[] =
    "import contextlib, sys, time, torch\n"
    "from torch import nn\n"
    "torch.set_num_threads(1)\n"
    "class Block(nn.Module):\n"
    "    def __init__(self, n, m, stride):\n"
    "        super().__init__()\n"
    "        self.a, self.b = nn.Conv2d(n, m, 3, stride, 1, bias=False), nn.Conv2d(m, m, 3, 1, 1, "
    "bias=False)\n"
    "        self.na, self.nb = nn.BatchNorm2d(m), nn.BatchNorm2d(m)\n"
    "        self.down = nn.Sequential(nn.Conv2d(n, m, 1, stride, bias=False), nn.BatchNorm2d(m)) "
    "\\\n"
    "            if stride > 1 else nn.Identity()\n"
    "    def forward(self, x):\n"
    "        return torch.relu(self.down(x) + self.nb(self.b(torch.relu(self.na(self.a(x))))))\n"
    "def resnet18():\n"
    "    blocks, n = [], 64\n"
    "    for m, stride in (64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), "
    "(512, 1):\n"
    "        blocks.append(Block(n, m, stride))\n"
    "        n = m\n"
    "    return nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), "
    "nn.ReLU(), *blocks,\n"
    "                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))\n"
    "def chain():\n"
    "    y = torch.ones(1, requires_grad=True)\n"
    "    for _ in range(5000): y = y.clone()\n"
    "    return y\n"
    "torch.manual_seed(1)\n"
    "is_model = sys.argv[1] == 'model'\n"
    "if is_model: model, images = resnet18(), torch.randn(2, 3, 32, 32)\n"
    "def forward(): return model(images).square().mean() if is_model else chain()\n"
    "def count(root):\n"
    "    seen, left = {root}, [root]\n"
    "    while left:\n"
    "        for node, _ in left.pop().next_functions:\n"
    "            if node is not None and node not in seen:\n"
    "                seen.add(node); left.append(node)\n"
    "    return len(seen)\n"
    "n_nodes = count(forward().grad_fn)\n"
    "ways = {'plain': contextlib.nullcontext,\n"
    "        'profiler': lambda: "
    "torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]),\n"
    "        'anomaly': lambda: torch.autograd.detect_anomaly()}\n"
    "import warnings; warnings.simplefilter('ignore')\n"
    "def once(way):\n"
    "    with ways[way]():\n"
    "        begin = time.perf_counter_ns()\n"
    "        y = forward()\n"
    "        if not is_model: begin = time.perf_counter_ns()\n"
    "        y.backward()\n"
    "        return (time.perf_counter_ns() - begin) / n_nodes\n"
    "once('plain')\n"
    "print(n_nodes, flush=True)\n"
    "for line in sys.stdin: print(once(line.strip()), flush=True)\n";

/* Ways to observe, and the process of each. */
typedef enum way {
  PLAIN,
  OFF,
  RECORDED,
  NAMELESS,
  NONFINITE,
  OUTSIDE,
  PROFILER,
  ANOMALY,
  N_WAYS
} way;

static const struct {
  const char *word; /* told to the process */
  way process;
} ways[N_WAYS] = {
    [PLAIN] = {"plain", PLAIN},         [OFF] = {"plain", OFF},
    [RECORDED] = {"plain", RECORDED},   [NAMELESS] = {"plain", NAMELESS},
    [NONFINITE] = {"plain", NONFINITE}, [OUTSIDE] = {"plain", OUTSIDE},
    [PROFILER] = {"profiler", PLAIN},   [ANOMALY] = {"anomaly", PLAIN},
};

#define N_PROCESSES (OUTSIDE + 1)

typedef struct worker {
  td_bench_worker process;
  char *tape; /* (owned) a recorded one's */
  double n_nodes;
} worker;

typedef struct workload {
  const char *name;
  unsigned n_rounds;
  bool measured;
  char *skipped;           /* (owned) */
  double *samples[N_WAYS]; /* (owned) [n_rounds] ns per node */
  worker workers[N_PROCESSES];
} workload;

static workload chain = {.name = "chain", .n_rounds = 60};
static workload model = {.name = "model", .n_rounds = 16};

static const char *python;

void
td_bench_torch_choose(const char *chosen) {
  python = chosen ? chosen : "python3";
}

const char *
td_bench_torch_chosen(void) {
  return python;
}

static char **
arguments_of(const workload *self, way process, const char *tape) {
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  if (tape) {
    g_strv_builder_add_many(builder, td_path_program(), "record", "--force", "-o", tape,
                            "--anomaly", process == NONFINITE ? "nonfinite" : "off", NULL);
    /* Without an optimizer a pass is a step: the one before the rounds. */
    if (process == OUTSIDE) g_strv_builder_add_many(builder, "--first", "1", NULL);
    g_strv_builder_add(builder, "--");
  }
  g_strv_builder_add_many(builder, python, "-c", work, self->name, NULL);
  return g_strv_builder_end(builder);
}

/* NULL, with *problem, if the probe cannot be preloaded. */
static char **
environment_of(way process, char **problem) {
  char **environment = td_bench_worker_environment();
  if (process == NAMELESS) environment = g_environ_setenv(environment, "TAPEDECK_NAMES", "0", TRUE);
  return process == OFF ? td_preload_set(environment, problem) : environment;
}

static bool
start_worker(workload *self, way process, const char *folder) {
  worker *worker = &self->workers[process];
  bool recorded = process >= RECORDED && process <= OUTSIDE;
  if (recorded) worker->tape = g_strdup_printf("%s/%s-%d.tape", folder, self->name, process);
  g_auto(GStrv) argv = arguments_of(self, process, worker->tape);
  g_auto(GStrv) environment = environment_of(process, &self->skipped);
  worker->n_nodes = environment ? td_bench_worker_start(&worker->process, argv, environment) : 0;
  return worker->n_nodes > 0;
}

/* One round; negative where the process is gone. */
static double
run_once(workload *self, way way) {
  return td_bench_worker_ask(&self->workers[ways[way].process].process, ways[way].word);
}

/* The ways take turns. Each round begins with another one. */
static bool
run_rounds(workload *self) {
  for (unsigned round = 0; round < WARM_ROUNDS + self->n_rounds; round++)
    for (unsigned i = 0; i < N_WAYS; i++) {
      way way = (i + round) % N_WAYS;
      double took = run_once(self, way);
      if (took <= 0) return false;
      if (round >= WARM_ROUNDS) self->samples[way][round - WARM_ROUNDS] = took;
    }
  return true;
}

/* A recording without events would cost nothing. So this checks that everything is on the tape,
 * from inside the engine. */
static char *
find_doubt(const workload *self, way process) {
  const worker *worker = &self->workers[process];
  td_tape *tape;
  td_any_event event;
  if (td_tape_open(worker->tape, &tape, NULL) != TD_OK) return g_strdup("nothing was recorded");
  const td_tape_info *info = td_tape_info_get(tape);
  /* each round, and one before them */
  double rounds = process == OUTSIDE ? 0 : WARM_ROUNDS + self->n_rounds;
  double wanted = worker->n_nodes * (rounds + 1);
  uint32_t level = 0;
  for (uint64_t seq = 0; seq < MIN(info->n_events, 10000) && !level; seq++)
    if (td_tape_get(tape, seq, &event, NULL) == TD_OK && event.event.kind == TD_EVENT_probe_level)
      level = event.probe_level.level;
  double seen = (double)info->n_by_kind[TD_EVENT_node_begin];
  td_tape_close(tape);
  if (level != 1) return g_strdup_printf("PyTorch could only be recorded at level %u here", level);
  if (process == OUTSIDE && seen >= 2 * wanted) return g_strdup("passes were not left out");
  return seen < wanted ? g_strdup_printf("only %.0f of %.0f nodes were recorded", seen, wanted)
                       : NULL;
}

char *
td_bench_torch_missing(const char *chosen) {
  static const char *found;
  if (found && g_str_equal(found, chosen)) return NULL;
  const char *argv[] = {chosen, "-c", "import torch; print(torch.__version__)", NULL};
  g_auto(GStrv) environment = environment_of(PLAIN, NULL);
  g_autofree char *output = NULL;
  int status = 1;
  if (!g_spawn_sync(NULL, (char **)argv, environment,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &output, NULL,
                    &status, NULL))
    return g_strdup_printf("%s cannot be run", chosen);
  if (status != 0) return g_strdup_printf("%s has no PyTorch", chosen);
  found = chosen;
  fprintf(stderr, "tapedeck: measuring PyTorch %s", output);
  return NULL;
}

static void
run_workload(workload *self) {
  g_autofree char *folder = g_dir_make_tmp("tapedeck-bench-XXXXXX", NULL);
  bool fine = folder != NULL;
  for (way way = 0; way < N_WAYS; way++)
    self->samples[way] = TD_NEW_N(double, self->n_rounds);
  for (way process = 0; process < N_PROCESSES && fine; process++)
    fine = start_worker(self, process, folder);
  if (!self->skipped && (!fine || !run_rounds(self)))
    self->skipped = g_strdup("a process that runs PyTorch ended early");
  for (way process = 0; process < N_PROCESSES; process++)
    td_bench_worker_end(&self->workers[process].process);
  for (way process = RECORDED; process < N_PROCESSES; process++) {
    worker *worker = &self->workers[process];
    if (!self->skipped) self->skipped = find_doubt(self, process);
    if (worker->tape) g_unlink(worker->tape);
    g_free(worker->tape);
  }
  if (folder) g_rmdir(folder);
}

static int
compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
least(const double *values, unsigned n) {
  double best = values[0];
  for (unsigned i = 1; i < n; i++)
    best = MIN(best, values[i]);
  return best;
}

/* A way beside another one. */
static void
compare(workload *self, way way, enum way with, td_measured *measured) {
  unsigned n = self->n_rounds;
  if (!self->measured && python && !(self->skipped = td_bench_torch_missing(python)))
    run_workload(self);
  if (python) self->measured = true;
  if (!python) measured->skipped = g_strdup("takes a minute: ask for it with --torch");
  if (python && self->skipped) measured->skipped = g_strdup(self->skipped);
  if (measured->skipped) return;
  g_autofree double *ratios = g_new(double, n);
  for (unsigned i = 0; i < n; i++)
    ratios[i] = self->samples[way][i] / self->samples[with][i];
  qsort(ratios, n, sizeof *ratios, compare_doubles);
  measured->value = least(self->samples[way], n);
  measured->floor_value = least(self->samples[with], n);
  measured->spread = (td_spread){n, ratios[n / 4], ratios[n / 2], ratios[n * 3 / 4]};
}

#define TD_TORCH_COMPARISON(name, workload, way, with)                                             \
  void td_bench_##name(td_measured *measured) {                                                    \
    compare(&workload, way, with, measured);                                                       \
  }
#define TD_TORCH_FIGURE(name, workload, way) TD_TORCH_COMPARISON(name, workload, way, PLAIN)
TD_TORCH_FIGURE(torch_tiny_ops, chain, RECORDED)
TD_TORCH_FIGURE(torch_tiny_ops_off, chain, OFF)
TD_TORCH_FIGURE(torch_tiny_ops_outside, chain, OUTSIDE)
TD_TORCH_FIGURE(torch_tiny_ops_nonfinite, chain, NONFINITE)
TD_TORCH_FIGURE(torch_tiny_ops_profiler, chain, PROFILER)
TD_TORCH_FIGURE(torch_tiny_ops_anomaly, chain, ANOMALY)
TD_TORCH_FIGURE(torch_model, model, RECORDED)
TD_TORCH_FIGURE(torch_model_off, model, OFF)
TD_TORCH_COMPARISON(torch_model_names, model, RECORDED, NAMELESS)
TD_TORCH_FIGURE(torch_model_outside, model, OUTSIDE)
TD_TORCH_FIGURE(torch_model_nonfinite, model, NONFINITE)
TD_TORCH_FIGURE(torch_model_profiler, model, PROFILER)
TD_TORCH_FIGURE(torch_model_anomaly, model, ANOMALY)
