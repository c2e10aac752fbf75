/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where a NaN or an infinity is born: in a value none of whose ingredients had one. PyTorch's
 * anomaly mode looks at node outputs alone; here every sum, every hook and the forward pass are
 * looked at too: +Inf and -Inf may meet in an input buffer. Any thread. "Found" are bits of
 * td_numbers_look. */
#pragma once

#include "engine/events/event.h"
#include "engine/graph/node.h"

typedef enum td_anomaly_search {
  TD_ANOMALY_OFF,
  TD_ANOMALY_NAN,       /* NaN only, as PyTorch's anomaly mode */
  TD_ANOMALY_NONFINITE, /* NaN and infinities */
} td_anomaly_search;

/* td_anomaly_search_set chooses what the process looks for in every gradient and every sum, and
 * puts on the tape. Off at first. Not while a pass runs. */
void td_anomaly_search_set(td_anomaly_search search);

/* The kinds that are looked for and told, bits of td_numbers_look. Everything is looked at where
 * anything is: an infinity is what a NaN in a sum is made of. */
extern _Atomic unsigned td_anomaly_wanted;
static inline bool
td_anomaly_is_on(void) {
  return TD_UNLIKELY(atomic_load_explicit(&td_anomaly_wanted, memory_order_relaxed) != 0);
}

/* Anomaly mode of the process, PyTorch's: nodes remember where they were made (metadata.h), the
 * first error of a pass warns of it, and with check_nan a NaN among a node's outputs is an error.
 * Off at first; any thread may set it at any time. */
extern _Atomic bool td_anomaly_mode_enabled;
void td_anomaly_mode_set(bool enabled, bool check_nan);
bool td_anomaly_mode_checks_nan(void);
static inline bool
td_anomaly_mode(void) {
  return TD_UNLIKELY(atomic_load_explicit(&td_anomaly_mode_enabled, memory_order_relaxed));
}

/* td_anomaly_look returns what is found in a tensor; 0 when anomaly mode is off. */
unsigned td_anomaly_look(const td_tensor *tensor);

/* A place where something may have been born, and who brought what into it. */
typedef struct td_birth {
  td_birthplace place;
  const td_node *node;
  uint32_t number; /* as event `anomaly` says for each place */
  uint32_t from, from_output_nr, other, other_output_nr; /* nodes' ids, of a sum; else TD_NONE */
  const char *hook;                                      /* (borrowed) its owner, or NULL */
} td_birth;
#define TD_BIRTH(...) (&(const td_birth){.from = TD_NONE, .other = TD_NONE, __VA_ARGS__})

/* td_anomaly_note compares what was found in the ingredients with what is found in the result, and
 * emits an `anomaly` if a kind that is wanted was born (td_numbers_born): a NaN before an
 * infinity. */
void td_anomaly_note(unsigned before, unsigned after, const td_birth *birth);

/* td_anomaly_begin_forward and td_anomaly_end_forward look at the operands and the results of an
 * operation that makes a node: what the operation made is a birth, and what it was given by data
 * or a leaf came in there. Not within a backward pass. The end comes when the node is announced. */
void td_anomaly_begin_forward(td_node *node, td_tensor *const *operands, uint32_t n_operands);
void td_anomaly_end_forward(td_node *node, td_tensor *const *results, uint32_t n_results);

/* td_anomaly_raise is the error that PyTorch's anomaly mode ends a pass with, if it is on, checks,
 * and one of a node's outputs has a NaN. */
td_status td_anomaly_raise(const td_node *node, uint32_t output_nr, unsigned found,
                           td_error *error);
