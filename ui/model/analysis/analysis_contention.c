/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/report/contention.h"

#include "engine/base/translate.h"
#include "engine/profile/report/idle.h"
#include "ui/geometry/format.h"
#include "ui/model/analysis/analysis_tables.h"

#include <glib/gi18n.h>

enum { CHOICE_HOLDERS, CHOICE_LOCKS, CHOICE_QUEUES, CHOICE_THREADS };

static void
set_passes(TdTable *table, uint32_t n, const char *more) {
  g_autofree char *count = td_format_count(n);
  g_autofree char *passes =
      g_strdup_printf(ngettext("%s backward pass.", "%s backward passes.", n), count);
  td_table_set_summary(table, g_strdup_printf("%s %s", passes, more));
}

/* ---- who held what ---- */

enum { LOCK, WAITER, HOLDER, WAITED, HELD, LATE, WAITS, HELD_IN, LINE, N_HOLDER_COLUMNS };

static const TdColumn holder_columns[N_HOLDER_COLUMNS] = {
    [LOCK] = {N_("Lock"), TD_UNIT_TEXT, NULL, 80},
    [WAITER] = {N_("Waiter"), TD_UNIT_TEXT, N_("thread that waited"), 90},
    [HOLDER] = {N_("Holder"), TD_UNIT_TEXT, N_("thread that had the lock while the waiter waited"),
                90},
    [WAITED] = {N_("Waited"), TD_UNIT_NS, N_("time in which the waiter waited for this holder")},
    [HELD] = {N_("Held"), TD_UNIT_NS, N_("of this, the holder had the lock")},
    [LATE] = {N_("Woke late"), TD_UNIT_NS,
              N_("of this, the holder had given the lock back: the waiter had yet to wake")},
    [WAITS] = {N_("Waits"), TD_UNIT_COUNT, N_("number of waits")},
    [HELD_IN] = {N_("Held in"), TD_UNIT_TEXT, N_("node that the holder was at work for")},
    [LINE] = {N_("Line"), TD_UNIT_TEXT, N_("where the program made that node")},
};

/* A row leads to the longest of its waits. */
static TdRowPlace
wait_place(const td_contended_lock *lock, const td_lock_blame *blame) {
  const td_wait_place *wait = &blame->longest;
  return (TdRowPlace){lock->kind == TD_lock_kind_node ? lock->object : TD_NONE, wait->begin_seq + 1,
                      (double)wait->begin_ns, (double)wait->end_ns};
}

static TdRowPlace
lock_place(const td_lock_list *locks, const td_contended_lock *lock) {
  const td_lock_blame *longest = &locks->blames[lock->first_blame];
  for (uint32_t i = 1; i < lock->n_blames; i++)
    if (locks->blames[lock->first_blame + i].longest_ns > longest->longest_ns)
      longest = &locks->blames[lock->first_blame + i];
  return wait_place(lock, longest);
}

static void
add_blame(TdTable *table, const td_contended_lock *lock, const td_lock_blame *blame) {
  TdTableRow *row = td_table_add(table, wait_place(lock, blame));
  td_table_row_set_text(row, LOCK, lock->name);
  td_table_row_set_number(row, WAITED, (double)blame->ns);
  td_table_row_set_number(row, HELD, (double)blame->held_ns);
  td_table_row_set_number(row, LATE, (double)blame->late_ns);
  td_table_row_set_text(row, HOLDER, blame->holder);
  td_table_row_set_text(row, HELD_IN, blame->node);
  td_table_row_set_text(row, LINE, blame->line);
  td_table_row_set_text(row, WAITER, blame->waiter);
  td_table_row_set_number(row, WAITS, (double)blame->n);
}

static TdTable *
make_holders(const td_lock_list *locks) {
  TdTable *table = td_table_new(holder_columns, N_HOLDER_COLUMNS, WAITED);
  uint32_t n = 0;
  for (uint32_t i = 0; i < locks->n_locks; i++)
    for (uint32_t k = 0; k < locks->locks[i].n_blames; k++)
      if (n++ < TD_TABLE_ROWS_MAX)
        add_blame(table, &locks->locks[i], &locks->blames[locks->locks[i].first_blame + k]);
  td_table_note_left_out(table, n, "report --contention --json");
  return table;
}

