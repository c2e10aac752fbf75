/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/common/moment.h"

#include "app/common/exit.h"

#include <inttypes.h>
#include <string.h>

/* How far from the middle of a pass a good event is looked for. */
#define REACH 4096

typedef struct place {
  const char *path; /* (borrowed) */
  td_tape *tape;
  const td_catalog *catalog;
  uint64_t length;
} place;

void
td_moment_options_fini(td_moment_options *options) {
  g_clear_pointer(&options->at, g_free);
}

static bool
find_last(const place *place, uint64_t *seq) {
  *seq = place->length - 1;
  return true;
}

static bool
is_birth_of(const place *place, const td_catalog_mention *problem, td_anomaly_kind kind) {
  td_any_event event;
  return problem->kind == TD_EVENT_anomaly &&
         td_tape_get(place->tape, problem->seq, &event, NULL) == TD_OK &&
         event.anomaly.kind == kind;
}

static bool
find_birth(const place *place, td_anomaly_kind kind, uint64_t *seq) {
  const td_catalog_mentions *problems = &place->catalog->mentions[TD_LIST_problems];
  for (uint32_t i = 0; i < problems->n; i++)
    if (is_birth_of(place, &problems->items[i], kind)) {
      *seq = problems->items[i].seq;
      return true;
    }
  return false;
}

static bool
find_nan(const place *place, uint64_t *seq) {
  return find_birth(place, TD_anomaly_kind_nan, seq);
}

static bool
find_inf(const place *place, uint64_t *seq) {
  return find_birth(place, TD_anomaly_kind_inf, seq);
}

static bool
find_error(const place *place, uint64_t *seq) {
  const td_catalog_mentions *problems = &place->catalog->mentions[TD_LIST_problems];
  for (uint32_t i = 0; i < problems->n; i++)
    if (problems->items[i].kind == TD_EVENT_error) {
      *seq = problems->items[i].seq;
      return true;
    }
  return false;
}

/* `looked_for` is said instead of `absent` if the recording looked for it. */
static const struct word {
  const char *word, *how, *absent, *looked_for;
  bool (*find)(const place *place, uint64_t *seq);
} words[] = {
    {"nan", "the first NaN",
     "the tape has no birth of a NaN; `run` and `record` look for it with --anomaly nan",
     "the tape has no birth of a NaN, though the recording looked for it", find_nan},
    {"inf", "the first Inf",
     "the tape has no birth of an Inf; `run` and `record` look for it with --anomaly nonfinite",
     "the tape has no birth of an Inf, though the recording looked for it", find_inf},
    {"error", "the first error", "the tape has no error", NULL, find_error},
    {"end", "the last event", "", NULL, find_last},
};

static bool
is_looked_for(const place *place, const struct word *word) {
  const char *setting = td_catalog_setting_find(place->catalog, "anomaly");
  return word->looked_for && (strcmp(setting, "nonfinite") == 0 ||
                              (word->find == find_nan && strcmp(setting, "nan") == 0));
}

static const struct word *
word_find(const char *text) {
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    if (strcmp(words[i].word, text) == 0) return &words[i];
  return NULL;
}

static bool
read_number(const char *text, uint64_t *seq) {
  return g_ascii_string_to_unsigned(text, 10, 0, UINT64_MAX - 1, seq, NULL);
}

bool
td_moment_options_given(const td_moment_options *options) {
  return options->at || options->pass != TD_MOMENT_NO_PASS;
}

bool
td_moment_pass_read(const char *command, gint64 pass, uint32_t *graph_task) {
  bool is_given = pass != TD_MOMENT_NO_PASS, is_good = !is_given || (pass >= 0 && pass < TD_NONE);
  *graph_task = is_given ? (uint32_t)pass : TD_NONE;
  if (!is_good)
    td_command_bad_usage(command, "--pass %" G_GINT64_FORMAT ": must be the number of a graph task",
                         pass);
  return is_good;
}

bool
td_moment_options_check(const char *command, const td_moment_options *options) {
  uint64_t seq;
  uint32_t graph_task;
  if (options->at && options->pass != TD_MOMENT_NO_PASS)
    td_command_bad_usage(command, "--at and --pass name two moments: give one of them");
  else if (!td_moment_pass_read(command, options->pass, &graph_task))
    return false;
  else if (options->at && !word_find(options->at) && !read_number(options->at, &seq))
    td_command_bad_usage(command,
                         "--at '%s': must be the number of an event, or nan, inf, error or end",
                         options->at);
  else
    return true;
  return false;
}

