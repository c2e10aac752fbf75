/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape of random training, written as a recorder writes it, and a keeper that follows. At every
 * moment the file must be a tape: what lasts of the events that went, and after it all newer
 * events. td_kept_judge finds what lasts a second time, by plain search. One thread. */
#pragma once

#include "engine/trace/keeper.h"
#include "engine/trace/tape.h"
#include "engine/trace/writer.h"
#include "tests/fixtures/tape_simulator.h"

#include <glib.h>
#include <sys/types.h>

#define TD_KEPT_THREADS 4

typedef struct td_kept_thread {
  td_encoder encoder;
  uint64_t n_written;
} td_kept_thread;

typedef struct td_kept {
  char *path;
  td_writer *writer;
  td_kept_thread threads[TD_KEPT_THREADS];
  GArray *log; /* of td_any_event: all that was told, in order */
  guint n_on_disk, n_early;
  uint64_t now, ns_apart; /* between two events, at random: half of what is most */
  td_keeper *keeper;
  td_keep_limit limit;
  td_keeper_news news;
  GRand *random;
  guint n_looks, n_shortened;
  blkcnt_t most_blocks;
} td_kept;

/* td_kept_make begins a tape, and tells it all events of the plan. td_kept_make_with lets another
 * function tell them, with the td_kept for its data. */
void td_kept_make(td_kept *self, const td_tape_plan *plan, td_keep_limit limit);
void td_kept_make_with(td_kept *self, const td_tape_plan *plan, td_keep_limit limit,
                       td_tape_sink sink);

/* td_kept_make_late is td_kept_make for a recorder that begins to keep after n_early events. */
void td_kept_make_late(td_kept *self, const td_tape_plan *plan, td_keep_limit limit, guint n_early);

/* td_kept_tell adds an event. Now and then it flushes, follows and judges. */
void td_kept_tell(const td_any_event *told, void *self);

/* td_kept_flush writes all events to the file. td_kept_follow lets the keeper read and cut.
 * td_kept_finish ends the tape. */
void td_kept_flush(td_kept *self);
void td_kept_follow(td_kept *self, bool is_last);
void td_kept_finish(td_kept *self);
void td_kept_fini(td_kept *self);

/* td_kept_judge asserts that the file at a path is what lasted at some cut, what it says of itself,
 * and all events after the cut. td_kept_check_compact asserts that its copy without gaps is the
 * same, keeps the engine's rules, and has so many steps; 0: any number. */
void td_kept_judge(td_kept *self, const char *path);
void td_kept_check_compact(td_kept *self, uint64_t n_steps);

td_tape *td_kept_open(const char *path);
