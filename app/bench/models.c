/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The cost of a training step of each model of the examples, on Tapedeck's engine, on the same
 * recording, and on PyTorch. Each runs in a process of its own, and they take turns. A figure is
 * that of the round whose ratio is the median. */
#include "app/bench/models.h"

#include "app/bench/figure.h"
#include "app/bench/torch.h"
#include "app/bench/worker.h"
#include "app/common/paths.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdbool.h>

#define ROUNDS 15
#define SMALL_ROUNDS 3
#define WARM_STEPS 5
#define ROUND_NS 2e7 /* of PyTorch's processor time */

typedef enum engine { TORCH, OWN, RECORDED, N_ENGINES } engine;

typedef struct samples {
  double ns[N_ENGINES][ROUNDS];
} samples;

/* The workers of one Python with PyTorch. */
typedef struct team {
  td_bench_worker workers[N_ENGINES];
  char *folder, *script, *tape; /* (owned) */
} team;

static double
start(team *self, engine engine, const char *python) {
  const char *argv[16] = {python};
  g_auto(GStrv) environment = td_bench_worker_environment();
  int n = 1;
  if (engine == OWN) {
    argv[0] = td_path_python();
    environment = g_environ_setenv(environment, "PYTHONPATH", td_path_engine(), TRUE);
  }
  if (engine == RECORDED) {
    const char *run[] = {td_path_program(), "run", "--force", "-o", self->tape};
    for (n = 0; n < (int)G_N_ELEMENTS(run); n++)
      argv[n] = run[n];
  }
  argv[n++] = self->script;
  argv[n++] = td_path_examples();
  return td_bench_worker_start(&self->workers[engine], (char **)argv, environment);
}

static double
ask(team *self, engine engine, const char *model, unsigned n) {
  g_autofree char *line = g_strdup_printf("%s %u", model, n);
  return td_bench_worker_ask(&self->workers[engine], line);
}

static unsigned
n_rounds(void) {
  return td_bench_size(ROUNDS, SMALL_ROUNDS);
}

/* Each round begins with another engine. */
static bool
run_rounds(team *self, const char *model, samples *samples) {
  double warm = 0;
  for (engine engine = N_ENGINES; engine-- > 0;)
    if ((warm = ask(self, engine, model, td_bench_size(WARM_STEPS, 1))) <= 0) return false;
  unsigned n = (unsigned)CLAMP(ROUND_NS / warm, 1, td_bench_size(1000, 1));
  for (unsigned i = 0; i < n_rounds() * N_ENGINES; i++) {
    engine engine = (i + i / N_ENGINES) % N_ENGINES;
    double took = samples->ns[engine][i / N_ENGINES] = ask(self, engine, model, n);
    if (took <= 0) return false;
  }
  return true;
}

static void
end_team(team *self) {
  for (engine engine = 0; engine < N_ENGINES; engine++)
    td_bench_worker_end(&self->workers[engine]);
  g_unlink(self->script);
  g_unlink(self->tape);
  g_rmdir(self->folder);
  g_free(self->script);
  g_free(self->tape);
  g_free(self->folder);
}

/* Returns why there are no samples (owned), or NULL. */
static char *
measure_model(const char *python, const char *model, samples *samples) {
  char *problem = td_bench_torch_missing(python);
  team self = {.folder = problem ? NULL : g_dir_make_tmp("tapedeck-bench-XXXXXX", NULL)};
  if (!self.folder) return problem ? problem : g_strdup("there is no folder for temporary files");
  self.script = g_build_filename(self.folder, "steps.py", NULL);
  self.tape = g_build_filename(self.folder, "steps.tape", NULL);
  bool fine = g_file_set_contents(self.script, td_bench_steps, -1, NULL);
  for (engine engine = 0; engine < N_ENGINES && fine; engine++)
    fine = start(&self, engine, python) > 0;
  fine = fine && run_rounds(&self, model, samples);
  end_team(&self);
  return fine ? NULL : g_strdup("a process that trains the model ended early");
}

typedef struct turn {
  double ratio, value, floor_value;
} turn;

static int
compare_turns(const void *a, const void *b) {
  double x = ((const turn *)a)->ratio, y = ((const turn *)b)->ratio;
  return (x > y) - (x < y);
}

static void
judge(const samples *samples, engine engine, td_measured *measured) {
  turn turns[ROUNDS];
  unsigned n = n_rounds();
  for (unsigned i = 0; i < n; i++) {
    double own = samples->ns[engine][i], peer = samples->ns[TORCH][i];
    turns[i] = (turn){own / peer, own / 1e3, peer / 1e3};
  }
  qsort(turns, n, sizeof *turns, compare_turns);
  const turn *middle = &turns[n / 2];
  measured->value = middle->value;
  measured->floor_value = middle->floor_value;
  measured->spread = (td_spread){n, turns[n / 4].ratio, middle->ratio, turns[n * 3 / 4].ratio};
}

/* What has been measured of a model: the figure of the recording follows that of the step. */
typedef struct known {
  bool measured;
  char *skipped; /* (owned) */
  samples samples;
} known;

static void
measure(known *known, const char *python, const char *model, engine engine, td_measured *measured) {
  if (!known->measured) known->skipped = measure_model(python, model, &known->samples);
  known->measured = true;
  measured->skipped = g_strdup(known->skipped);
  if (!known->skipped) judge(&known->samples, engine, measured);
}

static void
measure_chosen(known *known, const char *model, engine engine, td_measured *measured) {
  const char *python = td_bench_torch_chosen();
  if (python)
    measure(known, python, model, engine, measured);
  else
    measured->skipped = g_strdup("takes a minute: ask for it with --torch");
}

#define TD_MODEL(name)                                                                             \
  static known name##_known;                                                                       \
  void td_bench_torch_step_##name(td_measured *measured) {                                         \
    measure_chosen(&name##_known, #name, OWN, measured);                                           \
  }                                                                                                \
  void td_bench_torch_step_##name##_recorded(td_measured *measured) {                              \
    measure_chosen(&name##_known, #name, RECORDED, measured);                                      \
  }
#include "app/bench/examples.def"
#undef TD_MODEL

/* Beside the PyTorch of the distribution. */
void
td_bench_resnet18_step(td_measured *measured) {
  static known known;
  measure(&known, td_path_python(), "resnet18_wide", OWN, measured);
}
