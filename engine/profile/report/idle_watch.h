/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The threads in the middle of a tape, while a td_idle is made. Private to idle.c and
 * idle_waits.c. One thread. */
#pragma once

#include "engine/profile/range.h"
#include "engine/profile/report/idle_blame.h"
#include "engine/profile/report/lives.h"

/* Integrals over the time in which a pass was under way: of 1, and of "some thread runs a node".
 * For each device: of the share of its threads in those that run, inside the range. */
typedef struct td_idle_clock {
  td_range_time wall, busy;
  double share[TD_IDLE_DEVICES];
} td_idle_clock;

typedef struct td_idle_lane {
  td_idle_thread result;
  double waited_for[TD_IDLE_DEVICES];
  td_range_time
      fresh[TD_N_IDLE_PARTS]; /* of the parts, since the last core_wait, in `fresh_since` */
  uint64_t fresh_since;       /* the watch's period: all of its wall */
  td_idle_clock since;        /* credited until then */
  td_idle_stretch stretch;    /* that it is in: `ns` is the wall of the clock at its begin */
  bool is_in_stretch;
  uint32_t depth, n_callbacks;
  uint32_t slot; /* of its device */
  bool is_met, is_known, serves, is_asleep, runs, has_ended;
  uint64_t left, ran; /* wall of the clock at the end of its last pass, and of its last work */
  /* The wait that it is in, if it is_waiting: */
  bool is_waiting;
  td_idle_part wait; /* lock, gil, stream or collective */
  uint64_t waits_since;
  uint32_t whom; /* holder of the lock, device, or operation: a string */
  int32_t stream;
  uint32_t callback; /* string: its name */
  uint64_t counted;  /* wall of the clock until which somebody is blamed for its callback, or for
                      * the wait for a collective operation */
  /* Since when it is not in a callback nor in such a wait, if it is not. During such a wait: when
   * the last other process came, and its thread. */
  uint64_t parted, arrived;
  uint32_t last;
} td_idle_lane;

typedef struct td_idle_watch {
  td_idle *result;
  td_lives *lives;
  uint32_t graph_task; /* the wished pass, or TD_NONE */
  uint32_t n_wished;   /* passes, also outside of the range */
  uint32_t n_under_way, n_running;
  uint32_t running[TD_IDLE_DEVICES]; /* threads that run a node */
  td_idle_clock clock;
  td_range_clock time;
  td_range_time now;    /* of that clock */
  td_idle_clock period; /* when passes began to be under way */
  td_idle_lane **lanes; /* (owned) by thread; NULL: no event yet */
  uint32_t n_lanes;
  td_tape *tape;
  td_idle_blame blame;
} td_idle_watch;

/* td_idle_change_wait takes the events of waits for locks, streams and collective operations, and
 * those of final callbacks. Whom a thread waited for is blamed at the end of the wait. */
void td_idle_change_wait(td_idle_watch *watch, const td_catalog *catalog, td_idle_lane *lane,
                         const td_any_event *event);

/* td_idle_blame_late blames a thread that now calls backward, and was in no pass since a wall of
 * the clock. Who is in a final callback of another process, or in a collective operation, waited
 * for it. */
void td_idle_blame_late(td_idle_watch *watch, const td_catalog *catalog, const td_idle_lane *late,
                        uint64_t since);