static bool
find_named(const place *place, const char *at, uint64_t *seq, char **how) {
  const struct word *word = word_find(at);
  if (word && word->find(place, seq)) {
    *how = g_strdup(word->how);
    return true;
  }
  if (word)
    td_command_fail(place->path, "%s",
                    is_looked_for(place, word) ? word->looked_for : word->absent);
  else if (read_number(at, seq) && *seq < place->length)
    return true;
  else
    td_command_fail(place->path, "there is no event %s; the tape has events 0 to %" PRIu64, at,
                    place->length - 1);
  return false;
}

/* How much there is to see after an event of a pass. Best is a pop that left other tasks waiting.
 */
static int
rate(const td_any_event *event, uint32_t graph_task) {
  if (event->event.kind == TD_EVENT_queue_pop && event->queue_pop.graph_task == graph_task &&
      event->queue_pop.node != TD_NONE)
    return event->queue_pop.size > 0 ? 3 : 2;
  return event->event.kind == TD_EVENT_node_begin && event->node_begin.graph_task == graph_task;
}

static uint64_t
find_in_pass(const place *place, uint32_t graph_task) {
  const td_catalog_graph_task *facts = td_catalog_graph_task_get(place->catalog, graph_task);
  uint64_t begin = facts->begin_seq, end = MIN(facts->end_seq, place->length - 1);
  uint64_t middle = begin + (end - begin) / 2, best_seq = begin;
  int best = 0;
  for (uint64_t i = 0; i < 2 * REACH && best < 3; i++) {
    uint64_t seq = i % 2 ? middle + (i + 1) / 2 : middle - i / 2;
    td_any_event event;
    if (seq < begin || seq > end) continue;
    if (td_tape_get(place->tape, seq, &event, NULL) != TD_OK) break;
    int rated = rate(&event, graph_task);
    if (rated > best) best_seq = seq;
    best = MAX(best, rated);
  }
  return best_seq;
}

static bool
is_outline(const td_catalog *catalog) {
  return catalog->segment.number == TD_SEGMENT_OUTLINE;
}

/* How many nodes ran in a pass. An outline has only the length of the pass. */
static uint64_t
size_of(const td_catalog *catalog, const td_catalog_graph_task *pass) {
  return is_outline(catalog) ? pass->end_seq - pass->begin_seq : pass->n_ran;
}

/* What is told once makes the first pass of an outline longer. So it must be longer by a tenth. */
static bool
is_as_large(const td_catalog *catalog, const td_catalog_graph_task *pass,
            const td_catalog_graph_task *first) {
  uint64_t size = size_of(catalog, pass);
  return size + (is_outline(catalog) ? size / 10 : 0) >= size_of(catalog, first);
}

static const td_catalog_graph_task *
find_largest(const td_catalog *catalog, bool is_last) {
  const td_catalog_graph_task *passes = catalog->graph_task_rows, *first = NULL, *largest = NULL;
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++)
    if (passes[i].number == 1)
      first = &passes[i];
    else if (!largest || size_of(catalog, &passes[i]) + is_last > size_of(catalog, largest))
      largest = &passes[i];
  return largest && (!first || is_as_large(catalog, largest, first)) ? largest : first;
}

uint32_t
td_moment_largest_pass(const td_catalog *catalog, bool is_last) {
  const td_catalog_graph_task *largest = find_largest(catalog, is_last);
  return largest ? largest->id : TD_NONE;
}

static bool
has_pass(const place *place, gint64 pass) {
  const td_catalog_graph_task *passes = place->catalog->graph_task_rows;
  uint32_t n = place->catalog->n_graph_tasks;
  if (pass < TD_NONE && td_catalog_has_graph_task(place->catalog, (uint32_t)pass)) return true;
  if (n == 0)
    td_command_fail(place->path, "the tape has no backward pass");
  else if (n == 1)
    td_command_fail(place->path,
                    "there is no graph task %" G_GINT64_FORMAT "; the tape has only %u", pass,
                    passes[0].id);
  else
    td_command_fail(place->path,
                    "there is no graph task %" G_GINT64_FORMAT "; the tape has %u to %u", pass,
                    passes[0].id, passes[n - 1].id);
  return false;
}

bool
td_moment_find(td_tape *tape, const td_catalog *catalog, const td_moment_options *options,
               uint64_t *seq, char **how) {
  place place = {td_tape_path(tape), tape, catalog, td_tape_info_get(tape)->n_events};
  *how = NULL;
  if (place.length == 0) {
    td_command_fail(place.path, "the tape has no events");
    return false;
  }
  if (options->at) return find_named(&place, options->at, seq, how);
  bool chosen = options->pass == TD_MOMENT_NO_PASS;
  uint32_t pass = chosen ? td_moment_largest_pass(place.catalog, false) : (uint32_t)options->pass;
  if (!chosen && !has_pass(&place, options->pass)) return false;
  if (pass == TD_NONE) return find_named(&place, "end", seq, how);
  *seq = find_in_pass(&place, pass);
  *how = g_strdup_printf("in the middle of graph task %u", pass);
  return true;
}
