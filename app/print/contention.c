/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/contention.h"

#include "app/common/columns.h"
#include "app/print/json_members.h"
#include "app/print/sentences.h"
#include "engine/base/line.h"
#include "ui/geometry/format.h"

#include <glib.h>
#include <inttypes.h>

#define SHOWN 20 /* locks or queues, for people */
#define BLAMES_SHOWN 5

/* ---- JSON ---- */

static void
write_spread(td_json *json, const char *key, const td_spread *spread, bool is_known) {
  td_json_key(json, key);
  if (!is_known) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  td_member_u64(json, "n", spread->n);
  td_member_u64(json, "sum", spread->sum);
  td_member_u64(json, "p50", spread->p50);
  td_member_u64(json, "p95", spread->p95);
  td_member_u64(json, "max", spread->max);
  td_json_end_object(json);
}

static void
write_place(td_json *json, const td_lock_blame *blame) {
  td_json_key(json, "longest");
  td_json_begin_object(json);
  td_member_u64(json, "thread", blame->longest.thread);
  td_member_u64(json, "seq", blame->longest.begin_seq);
  td_member_u64(json, "begin", blame->longest.begin_ns);
  td_member_u64(json, "end", blame->longest.end_ns);
  td_json_end_object(json);
}

static void
write_blame(td_json *json, const td_lock_blame *blame) {
  td_json_begin_object(json);
  td_member_u64(json, "n", blame->n);
  td_member_u64(json, "sum", blame->ns);
  td_member_string(json, "waiter", blame->waiter);
  td_member_text(json, "holder", blame->holder);
  td_member_text(json, "node", blame->node);
  td_member_text(json, "line", blame->line);
  td_member_u64(json, "held", blame->held_ns);
  td_member_u64(json, "late", blame->late_ns);
  td_member_bool(json, "held_at_most", blame->is_bound);
  write_place(json, blame);
  td_json_end_object(json);
}

static void
write_lock(td_json *json, const td_contention *contention, const td_contended_lock *lock) {
  td_json_begin_object(json);
  td_member_string(json, "lock", lock->name);
  td_member_string(json, "kind", td_enum_word(TD_FIELD_ENUM_lock_kind, lock->kind));
  td_member_known(json, "taken", lock->n_taken, lock->n_taken);
  write_spread(json, "waits", &lock->waits, true);
  td_member_u64(json, "held", lock->held_ns);
  td_member_u64(json, "late", lock->late_ns);
  td_json_key(json, "blames");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < lock->n_blames; i++)
    write_blame(json, &contention->locks.blames[lock->first_blame + i]);
  td_json_end_array(json);
  td_json_end_object(json);
}

static void
write_longest(td_json *json, const td_lain_task *task) {
  td_json_key(json, "longest_task");
  if (task->node == TD_NONE) return td_json_null(json);
  td_json_begin_object(json);
  td_member_id(json, "node", task->node);
  td_member_u64(json, "popped", task->pop_seq);
  td_member_u64(json, "ns", task->popped_ns - task->pushed_ns);
  td_json_end_object(json);
}

static void
write_queue(td_json *json, const td_contention *contention, const td_contended_queue *queue) {
  bool is_known = contention->queues_known == TD_knowledge_observed;
  td_json_begin_object(json);
  td_member_string(json, "queue", queue->name);
  td_member_u64(json, "pushes", queue->n_pushes);
  td_member_u64(json, "pops", queue->n_pops);
  write_spread(json, "lay", &queue->lay, is_known);
  write_longest(json, &queue->longest);
  write_spread(json, "slept", &queue->slept, is_known);
  td_member_u64(json, "empty_wakes", queue->n_empty_wakes);
  td_json_key(json, "with_tasks");
  td_json_begin_object(json);
  td_member_known(json, "running",
                  queue->with_tasks.ns[TD_LAY_own_pass] + queue->with_tasks.ns[TD_LAY_other_pass],
                  is_known);
  td_member_known(json, "asleep", queue->with_tasks.ns[TD_LAY_waking], is_known);
  for (int i = 0; i < TD_N_LAY_CAUSES; i++)
    if (i != TD_LAY_own_pass && i != TD_LAY_other_pass && i != TD_LAY_waking)
      td_member_known(json, td_lay_cause_name((td_lay_cause)i), queue->with_tasks.ns[i], is_known);
  td_json_end_object(json);
  td_json_key(json, "lay_by");
  td_json_begin_object(json);
  for (int i = 0; i < TD_N_LAY_CAUSES; i++)
    td_member_known(json, td_lay_cause_name((td_lay_cause)i), queue->lay_by.ns[i], is_known);
  td_json_end_object(json);
  td_json_end_object(json);
}

