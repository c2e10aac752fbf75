/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Waits for locks, as a tape tells them, in rows. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/profile/held_waits.h"
#include "engine/profile/samples.h"
#include "engine/replay/catalog.h"

/* A wait, where it is on the tape. */
typedef struct td_wait_place {
  uint32_t thread; /* that waited */
  uint64_t begin_seq, begin_ns, end_ns;
} td_wait_place;

/* Stretches of waits for one lock that have the holder and the waiter in common: Note [Held, and
 * woke late] in held_waits.h. All texts are borrowed from the result. */
typedef struct td_lock_blame {
  uint32_t lock;      /* index */
  const char *waiter; /* thread: "2 second" */
  const char *holder; /* thread that had the lock, "" if unknown */
  const char *node;   /* that the holder was at work for then, "" if none */
  const char *line;   /* where the program made that node, "" if unknown */
  uint64_t n;         /* waits in which the holder had the lock */
  uint64_t ns;        /* held_ns and late_ns */
  uint64_t held_ns;   /* the holder had the lock */
  uint64_t late_ns;   /* it had given it back: the waiter had yet to wake */
  bool is_bound;      /* held_ns is the most that is possible */
  uint64_t longest_ns;
  td_wait_place longest; /* of these waits */
} td_lock_blame;

typedef struct td_contended_lock {
  const char *name; /* (borrowed) "AccumulateGrad(weight)", "queue 0 cpu" */
  td_lock_kind kind;
  uint32_t object;           /* the first one that has this name */
  uint64_t n_taken;          /* 0 if nobody counted: only queues tell of each time */
  td_spread waits;           /* ns */
  uint64_t held_ns, late_ns; /* their parts, of all blames */
  uint32_t first_blame, n_blames;
} td_contended_lock;

/* The locks that somebody waited for. Locks and the blames of a lock have the longest waits first.
 */
typedef struct td_lock_list {
  td_contended_lock *locks; /* (owned) */
  td_lock_blame *blames;    /* (owned) */
  uint32_t n_locks, n_blames;
} td_lock_list;

typedef struct td_lock_waits {
  td_text_table *texts;        /* (borrowed) all names are numbers of it */
  struct td_lock_row *rows;    /* (owned) */
  struct td_blame_row *blames; /* (owned) */
  uint32_t n_rows, rows_capacity, n_blames, blames_capacity;
  td_number_map row_of_name; /* 1 + row */
  td_text_table blame_keys;  /* number: 1 + index of blames */
  td_samples waited;         /* by row */
} td_lock_waits;

/* td_lock_waits_add adds a wait. The catalog names what it is about. */
void td_lock_waits_add(td_lock_waits *waits, const td_catalog *catalog, const td_held_wait *wait);

/* td_lock_waits_list makes the list. Nothing may enter waits->texts afterwards. */
void td_lock_waits_list(td_lock_waits *waits, td_lock_list *list);
void td_lock_list_fini(td_lock_list *list);
void td_lock_waits_fini(td_lock_waits *waits);

/* td_text_keep returns the number of a text in a table, 0 for NULL. It takes the text. */
uint32_t td_text_keep(td_text_table *table, char *text);
