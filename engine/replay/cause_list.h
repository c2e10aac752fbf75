/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which earlier event may have led to each of the first problems of a tape:
 * - to a NaN, the birth that td_cause_find_among finds;
 * - to the error of a node, the last NaN or version conflict of that node in the same pass;
 * - to a version conflict, the write that made the version after the saved one.
 *
 * The outline of a tape that is cut has the list as events of the kind `cause_now`. A reader of a
 * whole tape makes it. One thread. */
#pragma once

#include "engine/replay/causes.h"
#include "engine/trace/keyframe.h"

/* Zero-initialise. */
typedef struct td_cause_list {
  struct td_cause_problem *problems; /* (owned) [n] those that may have causes or be some */
  uint32_t n;
  td_births births;     /* among them */
  td_number_map writes; /* that conflicts ask for: 1 + event number, by counter and version */
} td_cause_list;

/* td_cause_list_take takes an event of the tape, in order. It minds problems alone, and no more
 * than TD_CATALOG_CAUSES of them. */
void td_cause_list_take(td_cause_list *list, const td_event *event, uint64_t seq);

/* td_cause_list_take_write takes events once more, after the last problem: only then it is known
 * which writes conflicts ask for. */
void td_cause_list_take_write(td_cause_list *list, const td_event *event, uint64_t seq);

/* td_cause_list_search looks for what led to each NaN of the segment that a catalog is of. */
void td_cause_list_search(td_cause_list *list, const td_catalog *graph);

/* td_cause_list_concerns tells whether td_cause_list_search has something to look for at event
 * `first` or later. */
bool td_cause_list_concerns(const td_cause_list *list, uint64_t first);

/* td_cause_list_put adds the events of an outline. */
void td_cause_list_put(const td_cause_list *list, td_keyframe *outline);

/* td_cause_list_read makes the whole list of a catalog, which knows the events of a segment or of
 * the whole tape. */
void td_cause_list_read(td_cause_list *list, const td_catalog *catalog, td_tape *tape);
void td_cause_list_fini(td_cause_list *list);

/* td_cause_list_make returns the list, in the order of the tape, and its length. The caller frees
 * it. */
td_catalog_cause *td_cause_list_make(const td_cause_list *list, uint32_t *n);

/* How far the cause of a problem is known. */
typedef enum td_cause_known {
  TD_CAUSE_unknown, /* nobody looked for it */
  TD_CAUSE_none,    /* the problem has none on the tape */
  TD_CAUSE_found,
  TD_CAUSE_impossible, /* the tape names an event that cannot have led to it */
} td_cause_known;

/* td_cause_look_up looks up the cause of a problem, which is event seq, in n causes. They may come
 * from an outline, which is a claim: so it reads the event that they name. It writes the number of
 * that event, unless the cause is unknown or none. */
td_cause_known td_cause_look_up(const td_catalog_cause *causes, uint32_t n, td_tape *tape,
                                uint64_t seq, const td_any_event *problem, uint64_t *cause);