static void
write_works(td_json *json, const td_contention *contention) {
  td_member_known(json, "wall", contention->wall, true);
  td_member_known(json, "worked", contention->worked_ns, contention->works_known);
  td_json_key(json, "works");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < contention->n_works; i++) {
    const td_contended_work *work = &contention->works[i];
    td_json_begin_object(json);
    td_member_string(json, "lock", work->lock);
    td_member_string(json, "node", work->node);
    td_member_string(json, "operation", work->operation);
    td_member_u64(json, "n", work->n);
    td_member_u64(json, "sum", work->ns);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

void
td_contention_print_json(const td_contention *contention) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "unit", "ns");
  td_member_u64(&json, "passes", contention->n_passes);
  td_member_string(&json, "locks_known",
                   td_enum_word(TD_FIELD_ENUM_knowledge, contention->locks_known));
  td_member_string(&json, "queues_known",
                   td_enum_word(TD_FIELD_ENUM_knowledge, contention->queues_known));
  td_json_key(&json, "locks");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < contention->locks.n_locks; i++)
    write_lock(&json, contention, &contention->locks.locks[i]);
  td_json_end_array(&json);
  write_works(&json, contention);
  td_json_key(&json, "queues");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < contention->n_queues; i++)
    write_queue(&json, contention, &contention->queues[i]);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}

/* ---- text ---- */

static void
print_time(uint64_t ns, bool is_known) {
  g_autofree char *text = td_format_ns((double)ns);
  td_column_print(is_known ? text : "–", 9);
}

static void
print_spread(const td_spread *spread, bool is_known) {
  print_time(spread->p50, is_known && spread->n);
  print_time(spread->p95, is_known && spread->n);
  print_time(spread->max, is_known && spread->n);
}

/* "thread 2 second waited 3 times, 62 ms; thread 1 first held it in AccumulateGrad(weight) for 60
 * ms, woke 2 ms late, net.py:9" */
static void
print_blame(const td_lock_blame *blame) {
  g_autofree char *time = td_format_ns((double)blame->ns);
  g_autofree char *held = td_format_ns((double)blame->held_ns);
  g_autofree char *late = td_format_ns((double)blame->late_ns);
  g_autofree char *most = blame->is_bound ? g_strdup_printf("at most %s", held) : NULL;
  g_autofree char *times = td_format_many(blame->n, "time", "times");
  g_autofree char *node = td_line_dup(blame->node, TD_NAME_SHOWN);
  td_printed sentence = !*blame->holder ? TD_PRINTED_blame_unseen
                        : !*node        ? TD_PRINTED_blame
                        : !*blame->line ? TD_PRINTED_blame_at
                                        : TD_PRINTED_blame_at_line;
  printf("             ");
  td_printed_print(sentence, {"waiter", blame->waiter}, {"times", times}, {"time", time},
                   {"holder", blame->holder}, {"node", node}, {"line", blame->line},
                   {"held", most ? most : held}, {"late", late});
  putchar('\n');
}

static void
print_lock(const td_contention *contention, const td_contended_lock *lock) {
  g_autofree char *name = td_line_dup(lock->name, TD_NAME_SHOWN);
  print_time(lock->waits.sum, true);
  printf("%7" PRIu64 "  ", lock->waits.n);
  if (lock->n_taken)
    printf("%7" PRIu64 "  ", lock->n_taken);
  else
    td_column_print("–", 7);
  print_spread(&lock->waits, true);
  printf("%s\n", name);
  for (uint32_t i = 0; i < MIN(lock->n_blames, BLAMES_SHOWN); i++)
    print_blame(&contention->locks.blames[lock->first_blame + i]);
  if (lock->n_blames > BLAMES_SHOWN)
    printf("             %u more pairs of threads: --json has them\n",
           lock->n_blames - BLAMES_SHOWN);
}

static void
print_more(uint32_t n, const char *what) {
  if (n > SHOWN) printf("%u more %s: --json has them all\n", n - SHOWN, what);
}

