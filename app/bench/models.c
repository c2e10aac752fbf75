/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of a training step of a real model, on Tapedeck's engine and on PyTorch. Each runs in
 * a process of its own, and they take turns. Processor time, one thread each: other programs on
 * the machine do not count. */
#include "app/bench/figure.h"
#include "app/bench/torch.h"
#include "app/paths.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define TURNS 2

/* Arguments: "tapedeck" or "torch", and the folder of the examples. */
static const char script[] =
    "import sys, time\n"
    "sys.path.insert(0, sys.argv[2])\n"
    "if sys.argv[1] == 'tapedeck':\n"
    "    import tapedeck\n"
    "    sys.modules.update({name.replace('tapedeck', 'torch', 1): module\n"
    "                        for name, module in list(sys.modules.items()) if "
    "name.startswith('tapedeck')})\n"
    "import torch\n"
    "from resnet18 import ResNet18\n"
    "torch.set_num_threads(1)\n"
    "torch.manual_seed(0)\n"
    "model = ResNet18(64)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)\n"
    "images, classes = torch.randn(8, 3, 64, 64), torch.arange(8)\n"
    "best = 1e9\n"
    "for _ in range(10):\n"
    "    begin = time.process_time()\n"
    "    loss = torch.nn.functional.cross_entropy(model(images), classes)\n"
    "    optimizer.zero_grad()\n"
    "    loss.backward()\n"
    "    optimizer.step()\n"
    "    best = min(best, time.process_time() - begin)\n"
    "print(best * 1e3)\n";

static char **
environment_of(bool own) {
  char **environment = g_environ_setenv(g_get_environ(), "OMP_NUM_THREADS", "1", TRUE);
  g_autofree char *folder = g_path_get_dirname(td_path_module());
  if (own) return g_environ_setenv(environment, "PYTHONPATH", folder, TRUE);
  return g_environ_unsetenv(environment, "PYTHONPATH");
}

/* Lowers *ms to the time that a run took. Returns why there was no run (owned), or NULL. */
static char *
run_once(const char *python, bool own, double *ms) {
  const char *argv[] = {python, "-c", script, own ? "tapedeck" : "torch", td_path_examples(), NULL};
  g_auto(GStrv) environment = environment_of(own);
  g_autofree char *output = NULL;
  g_autofree char *complaint = NULL;
  int status = 1;
  if (!g_spawn_sync(NULL, (char **)argv, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &output,
                    &complaint, &status, NULL))
    return g_strdup_printf("%s cannot be run", python);
  double found = status == 0 ? g_ascii_strtod(output, NULL) : 0;
  if (found <= 0)
    return strstr(complaint, "No module named 'torch'")
               ? g_strdup_printf("%s has no PyTorch", python)
               : g_strdup_printf("the model did not run: %s", complaint);
  *ms = MIN(*ms, found);
  return NULL;
}

static void
measure_beside(const char *python, td_measured *measured) {
  measured->value = measured->floor_value = INFINITY;
  for (int turn = 0; turn < TURNS && !measured->skipped; turn++) {
    measured->skipped = run_once(python, false, &measured->floor_value);
    if (!measured->skipped) measured->skipped = run_once(td_path_python(), true, &measured->value);
  }
}

void
td_bench_resnet18_step(td_measured *measured) {
  measure_beside(td_path_python(), measured);
}

void
td_bench_torch_resnet18_step(td_measured *measured) {
  const char *python = td_bench_torch_chosen();
  if (python)
    measure_beside(python, measured);
  else
    measured->skipped = g_strdup("takes a minute: ask for it with --torch");
}
