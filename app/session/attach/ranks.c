/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Who is late]
 * A rank is behind another one if it has ended fewer passes, or begun fewer. If these numbers are
 * the same, it is behind if the other one waits for ranks, and it does not. One waits so in
 * post_processing, where DistributedDataParallel waits, or in Python code of PyTorch for ranks.
 * Ranks that compute are behind and ahead by turns. So a rank is called late only if all that are
 * ahead of it have been quiet for a while. */
#include "app/session/attach/ranks.h"

#include "app/session/attach/doing.h"
#include "app/session/attach/ended_ranks.h"
#include "app/session/attach/parting.h"
#include "app/session/attach/process.h"
#include "app/session/attach/verdict.h"
#include "ui/geometry/format.h"

#include <stdlib.h>
#include <string.h>

#define QUIET_NS (2 * (gint64)1000000000)

static void
rank_free_cb(gpointer data) {
  td_attach_rank *rank = data;
  g_free(rank->doing);
  g_free(rank->place);
  g_free(rank->waits_at);
  if (rank->is_gone) td_tape_close(rank->tape);
  g_free(rank);
}

void
td_attach_ranks_free(td_attach_ranks *self) {
  g_ptr_array_unref(self->list);
  g_free(self->sentence);
  g_free(self);
}

/* ---- facts ---- */

/* The outermost pass that is under way, or NULL. */
static const td_catalog_graph_task *
find_pass(const td_replay *replay) {
  const td_catalog *catalog = td_replay_catalog(replay);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *facts = &catalog->graph_task_rows[i];
    const td_graph_task_now *now = td_state_graph_task_row(td_replay_state(replay), i);
    if (now->status == TD_PASS_RUNNING && td_catalog_is_outermost(catalog, facts->id)) return facts;
  }
  return NULL;
}

static void
add_pass(td_attach_rank *rank, td_replay *replay) {
  const td_catalog_graph_task *pass = find_pass(replay);
  rank->in_pass = pass != NULL;
  if (!pass || pass->owner >= td_replay_catalog(replay)->n_threads) return;
  const td_thread_now *owner = td_state_thread(td_replay_state(replay), pass->owner);
  rank->is_post = owner->state == TD_thread_activity_post_processing;
  rank->doing = td_attach_doing_of(replay, pass->owner);
}

/* Where people are who wait for other ranks. */
static void
add_place(td_attach_rank *rank, const td_attach_thread *thread) {
  static const char *const folders[] = {"/torch/distributed/", "/torch/nn/parallel/"};
  const char *line = thread->lines->len ? thread->lines->pdata[0] : "";
  rank->place = td_attach_place(thread);
  for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
    if (!strstr(line, folders[i])) continue;
    g_autofree char *place = g_strndup(line, strcspn(line, " "));
    rank->waits_at = g_path_get_basename(place);
    return;
  }
}

/* Numbers of passes can be compared if the tape has all of them. */
static bool
has_all(const td_tape_info *info) {
  return info->n_dropped == 0 && info->n_by_kind[TD_EVENT_left_out] == 0;
}

static bool
add_process(td_attach_ranks *self, const td_attach_process *process) {
  int number = td_attach_process_rank(process);
  if (number < 0) return true;
  const td_tape_info *info = td_tape_info_get(td_replay_tape(process->replay));
  td_attach_rank *rank = g_new0(td_attach_rank, 1);
  rank->rank = number;
  rank->pid = process->pid;
  rank->n_begun = info->n_by_kind[TD_EVENT_graph_task_begin];
  rank->n_ended = info->n_by_kind[TD_EVENT_graph_task_end];
  rank->age_ns = td_attach_process_age_ns(process);
  rank->tape = td_replay_tape(process->replay);
  rank->catalog = td_replay_catalog(process->replay);
  const GPtrArray *threads = process->threads ? process->threads->list : NULL;
  if (threads && threads->len) add_place(rank, threads->pdata[0]);
  add_pass(rank, process->replay);
  g_ptr_array_add(self->list, rank);
  return has_all(info);
}

