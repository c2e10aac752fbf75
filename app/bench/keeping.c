/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keeping: what the flight recorder's keeper does for each event, beside the program. */
#include "app/bench/figure.h"
#include "app/bench/recording.h"
#include "engine/trace/keeper.h"

#include <glib.h>
#include <glib/gstdio.h>

#define NODES 200
#define PASSES 500
#define SMALL_PASSES 120
#define ROUNDS 5
#define STEPS_KEPT 50

typedef struct kept {
  double read_s, all_s;
  uint64_t n_events;
} kept;

/* The recorder has ended, so this is one large cut. */
static td_status
keep(td_keeper *keeper, kept *kept, td_error *error) {
  td_keeper_news news;
  double begin = td_bench_now();
  td_status status = td_keeper_read(keeper, &news, error);
  kept->read_s = td_bench_now() - begin;
  for (bool is_done = false; !status && !is_done;)
    status = td_keeper_cut(keeper, true, &is_done, error);
  kept->all_s = td_bench_now() - begin;
  if (!status) status = td_keeper_read(keeper, &news, error);
  kept->n_events = news.n_events_gone;
  return status;
}

static char *
keep_once(kept *kept) {
  td_bench_tape tape = {.n_nodes = NODES,
                        .n_passes = td_bench_size(PASSES, SMALL_PASSES),
                        .trains = true,
                        .recording.keep = "--keep 50steps"};
  td_keep_limit limit = {.steps = STEPS_KEPT};
  td_keeper *keeper;
  td_error error = {0};
  char *trouble = td_bench_tape_record_apart(&tape);
  td_status status = trouble ? TD_OK : td_keeper_open(tape.recording.path, &limit, &keeper, &error);
  if (!trouble && !status) {
    status = keep(keeper, kept, &error);
    td_keeper_close(keeper);
  }
  if (status) trouble = g_strdup(td_error_text(&error));
  td_error_clear(&error);
  td_bench_tape_remove(&tape);
  return trouble;
}

void
td_bench_keep_event(td_measured *measured) {
  measured->value = measured->floor_value = 1e30;
  for (uint32_t i = 0; i < td_bench_size(ROUNDS, 1) && !measured->skipped; i++) {
    kept kept = {0};
    measured->skipped = keep_once(&kept);
    if (measured->skipped || kept.n_events == 0) continue;
    measured->value = MIN(measured->value, kept.all_s * 1e9 / (double)kept.n_events);
    measured->floor_value = MIN(measured->floor_value, kept.read_s * 1e9 / (double)kept.n_events);
  }
}
