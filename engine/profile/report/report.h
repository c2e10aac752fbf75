/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the time of backward passes went: lives of nodes (lives.h) in groups. Read-only once it is
 * made; any number of threads may read it. */
#pragma once

#include "engine/base/text_table.h"
#include "engine/base/translate.h"
#include "engine/profile/range.h"
#include "engine/profile/report/report_by.h"
#include "engine/profile/report/report_row.h"

typedef struct td_report_wish {
  td_report_by by;
  uint32_t graph_task; /* of the only outermost pass, or TD_NONE */
  uint32_t skip_first; /* outermost passes */
  td_range range;      /* what happened in it, as far as it lies in it */
} td_report_wish;

/* TD_WALL_PARTS(name, words): they add up to the wall time. Threads that are at work at the same
 * time share it: Note [Shares of the wall] in life_passes.h. If no thread is at work for the pass,
 * and tasks of it lie, the time is that of the causes: Note [Why tasks lie] in queue_waits.h. */
#define TD_WALL_PARTS(X)                                                                           \
  X(functions, TD_N("in functions"))                                                               \
  X(hand_over, TD_N("handing over"))                                                               \
  X(hooks, TD_N("in hooks"))                                                                       \
  X(lock_wait, TD_N("waiting for locks"))                                                          \
  X(no_core, TD_N("waiting for a core"))                                                           \
  X(recorder, TD_N("in the recorder itself"))                                                      \
  X(lay_other_pass, TD_N("waiting behind nodes of another pass"))                                  \
  X(lay_not_started, TD_N("waiting for a thread that had not started"))                            \
  X(lay_waking, TD_N("waiting for a thread to wake"))                                              \
  X(lay_lock, TD_N("waiting for a thread that waited for a lock"))                                 \
  X(lay_gil, TD_N("waiting for a thread that waited for the GIL"))                                 \
  X(lay_no_core, TD_N("waiting for a thread that had no core"))                                    \
  X(no_node, TD_N("no thread at work for a node"))

typedef enum td_wall_part {
#define X(name, words) TD_WALL_##name,
  TD_WALL_PARTS(X)
#undef X
      TD_N_WALL_PARTS
} td_wall_part;

typedef struct td_report {
  uint32_t n_passes, n_unended;    /* outermost ones; of these, without an end */
  uint64_t wall;                   /* ns of these passes */
  uint64_t idle;                   /* of it, when no thread was at work for a node of the pass */
  uint64_t unattributed;           /* of that, the rest that neither a cause of lying tasks nor the
                                      recorder's own work explains */
  double of_wall[TD_N_WALL_PARTS]; /* ns */
  td_report_row *rows;             /* (owned) the greatest `self` first */
  uint32_t n_rows;
  bool is_known[TD_N_LIFE_PARTS];
  td_knowledge known;  /* how the functions are */
  bool knows_recorder; /* the recorder timed what it did, if that took 10 us or more at once */
  td_text_table keys;  /* (owned) */
} td_report;

/* td_report_make reads the tape once. Of a range of time, passes count that have a part in it, and
 * calls that begin in it. TD_OUT_OF_RANGE if there is no such pass on all the tape; else as
 * td_catalog_visit. The caller calls td_report_fini in all cases. */
td_status td_report_make(td_tape *tape, const td_report_wish *wish, td_report *report,
                         td_error *error);
void td_report_fini(td_report *report);

/* td_wall_part_name returns "functions", ..., td_wall_part_words "in functions", ... for
 * td_translate. td_report_knows_wall_part tells whether the tape tells of a part; if not, its time
 * is in others. Constant. */
const char *td_wall_part_name(td_wall_part part);
const char *td_wall_part_words(td_wall_part part);
bool td_report_knows_wall_part(const td_report *report, td_wall_part part);

/* td_report_has_unreturned tells whether a row has no call that returned. Such a row has time, but
 * no median and no longest call. */
bool td_report_has_unreturned(const td_report *report);

/* td_report_has_node tells whether a node counts in the row of a key. If that does not follow from
 * the node alone, as with threads, it returns false. */
bool td_report_has_node(td_report_by by, const td_catalog *catalog, uint32_t node, const char *key);