static int
compare_ranks(gconstpointer left, gconstpointer right) {
  const td_attach_rank *a = *(td_attach_rank *const *)left, *b = *(td_attach_rank *const *)right;
  return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Two runs, or a rank and a process that it has started, cannot be compared. */
static bool
is_one_run(const GPtrArray *list) {
  for (guint i = 1; i < list->len; i++)
    if (compare_ranks(&list->pdata[i - 1], &list->pdata[i]) == 0) return false;
  return list->len > 1;
}

/* ---- who is late ---- */

static int
waits(const td_attach_rank *rank) {
  return rank->is_post || rank->waits_at;
}

static int
compare_progress(const td_attach_rank *a, const td_attach_rank *b) {
  if (a->n_ended != b->n_ended) return a->n_ended < b->n_ended ? -1 : 1;
  if (a->n_begun != b->n_begun) return a->n_begun < b->n_begun ? -1 : 1;
  return waits(a) - waits(b);
}

static td_attach_rank *
find_last(const GPtrArray *list) {
  td_attach_rank *last = list->pdata[0];
  for (guint i = 1; i < list->len; i++)
    if (compare_progress(list->pdata[i], last) < 0) last = list->pdata[i];
  return last;
}

/* Marks those that are late. Returns whether there are any, and others that wait. */
static bool
mark_late(const GPtrArray *list) {
  const td_attach_rank *last = find_last(list);
  guint n_late = 0;
  for (guint i = 0; i < list->len; i++) {
    td_attach_rank *rank = list->pdata[i];
    rank->is_late = compare_progress(rank, last) == 0;
    n_late += rank->is_late;
    if (!rank->is_late && rank->age_ns < QUIET_NS) n_late = list->len;
    if (n_late >= list->len) break;
  }
  if (n_late < list->len) return true;
  for (guint i = 0; i < list->len; i++)
    ((td_attach_rank *)list->pdata[i])->is_late = false;
  return false;
}

/* ---- sentences ---- */

static const char *
ordinal_end(guint64 n) {
  static const char *const ends[] = {"th", "st", "nd", "rd"};
  return n % 10 > 3 || n % 100 / 10 == 1 ? ends[0] : ends[n % 10];
}

/* What a rank does, as a sentence about `subject`. */
static void
append_state(GString *text, const td_attach_rank *rank, const char *subject) {
  const char *end = ordinal_end(rank->n_begun);
  g_autofree char *passes = td_format_many(rank->n_ended, "pass", "passes");
  if (rank->in_pass && rank->doing)
    g_string_append_printf(text, "%s is in its %" G_GUINT64_FORMAT "%s pass, and %s.", subject,
                           rank->n_begun, end, rank->doing);
  else if (rank->in_pass && rank->waits_at)
    g_string_append_printf(text,
                           "%s is in its %" G_GUINT64_FORMAT "%s pass, and waits in PyTorch's %s.",
                           subject, rank->n_begun, end, rank->waits_at);
  else if (rank->in_pass)
    g_string_append_printf(text, "%s is in its %" G_GUINT64_FORMAT "%s pass.", subject,
                           rank->n_begun, end);
  else if (rank->waits_at)
    g_string_append_printf(text, "%s has ended %s and begun no other, and waits in PyTorch's %s.",
                           subject, passes, rank->waits_at);
  else
    g_string_append_printf(text, "%s has ended %s and begun no other.", subject, passes);
}

static void
append_late(GString *text, const td_attach_rank *rank) {
  g_autofree char *subject = g_strdup_printf("Rank %d is late: it", rank->rank);
  append_state(text, rank, subject);
  if (!rank->place) return;
  g_string_append_c(text, ' ');
  g_string_append_printf(text, "It is at %s.", rank->place);
}

static void
append_gone(GString *text, const td_attach_rank *rank) {
  g_autofree char *passes = td_format_many(rank->n_ended, "pass", "passes");
  g_autofree char *where = rank->in_pass
                               ? g_strdup_printf("in its %" G_GUINT64_FORMAT "%s pass",
                                                 rank->n_begun, ordinal_end(rank->n_begun))
                               : g_strdup_printf("after %s", passes);
  g_string_append_printf(text, "Rank %d has ended, process %u. Its tape stops %s.", rank->rank,
                         rank->pid, where);
}

static void
append_other(GString *text, const td_attach_rank *rank) {
  g_autofree char *subject = g_strdup_printf("Rank %d", rank->rank);
  g_autofree char *age = td_format_ns((double)rank->age_ns);
  append_state(text, rank, subject);
  g_string_append_c(text, ' ');
  g_string_append_printf(text, "Its last event came %s ago.", age);
}

#define OTHERS_NAMED 4

/* What all ranks do, after `first`: those that have ended and those that are late come first. */
static char *
tell(const GPtrArray *list, const char *first) {
  GString *text = g_string_new(first);
  guint n_others = 0;
  for (guint i = 0; i < list->len; i++) {
    const td_attach_rank *rank = list->pdata[i];
    if (!rank->is_gone && !rank->is_late) continue;
    if (text->len) g_string_append_c(text, ' ');
    (rank->is_gone ? append_gone : append_late)(text, rank);
  }
  for (guint i = 0; i < list->len; i++) {
    const td_attach_rank *rank = list->pdata[i];
    if (rank->is_gone || rank->is_late || ++n_others > OTHERS_NAMED) continue;
    g_string_append_c(text, ' ');
    append_other(text, rank);
  }
  if (n_others > OTHERS_NAMED) {
    g_string_append_c(text, ' ');
    g_string_append_printf(text, "%u more ranks are not listed.", n_others - OTHERS_NAMED);
  }
  g_string_append_c(text, ' ');
  g_string_append(text, "The tapes and threads of the ranks show this.");
  return g_string_free(text, FALSE);
}

static bool
has_gone(const GPtrArray *list) {
  for (guint i = 0; i < list->len; i++)
    if (((td_attach_rank *)list->pdata[i])->is_gone) return true;
  return false;
}

/* The one that did not come is late, whatever else one can see of the ranks. */
static void
mark_missing(const GPtrArray *list, guint missing) {
  for (guint i = 0; i < list->len; i++) {
    td_attach_rank *rank = list->pdata[i];
    rank->is_late = i == missing && !rank->is_gone;
  }
}

/* Ranks that wait for each other are not late. Else who is late comes first, and then for what the
 * others wait. */
static char *
tell_parting(const GPtrArray *list, const td_attach_parting *parting) {
  mark_missing(list, parting->is_mutual ? G_MAXUINT : parting->missing);
  if (parting->is_mutual) return tell(list, parting->text);
  g_autofree char *late = tell(list, NULL);
  return g_strdup_printf("%s %s", late, parting->text);
}

td_attach_ranks *
td_attach_ranks_compare(const GPtrArray *processes) {
  td_attach_ranks *self = g_new0(td_attach_ranks, 1);
  bool have_all = true;
  self->list = g_ptr_array_new_with_free_func(rank_free_cb);
  for (guint i = 0; i < processes->len; i++)
    have_all &= add_process(self, processes->pdata[i]);
  if (self->list->len) td_attach_ended_ranks_add(self->list, processes);
  g_ptr_array_sort(self->list, compare_ranks);
  if (!is_one_run(self->list)) return self;
  td_attach_parting parting = td_attach_parting_find(self->list);
  if (parting.text)
    self->sentence = tell_parting(self->list, &parting);
  else if (has_gone(self->list) || (have_all && mark_late(self->list)))
    self->sentence = tell(self->list, NULL);
  g_free(parting.text);
  return self;
}