/* ---- locks ---- */

static const TdColumn lock_columns[] = {
    {N_("Lock"), TD_UNIT_TEXT, NULL, 110},
    {N_("Waited"), TD_UNIT_NS, N_("all waits together")},
    {N_("Held"), TD_UNIT_NS, N_("of this, another thread had the lock")},
    {N_("Woke late"), TD_UNIT_NS, N_("of this, the lock was free: the waiter had yet to wake")},
    {N_("Waits"), TD_UNIT_COUNT, N_("number of waits")},
    {N_("Taken"), TD_UNIT_COUNT,
     N_("how often a thread took it; the tape counts it only for queues")},
    {N_("Median"), TD_UNIT_NS, N_("half of the waits were no longer")},
    {N_("95 %"), TD_UNIT_NS, N_("95 of 100 waits were no longer")},
    {N_("Longest"), TD_UNIT_NS, N_("the longest wait")},
};

static void
set_spread(TdTableRow *row, guint column, const td_spread *spread) {
  td_table_row_set_number(row, column, (double)spread->p50);
  td_table_row_set_number(row, column + 1, (double)spread->p95);
  td_table_row_set_number(row, column + 2, (double)spread->max);
}

static void
add_lock(TdTable *table, const td_lock_list *locks, const td_contended_lock *lock) {
  TdTableRow *row = td_table_add(table, lock_place(locks, lock));
  td_table_row_set_text(row, 0, lock->name);
  td_table_row_set_number(row, 1, (double)lock->waits.sum);
  td_table_row_set_number(row, 2, (double)lock->held_ns);
  td_table_row_set_number(row, 3, (double)lock->late_ns);
  td_table_row_set_number(row, 4, (double)lock->waits.n);
  if (lock->n_taken) td_table_row_set_number(row, 5, (double)lock->n_taken);
  set_spread(row, 6, &lock->waits);
}

static TdTable *
make_locks(const td_lock_list *locks) {
  TdTable *table = td_table_new(lock_columns, G_N_ELEMENTS(lock_columns), 1);
  for (uint32_t i = 0; i < MIN(locks->n_locks, TD_TABLE_ROWS_MAX); i++)
    if (locks->locks[i].waits.n) add_lock(table, locks, &locks->locks[i]);
  td_table_note_left_out(table, locks->n_locks, "report --contention --json");
  return table;
}

static void
tell_locks(TdTable *table, const td_contention *contention) {
  if (contention->locks_known != TD_knowledge_observed)
    set_passes(table, contention->n_passes, _("Nobody observed its locks."));
  else if (!contention->locks.n_locks)
    set_passes(table, contention->n_passes, _("No thread waited for a lock."));
  else
    set_passes(table, contention->n_passes, _("These threads waited for locks."));
  td_table_note_known(table, contention->locks_known);
}

/* ---- queues ---- */

static const TdColumn queue_columns[] = {
    {N_("Queue"), TD_UNIT_TEXT, NULL, 90},
    {N_("Pops"), TD_UNIT_COUNT, N_("tasks that left it")},
    {N_("Median"), TD_UNIT_NS, N_("half of the tasks lay no longer in it, from push to pop")},
    {N_("95 %"), TD_UNIT_NS, N_("95 of 100 tasks lay no longer in it")},
    {N_("Longest"), TD_UNIT_NS, N_("the task that lay in it for longest")},
    {N_("With tasks"), TD_UNIT_NS, N_("time in which it had a task")},
    {N_("Because its thread"), TD_UNIT_TEXT,
     N_("what its thread did for most of the time in which it had a task"), 150},
    {N_("Slept"), TD_UNIT_NS, N_("time in which its threads slept until there was a task")},
    {N_("Sleeps"), TD_UNIT_COUNT, N_("how often they did")},
    {N_("No node"), TD_UNIT_COUNT, N_("sleeps that a task without a node ended")},
};