static void
print_locks(const td_contention *contention) {
  if (contention->locks_known != TD_knowledge_observed) {
    puts("Locks: they were not observed on this tape.");
    return;
  }
  if (!contention->locks.n_locks) {
    puts("Locks: no thread waited for one.");
    return;
  }
  printf("%9s  %7s  %7s  %9s  %9s  %9s  lock\n", "waited", "waits", "taken", "median", "95 %",
         "max");
  for (uint32_t i = 0; i < MIN(contention->locks.n_locks, SHOWN); i++)
    print_lock(contention, &contention->locks.locks[i]);
  print_more(contention->locks.n_locks, "locks");
  bool has_unknown = false;
  for (uint32_t i = 0; i < contention->locks.n_locks; i++)
    has_unknown |= !contention->locks.locks[i].n_taken;
  if (has_unknown) puts("–  taken: the tape counts it only for the locks of queues");
}

static void
print_queue(const td_contended_queue *queue, bool is_known) {
  print_spread(&queue->lay, is_known);
  printf("%7" PRIu64 "  %7" PRIu64 "  ", queue->n_pops, queue->slept.n);
  print_time(queue->slept.sum, is_known);
  print_time(queue->slept.max, is_known && queue->slept.n);
  printf("%7" PRIu64 "  %s\n", queue->n_empty_wakes, queue->name);
}

/* "tasks lay there for 42 ms in all; meanwhile its thread ran nodes 91 %, slept ... 9 %" */
static void
print_causes(const td_contended_queue *queue) {
  uint64_t sum = 0;
  for (int i = 0; i < TD_N_LAY_CAUSES; i++)
    sum += queue->with_tasks.ns[i];
  if (!sum) return;
  g_autofree char *time = td_format_ns((double)sum);
  printf("             it had tasks for %s; meanwhile its thread", time);
  const char *before = "";
  for (int i = 0; i < TD_N_LAY_CAUSES; i++) {
    double share = 100 * (double)queue->with_tasks.ns[i] / (double)sum;
    if (share < 0.05) continue;
    printf("%s %s (%.1f %%)", before, td_lay_cause_words((td_lay_cause)i), share);
    before = ",";
  }
  putchar('\n');
}

static void
print_queues(const td_contention *contention) {
  bool is_known = contention->queues_known == TD_knowledge_observed;
  if (!contention->n_queues) {
    puts(is_known ? "Queues: no task entered one."
                  : "Queues: they were not observed on this tape.");
    return;
  }
  puts("\nFrom the push to the pop of a task, and how long threads slept until there was one:");
  printf("%9s  %9s  %9s  %7s  %7s  %9s  %9s  %7s  queue\n", "median", "95 %", "max", "pops",
         "sleeps", "slept", "longest", "no node");
  for (uint32_t i = 0; i < MIN(contention->n_queues, SHOWN); i++) {
    print_queue(&contention->queues[i], is_known);
    if (is_known) print_causes(&contention->queues[i]);
  }
  print_more(contention->n_queues, "queues");
  if (!is_known) puts("–  pushes and pops were not observed on this tape");
}

/* "Long sums under locks: 72.1 % of the time of the passes. No other thread hands gradients on
 * then." */
static void
print_works(const td_contention *contention) {
  if (!contention->n_works || !contention->wall) return;
  g_autofree char *sum = td_format_ns((double)contention->worked_ns);
  printf("\nLong sums of gradients under locks: %s, %.1f %% of the passes.\n", sum,
         100 * (double)contention->worked_ns / (double)contention->wall);
  printf("%9s  %7s  %-12s  %-12s  for\n", "time", "sums", "how", "lock");
  for (uint32_t i = 0; i < MIN(contention->n_works, SHOWN); i++) {
    const td_contended_work *work = &contention->works[i];
    g_autofree char *time = td_format_ns((double)work->ns);
    g_autofree char *node = td_line_dup(work->node, TD_NAME_SHOWN);
    td_column_print(time, 9);
    printf("%7" PRIu64 "  %-12s  %-12s  %s\n", work->n, work->operation, work->lock, node);
  }
  print_more(contention->n_works, "nodes");
}

void
td_contention_print_text(const char *path, const td_contention *contention) {
  g_autofree char *passes =
      td_format_many(contention->n_passes, "backward pass", "backward passes");
  printf("%s: %s\n", path, passes);
  print_locks(contention);
  print_works(contention);
  print_queues(contention);
}
