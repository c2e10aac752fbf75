/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ways to bend what a tape tells. Some break a rule of td_check_run, others only look so. */
#pragma once

#include "tests/fixtures/tape_maker.h"

/* A bend after which a tape holds to the rules. */
typedef struct td_accepted_bend {
  const char *name;
  void (*bend)(td_tape_script *script);
  const char *unjudged; /* one of the rules that cannot be judged, or NULL: all can */
  uint32_t n_threads;
} td_accepted_bend;

/* A bend that breaks a rule. */
typedef struct td_broken_bend {
  const char *name;
  void (*bend)(td_tape_script *script);
  const char *expected; /* among what is found, "rule kind" */
  uint32_t n_threads;
} td_broken_bend;

extern const td_accepted_bend td_accepted_bends[];
extern const td_broken_bend td_broken_bends[];
extern const size_t td_n_accepted_bends, td_n_broken_bends;

/* Steps of a bend. td_script_find returns the place of the n-th event of a kind. */
size_t td_script_find(const td_tape_script *script, td_event_kind kind, uint32_t n);
void td_script_drop(td_tape_script *script, size_t at);
void td_script_insert_copy(td_tape_script *script, size_t at, size_t of);
void td_script_swap_pops(td_tape_script *script);
