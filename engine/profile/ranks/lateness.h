/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which rank is behind the others again and again, and in what it spends the time. One thread at a
 * time.
 *
 * Note [Who is late again and again]
 * Ranks that train together begin the same passes. So the n-th outermost passes of all ranks are
 * compared: what each node and each hook took, and what lay between the pass before and this one.
 * Waits for operations of groups do not count. A rank is behind in a place by what that took longer
 * than in the median of the other ranks.
 *
 * Of the last hundred passes, twenty at least, it must have been so in three fifths: by 1 ms and
 * 3 % of the time from pass to pass. Meanwhile each other rank must have waited half as long, and
 * none may have been behind there in more than a tenth. So chance is not named, nor a rank that
 * others do not wait for. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/events/event.h"
#include "engine/replay/catalog.h"

#include <stdbool.h>

#define TD_LATE_WINDOW 100u /* passes */

/* What a rank did in a pass, and for how long. `key` is the same for all ranks. */
typedef struct td_late_piece {
  uint64_t key, ns, seq;
  uint32_t node, owner; /* of a hook: its owner's string, else 0; TD_NONE: outside of passes */
} td_late_piece;

typedef struct td_late_pass {
  td_late_piece *pieces; /* (owned) */
  uint32_t n, capacity;
  uint64_t waited, ns; /* for other ranks; since the pass before */
} td_late_pass;

typedef struct td_late_open td_late_open;

typedef struct td_late_process {
  bool is_rank;             /* it hands operations to groups */
  uint32_t graph_task;      /* of the outermost pass under way, or TD_NONE */
  uint64_t ended;           /* when the pass before ended, 0 for none */
  uint64_t waited;          /* outside, since then */
  td_late_pass now, *queue; /* (owned) passes that other ranks have not ended yet */
  uint32_t n_queue, queue_capacity;
  td_late_open *open; /* (owned) nodes, hooks and waits that have begun */
  uint32_t n_open, open_capacity;
  td_number_map met; /* keys of the pass: how often they came */
} td_late_process;

/* A place in which a rank was behind. */
typedef struct td_late_place {
  uint32_t process;
  uint64_t key, seq;
  char *words;      /* (owned) what people call it */
  uint64_t *passes; /* (owned) [n] the latest, as a ring: their numbers */
  uint64_t *behind; /* (owned) [n] ns */
  uint32_t n;
} td_late_place;

typedef struct td_lateness {
  td_late_process *processes; /* (owned) by number */
  uint32_t n_processes, capacity;
  uint64_t n_passes;     /* that have been compared */
  td_late_place *places; /* (owned) */
  uint32_t n_places, places_capacity;
  td_number_map numbers; /* of (process, key): 1 + place */
  td_number_map names;   /* of texts, by address: their numbers */
  td_text_table texts;   /* the same for all ranks */
  bool is_confused;      /* passes overlap, or ranks are too far apart */
} td_lateness;

/* td_lateness_take takes an event of a tape of several processes, in the order of the tape. */
void td_lateness_take(td_lateness *self, td_tape *tape, const td_catalog *so_far,
                      const td_any_event *event, uint64_t seq);

/* What is found of a rank. */
typedef struct td_late {
  uint32_t process;
  uint32_t n, n_passes; /* behind in so many of so many passes, the latest */
  uint64_t behind;      /* ns, the median of these */
  uint64_t seq;         /* where it was so last */
  const char *place;    /* of the lateness */
} td_late;

/* td_lateness_find writes what is found of the rank that is behind most. It returns false if none
 * is. td_late_text says it; the caller frees. */
bool td_lateness_find(const td_lateness *self, td_late *found);
char *td_late_text(const td_late *late, const td_catalog *catalog);
void td_lateness_fini(td_lateness *self);
