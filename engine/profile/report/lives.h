/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Lives]
 * The life of a node in a pass: what it waited for, and what its thread did for it. Time on a
 * thread lies between two events of that thread. It belongs to the part in which the thread was:
 *
 * - apply: from node_begin to node_end, without hooks, lock waits and passes inside.
 * - pre_hooks, post_hooks: between hook_begin and hook_end, before or after the function.
 * - lock_wait: between lock_wait and lock_acquired.
 * - accumulate, release, push: what follows node_end, by the event that ends each piece of time.
 *
 * dependency_wait is from the first gradient to the push, queue_wait from the push to the pop. A
 * thread does other things in these. The other parts add up if a pass has one thread. Together with
 * the time in which that thread was at work for no node, they are the time of the pass.
 *
 * A probe of PyTorch reads the clock less often. There, `release` is from node_end to the first
 * event that hands gradients on. `accumulate` is from that to the thread's next task or sleep, with
 * the pushes. Probes before 0.3 did not read it at all in these. Then these parts are not known,
 * and their time counts as nobody's.
 *
 * What the recorder itself took of a thread, as far as a tape tells of it, is no time of a node.
 *
 * - no_core: the thread could run in one of the parts but the first two, and another thread had the
 * core. The tape tells of it at the end of a long stretch: Note [Waits for a core] in
 * engine/events/core_waits.h. So it is taken from the part in which the thread is then, as far as
 * that goes, then from what the recorder took, then from the longest others of this life. Of a
 * part, it may have been anywhere: each range has as much of it as of the part, by Note [Taken in a
 * range] in range.h. Spans keep it.
 *
 * While a live session keeps the program waiting, no time passes for parts, spans and passes. If
 * another thread goes on meanwhile, only the rest of the pause is left out. `begin_ns`, `end_ns`
 * and `popped_ns` of a life, and `begin_ns` of a span, are times of the tape. */
#pragma once

#include "engine/profile/range.h"
#include "engine/profile/report/life.h"
#include "engine/profile/report/life_passes.h"

/* td_life_part_name returns "dependency_wait", ... Constant. */
const char *td_life_part_name(td_life_part part);

/* td_life_is_known tells whether a tape can tell of this part. */
bool td_life_is_known(const td_tape_info *info, td_life_part part);

/* A hook call or a wait for a lock. */
typedef struct td_life_span {
  td_event_kind kind; /* hook_begin or lock_wait */
  uint32_t thread, pass;
  uint32_t owner;        /* string of a hook */
  uint32_t lock, object; /* of a wait */
  uint32_t node;         /* that its thread was at work for */
  uint64_t begin_seq;
  uint64_t begin_ns, ns;
} td_life_span;

/* All are borrowed for the call. NULL: of no interest. `unfinished` tells of a node whose function
 * did not run or did not return. Its pass only captured its gradient, it failed, or the tape ends
 * inside. If it did not run, begin_seq and begin_ns are those of its pop. */
typedef struct td_life_listener {
  void (*life)(const td_life *life, void *data);
  void (*unfinished)(const td_life *life, void *data);
  void (*span)(const td_life_span *span, void *data);
  void *data;
} td_life_listener;

typedef struct td_lives td_lives;

td_lives *td_lives_new(const td_tape_info *info, td_life_listener listener);
void td_lives_free(td_lives *lives);

/* td_lives_limit has only the time of a range pass for parts, spans and passes: Note [Cut at the
 * borders] in range.h. Call it before the first event. The listener hears of what lies outside too,
 * with no time. */
void td_lives_limit(td_lives *lives, const td_range *range);

/* td_lives_at says which number the next event has; without it, begin_seq is 0. td_lives_apply
 * takes the next event of the tape. */
void td_lives_at(td_lives *lives, uint64_t seq);
void td_lives_apply(td_lives *lives, const td_any_event *event);

/* td_lives_pass returns an outermost pass by its number; borrowed until the next event. */
const td_life_pass *td_lives_pass(const td_lives *lives, uint32_t pass);

/* td_lives_node returns the node that a thread is at work for now, or TD_NONE. */
uint32_t td_lives_node(const td_lives *lives, uint32_t thread);

/* td_lives_is_busy returns true while a thread runs a node of a pass, hooks and handing on
 * included. */
bool td_lives_is_busy(const td_lives *lives, uint32_t thread);

/* td_lives_busy_pass returns the outermost pass for whose node a thread is at work, by its number,
 * or TD_NONE. td_lives_find_pass returns that around a graph task, or TD_NONE. */
uint32_t td_lives_busy_pass(const td_lives *lives, uint32_t thread);
uint32_t td_lives_find_pass(td_lives *lives, uint32_t graph_task);

/* td_lives_time returns how long the tape has taken up to the last event, by the clock that
 * measures parts and passes. */
td_range_time td_lives_time(const td_lives *lives);

/* td_lives_n_under_way returns how many outermost passes are under way. */
uint32_t td_lives_n_under_way(const td_lives *lives);

/* td_lives_end says that the tape is over, and returns the number of outermost passes. */
uint32_t td_lives_end(td_lives *lives);
