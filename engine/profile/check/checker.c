/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/checker.h"

#include "engine/base/alloc.h"
#include "engine/profile/words.h"

#include <stdarg.h>

static const char *const names[TD_N_RULES] = {
#define RULE(id, name, summary, kinds) name,
#include "engine/profile/check/rules.def"
#undef RULE
};

/* Makes *items as long as `wanted`, with zeros. */
static bool
lengthen(void **items, uint32_t *n, uint32_t wanted, size_t size) {
  if (*items && wanted <= *n) return true;
  char *longer = td_try_alloc(TD_MAX(wanted, *n), size);
  if (!longer) return false;
  if (*n) memcpy(longer, *items, *n * size);
  free(*items);
  *items = longer;
  *n = TD_MAX(wanted, *n);
  return true;
}

bool
td_checker_go_on(td_checker *checker, const td_catalog *catalog) {
  checker->catalog = catalog;
  return lengthen((void **)&checker->queues, &checker->n_queues, catalog->n_queues,
                  sizeof *checker->queues) &&
         lengthen((void **)&checker->threads, &checker->n_threads, catalog->n_threads,
                  sizeof *checker->threads);
}

td_tally *
td_tally_of(td_checker *checker, uint32_t graph_task) {
  uint32_t row = td_id_rows_find(&checker->graph_tasks, graph_task);
  if (row != TD_NO_ROW) return &checker->tallies[row];
  if (td_id_rows_add(&checker->graph_tasks, graph_task) == TD_NO_ROW) td_out_of_memory();
  TD_GROW(checker->tallies, checker->n_tallies, checker->tallies_capacity);
  checker->tallies[checker->n_tallies] =
      (td_tally){.graph_task = graph_task, .thread = TD_NONE, .mismatch_seq = UINT64_MAX};
  return &checker->tallies[checker->n_tallies++];
}

void
td_checker_fini(td_checker *checker) {
  for (uint32_t i = 0; i < checker->n_queues; i++)
    td_check_queue_fini(&checker->queues[i]);
  for (uint32_t i = 0; i < checker->n_threads; i++)
    td_check_thread_fini(&checker->threads[i]);
  for (uint32_t i = 0; i < checker->n_tallies; i++) {
    td_check_tasks_fini(&checker->tallies[i].tasks);
    td_check_callbacks_fini(&checker->tallies[i].callbacks);
    free(checker->tallies[i].queues);
  }
  free(checker->queues);
  free(checker->threads);
  free(checker->tallies);
  free(checker->locks);
  td_hash_index_fini(&checker->lock_numbers);
  td_id_rows_fini(&checker->graph_tasks);
}

void
td_checker_violate(td_checker *checker, td_rule rule, uint32_t node, const char *format, ...) {
  char *text = NULL;
  size_t size;
  if (!checker->judged[rule]) return;
  checker->n_violations++;
  FILE *out = checker->report ? open_memstream(&text, &size) : NULL;
  if (!out) return;
  va_list args;
  va_start(args, format);
  if (node != TD_NONE) {
    td_words_node(out, checker->catalog, node);
    putc(' ', out);
  }
  vfprintf(out, format, args);
  va_end(args);
  fclose(out);
  checker->report(&(td_violation){names[rule], checker->seq, text}, checker->data);
  free(text);
}
