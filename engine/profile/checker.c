/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/checker.h"

#include "engine/base/alloc.h"
#include "engine/profile/words.h"

#include <stdarg.h>

static const char *const names[TD_N_RULES] = {
#define RULE(id, name, summary, kinds) name,
#include "engine/profile/rules.def"
#undef RULE
};

bool
td_checker_init(td_checker *checker) {
  const td_catalog *catalog = checker->catalog;
  checker->queues = td_try_alloc(catalog->n_queues, sizeof *checker->queues);
  checker->threads = td_try_alloc(catalog->n_threads, sizeof *checker->threads);
  checker->tallies = td_try_alloc(catalog->n_graph_tasks, sizeof *checker->tallies);
  if (!checker->queues || !checker->threads || !checker->tallies) return false;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++)
    checker->tallies[i] = (td_tally){.thread = TD_NONE, .mismatch_seq = UINT64_MAX};
  return true;
}

void
td_checker_fini(td_checker *checker) {
  for (uint32_t i = 0; checker->queues && i < checker->catalog->n_queues; i++)
    td_check_queue_fini(&checker->queues[i]);
  for (uint32_t i = 0; checker->threads && i < checker->catalog->n_threads; i++)
    td_check_thread_fini(&checker->threads[i]);
  for (uint32_t i = 0; checker->tallies && i < checker->catalog->n_graph_tasks; i++) {
    td_check_tasks_fini(&checker->tallies[i].tasks);
    td_check_callbacks_fini(&checker->tallies[i].callbacks);
    free(checker->tallies[i].queues);
  }
  free(checker->queues);
  free(checker->threads);
  free(checker->tallies);
  free(checker->locks);
  td_hash_index_fini(&checker->lock_numbers);
  td_catalog_free(checker->catalog);
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
