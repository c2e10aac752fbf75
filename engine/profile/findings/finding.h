/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A finding, and a list of them. Any thread. */
#pragma once

#include "engine/replay/catalog.h"

typedef enum td_finding_kind {
#define TD_FINDING(name, needs, title) TD_FINDING_##name,
#include "engine/profile/findings/finding.def"
#undef TD_FINDING
  TD_N_FINDING_KINDS
} td_finding_kind;

/* td_finding_kind_name returns "graphs_kept", td_finding_kind_title its words for people. Constant.
 */
const char *td_finding_kind_name(td_finding_kind kind);
const char *td_finding_kind_title(td_finding_kind kind);

/* Of a tape with more events, nobody looks for broken rules and surprises: it takes four times as
 * long as the rest. `check` and `order` do. */
#define TD_RULES_EVENTS 2000000u

/* td_finding_is_judged returns false if a tape cannot tell of a kind: nobody saw such events, or
 * there are too many. The catalog may be that of a segment. */
bool td_finding_is_judged(const td_tape_info *info, const td_catalog *catalog,
                          td_finding_kind kind);

/* td_findings_look_at_leaves returns true if the recording looked at what leaves store, and at what
 * optimizers have. The catalog may be that of a segment. */
bool td_findings_look_at_leaves(const td_catalog *catalog);

/* td_findings_look_at_roots returns true if the recording looked at the values that passes begin
 * at, and for what came with that: gradients that are written into, and graphs without a pass. */
bool td_findings_look_at_roots(const td_catalog *catalog);

/* td_findings_look_at_ends returns true if the recording looked at optimizers before their steps,
 * and at what was left when the program ended. */
bool td_findings_look_at_ends(const td_catalog *catalog);

typedef struct td_finding {
  td_finding_kind kind;
  uint64_t seq;           /* the event that shows it: of several, the first */
  uint32_t node;          /* that it is about, or TD_NONE */
  uint32_t step;          /* the training step in which the event lies, or TD_NONE */
  uint32_t graph_task;    /* the outermost pass in which it lies, or TD_NONE */
  uint32_t pass;          /* the place of that one among all passes, from 1; 0: not known */
  uint64_t n;             /* how many times */
  bool has_passes;        /* it is about what differs between two passes */
  uint32_t passes[2];     /* graph tasks, that of `seq` first */
  char *text;             /* (owned) what happened */
  char *advice;           /* (owned) what it means, or what to do; "" */
  char *line;             /* (owned) "net.py:9", or NULL */
  bool is_line_of_caller; /* it is not the innermost one of the stack that shows it */
  char *source;           /* (owned) the text of that line, or NULL */
} td_finding;

typedef struct td_findings {
  td_finding *items; /* (owned) by kind, then in the order of the tape */
  uint32_t n, capacity;
  uint64_t n_left_out;    /* findings that were too many */
  const char *looked_for; /* (of the tape) "nonfinite", "nan", "off"; "": it does not say */
  int32_t status;         /* with which the program ended; 0 if the tape does not say */
  bool unjudged[TD_N_FINDING_KINDS]; /* td_finding_is_judged: not */
  bool lacks_lines; /* of some nodes: the recording remembered no line of the forward pass */
  uint32_t recorder_stopped; /* of the catalog: recorder_notes.h */
} td_findings;

void td_findings_fini(td_findings *findings);

/* td_findings_add adds a finding and takes its texts. */
void td_findings_add(td_findings *findings, td_finding finding);

/* td_findings_finish brings them into their order, and drops those of kinds that are not judged. */
void td_findings_finish(td_findings *findings);

/* td_findings_search_note returns a sentence if the recording did not look for all of NaN and Inf,
 * else "". For td_translate; constant. */
const char *td_findings_search_note(const td_findings *findings);

/* td_finding_dup_pass returns "backward pass 4 (graph task 3)": the window counts passes from 1,
 * and options want PyTorch's number. "graph task 3" if the first is not known, NULL without a pass.
 * The caller frees. */
char *td_finding_dup_pass(const td_finding *finding);

/* td_finding_line returns the line of the program that made a node, or NULL; facts may be NULL. The
 * caller frees. */
char *td_finding_line(const td_catalog_node *facts);
