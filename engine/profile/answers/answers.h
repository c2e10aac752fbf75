/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people ask first of a tape, and the answers, a line each: what is wrong, where the time
 * goes, who waits, what holds memory, and what was not looked for. Read-only once they are made;
 * any number of threads may read them. */
#pragma once

#include "engine/profile/findings/findings.h"

/* TD_ANSWER_TOPICS(name, title): in the order of the page. */
#define TD_ANSWER_TOPICS(X)                                                                        \
  X(wrong, TD_N("What is wrong"))                                                                  \
  X(time, TD_N("Where the time goes"))                                                             \
  X(waits, TD_N("Who waits"))                                                                      \
  X(memory, TD_N("What holds memory"))                                                             \
  X(unlooked, TD_N("What was not looked for"))

typedef enum td_answer_topic {
#define X(name, title) TD_ANSWER_##name,
  TD_ANSWER_TOPICS(X)
#undef X
      TD_N_ANSWER_TOPICS
} td_answer_topic;

/* td_answer_topic_name returns "wrong", ..., td_answer_topic_title what the reader's language calls
 * it. Constant. */
const char *td_answer_topic_name(td_answer_topic topic);
const char *td_answer_topic_title(td_answer_topic topic);

/* So many answers of one topic; the rest is counted. */
#define TD_ANSWERS_MAX 4

/* A figure is in ns or in bytes, or there is none: then both are 0. */
typedef struct td_answer {
  td_answer_topic topic;
  char *text;   /* (owned) one line, without the figure */
  char *detail; /* (owned) what happened, or what to do; "" */
  char *line;   /* (owned) "net.py:9", or NULL */
  uint64_t ns, bytes;
  double share;        /* of the time of all passes, from 0 to 1; negative: it is no share */
  uint64_t seq;        /* the event to look at, or UINT64_MAX */
  uint32_t node;       /* that it is about, or TD_NONE */
  uint32_t step;       /* the training step of that event, or TD_NONE */
  uint32_t graph_task; /* the outermost pass of that event, or TD_NONE */
} td_answer;

typedef struct td_answers {
  td_answer *items; /* (owned) by topic */
  uint32_t n, capacity;
  uint32_t n_more[TD_N_ANSWER_TOPICS]; /* that were left out */
  bool is_bad;                         /* something is wrong */
  bool lacks_events;                   /* the tape is damaged, or its recorder lost events */
} td_answers;

/* td_answers_make reads the tape as findings.h, report.h, contention.h and memory.h do, one after
 * another. As td_catalog_visit. The caller calls td_answers_fini in all cases. */
td_status td_answers_make(td_tape *tape, td_answers *answers, td_error *error);

/* td_answers_make_with is for a caller that has the findings of the tape already. */
td_status td_answers_make_with(td_tape *tape, const td_findings *findings, td_answers *answers,
                               td_error *error);

/* td_answers_main returns the answer of a topic that says most in one line: the one with the
 * largest share, else the first one with a figure, else the first one. NULL: there is none. */
const td_answer *td_answers_main(const td_answers *answers, td_answer_topic topic);
void td_answers_fini(td_answers *answers);