/* "ran nodes, 91 %" */
static char *
dup_cause(const td_lay *lay, uint64_t sum) {
  guint most = 0;
  for (guint i = 1; i < TD_N_LAY_CAUSES; i++)
    if (lay->ns[i] > lay->ns[most]) most = i;
  return sum ? g_strdup_printf("%s, %.0f\u00a0%%",
                               td_translate(td_lay_cause_words((td_lay_cause)most)),
                               100 * (double)lay->ns[most] / (double)sum)
             : NULL;
}

/* A row leads to the pop of the task that lay there for longest, which says why. */
static TdRowPlace
queue_place(const td_contended_queue *queue) {
  const td_lain_task *task = &queue->longest;
  if (task->node == TD_NONE) return TD_NOWHERE;
  return (TdRowPlace){task->node, task->pop_seq + 1, (double)task->pushed_ns,
                      (double)task->popped_ns};
}

static void
add_queue(TdTable *table, const td_contended_queue *queue, bool is_known) {
  TdTableRow *row = td_table_add(table, is_known ? queue_place(queue) : TD_NOWHERE);
  td_table_row_set_text(row, 0, queue->name);
  td_table_row_set_number(row, 1, (double)queue->n_pops);
  if (is_known && queue->lay.n) set_spread(row, 2, &queue->lay);
  uint64_t with_tasks = 0;
  for (guint i = 0; i < TD_N_LAY_CAUSES; i++)
    with_tasks += queue->with_tasks.ns[i];
  g_autofree char *cause = dup_cause(&queue->with_tasks, with_tasks);
  if (is_known) td_table_row_set_number(row, 5, (double)with_tasks);
  if (is_known) td_table_row_set_text(row, 6, cause);
  if (is_known) td_table_row_set_number(row, 7, (double)queue->slept.sum);
  td_table_row_set_number(row, 8, (double)queue->slept.n);
  td_table_row_set_number(row, 9, (double)queue->n_empty_wakes);
}

static TdTable *
make_queues(const td_contention *contention) {
  TdTable *table = td_table_new(queue_columns, G_N_ELEMENTS(queue_columns), 1);
  bool is_known = contention->queues_known == TD_knowledge_observed;
  for (uint32_t i = 0; i < MIN(contention->n_queues, TD_TABLE_ROWS_MAX); i++)
    add_queue(table, &contention->queues[i], is_known);
  set_passes(table, contention->n_passes, _("From the push of a task to its pop."));
  td_table_note_left_out(table, contention->n_queues, "report --contention --json");
  if (!is_known)
    td_table_add_note(table, g_strdup(_("– Pushes and pops were not observed on this tape.")));
  td_table_note_known(table, contention->queues_known);
  return table;
}

/* ---- threads ---- */

enum { THREAD, FIRST_PART, WAITED_FOR = FIRST_PART + TD_N_IDLE_PARTS, N_THREAD_COLUMNS };

#define PART(name) [FIRST_PART + TD_IDLE_##name]

static const TdColumn thread_columns[N_THREAD_COLUMNS] = {
    [THREAD] = {N_("Thread"), TD_UNIT_TEXT, NULL, 110},
    PART(running) = {N_("Running"), TD_UNIT_SHARE,
                     N_("at work for a node, with hooks and handing gradients on")},
    PART(engine) = {N_("Engine"), TD_UNIT_SHARE,
                    N_("in a pass, but at no node: it counts, pops, goes on")},
    PART(no_ready) = {N_("No ready"), TD_UNIT_SHARE,
                      N_("asleep, while threads of its own device run nodes")},
    PART(other_device) = {N_("Others"), TD_UNIT_SHARE,
                          N_("asleep, while threads of other devices run nodes")},
    PART(waking) = {N_("Waking"), TD_UNIT_SHARE, N_("asleep, while no thread runs a node")},
    PART(stream) = {N_("Stream"), TD_UNIT_SHARE, N_("waits for a stream of a device")},
    PART(lock) = {N_("Lock"), TD_UNIT_SHARE, N_("waits for a lock of the engine")},
    PART(gil) = {N_("GIL"), TD_UNIT_SHARE, N_("waits for Python's global lock")},
    PART(no_core) = {N_("No core"), TD_UNIT_SHARE,
                     N_("could run, but other threads had the cores")},
    PART(callbacks) = {N_("Callbacks"), TD_UNIT_SHARE, N_("in final callbacks")},
    PART(collective) = {N_("Collective"), TD_UNIT_SHARE,
                        N_("waits for an operation of several processes")},
    PART(late) = {N_("Late"), TD_UNIT_SHARE, N_("in no pass yet, while others are")},
    PART(outside) = {N_("Outside"), TD_UNIT_SHARE, N_("in no pass, and it calls none")},
    [WAITED_FOR] = {N_("Waited for"), TD_UNIT_TEXT,
                    N_("device whose threads ran for most of its sleep")},
};

#undef PART

static const char *
longest_wait(const td_idle *idle, const td_idle_thread *thread) {
  uint32_t longest = 0;
  for (uint32_t i = 1; i < TD_IDLE_DEVICES; i++)
    if (thread->waited_for[i] > thread->waited_for[longest]) longest = i;
  return thread->waited_for[longest] ? idle->devices[longest] : NULL;
}

/* A row leads to the longest sleep or wait of its thread. */
static TdRowPlace
stretch_place(const td_idle_stretch *longest) {
  if (!longest->ns) return TD_NOWHERE;
  return (TdRowPlace){TD_NONE, longest->begin_seq + 1, (double)longest->begin_ns,
                      (double)longest->end_ns};
}

static void
add_thread(TdTable *table, const td_idle *idle, const td_idle_thread *thread) {
  TdTableRow *row = td_table_add(table, stretch_place(&thread->longest));
  td_table_row_set_text(row, THREAD, thread->name);
  for (guint part = 0; part < TD_N_IDLE_PARTS && idle->wall; part++)
    if (idle->is_known[part])
      td_table_row_set_number(row, FIRST_PART + part,
                              (double)thread->parts[part] / (double)idle->wall);
  td_table_row_set_text(row, WAITED_FOR, longest_wait(idle, thread));
}

static void
note_unknown(TdTable *table, const td_idle *idle) {
  for (guint part = 0; part < TD_N_IDLE_PARTS; part++)
    if (!idle->is_known[part])
      td_table_add_note(table,
                        g_strdup_printf("– %s: %s", _(thread_columns[FIRST_PART + part].title),
                                        idle->reasons[part]));
}

static TdTable *
make_threads(const td_idle *idle) {
  TdTable *table = td_table_new(thread_columns, N_THREAD_COLUMNS, FIRST_PART);
  for (uint32_t i = 0; i < MIN(idle->n_threads, TD_TABLE_ROWS_MAX); i++)
    add_thread(table, idle, &idle->threads[i]);
  g_autofree char *wall = td_format_ns((double)idle->wall);
  g_autofree char *under_way =
      g_strdup_printf(_("One was under way for %s; this is 100 %%."), wall);
  set_passes(table, idle->n_passes, under_way);
  td_table_note_left_out(table, idle->n_threads, "report --idle --json");
  td_table_note_known(table, TD_knowledge_observed);
  note_unknown(table, idle);
  return table;
}

static TdTable *
idle_table(td_tape *tape, const TdAnalysisWish *wish, td_error *error) {
  td_idle idle;
  TdTable *table = NULL;
  if (td_idle_make(tape, wish->graph_task, &wish->range, &idle, error) == TD_OK)
    table = make_threads(&idle);
  td_idle_fini(&idle);
  if (table) td_table_note_range(table, wish);
  return table;
}

static TdTable *
make_table(const td_contention *contention, guint choice) {
  if (choice == CHOICE_QUEUES) return make_queues(contention);
  TdTable *table =
      choice == CHOICE_HOLDERS ? make_holders(&contention->locks) : make_locks(&contention->locks);
  tell_locks(table, contention);
  return table;
}

TdTable *
td_analysis_contention(td_tape *tape, const TdAnalysisWish *wish, td_error *error) {
  td_contention contention;
  TdTable *table = NULL;
  if (wish->choice == CHOICE_THREADS) return idle_table(tape, wish, error);
  if (td_contention_make(tape, wish->graph_task, &wish->range, &contention, error) == TD_OK)
    table = make_table(&contention, wish->choice);
  td_contention_fini(&contention);
  if (table) td_table_note_range(table, wish);
  return table;
}
