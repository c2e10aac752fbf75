/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/births.h"

static const char *const places[TD_birthplace_LIMIT] = {
    [TD_birthplace_node] = "{kind} born in {node}: in its output {number}, of inputs that had none",
    [TD_birthplace_hook] = "{kind} born in the hook {hook} on {node}: in gradient {number} that it "
                           "gave back",
    [TD_birthplace_forward] = "{kind} born in the forward pass: in result {number} of the "
                              "operation that made {node}, of operands that had none",
    [TD_birthplace_input] = "{kind} handed in: backward was called with it, at input {number} of "
                            "{node}",
    [TD_birthplace_data] =
        "{kind} came in with the data: in operand {number} of the operation that "
        "made {node}",
};
#define UNNAMED_HOOK "{kind} born in a hook on {node}: in gradient {number} that it gave back"

/* A NaN in a sum of what had none is an infinity met by its opposite; an infinity in a sum of
 * finite numbers is one that is too great for the type. */
#define FROM_BOTH                                                                                  \
  "from output {from_output_nr} of {from} and from output {other_output_nr} of {other}"
static const char *const in_sums[TD_anomaly_kind_LIMIT][2] = {
    [TD_anomaly_kind_nan] = {"NaN born in the sum at input {number} of {node}: +Inf and -Inf meet "
                             "there, one of them from output {from_output_nr} of {from}",
                             "NaN born in the sum at input {number} of {node}: +Inf and -Inf meet "
                             "there, " FROM_BOTH},
    [TD_anomaly_kind_inf] =
        {"Inf born in the sum at input {number} of {node}: too great a number, "
         "completed from output {from_output_nr} of {from}",
         "Inf born in the sum at input {number} of {node}: too great a number, " FROM_BOTH},
};
static const char *const in_grad[TD_anomaly_kind_LIMIT] = {
    [TD_anomaly_kind_nan] = "NaN born in .grad: +Inf and -Inf meet where {node} adds this pass's "
                            "gradient to the one stored before",
    [TD_anomaly_kind_inf] = "Inf born in .grad: too great a number where {node} adds this pass's "
                            "gradient to the one stored before",
};

const char *
td_birth_sentence(const td_event_anomaly *anomaly) {
  if (anomaly->born >= TD_birthplace_LIMIT || anomaly->kind >= TD_anomaly_kind_LIMIT) return NULL;
  if (anomaly->born == TD_birthplace_sum) return in_sums[anomaly->kind][anomaly->other != TD_NONE];
  if (anomaly->born == TD_birthplace_accumulate) return in_grad[anomaly->kind];
  if (anomaly->born == TD_birthplace_hook && !anomaly->hook) return UNNAMED_HOOK;
  return places[anomaly->born];
}

/* Anomaly mode looks at outputs alone, for NaN alone, and blames the node that they are of. */
static const char *const meanings[TD_birthplace_LIMIT] = {
    [TD_birthplace_node] = "Its own formula made it, of a finite gradient: see what {node} kept "
                           "from the forward pass. PyTorch's anomaly mode names this node too.",
    [TD_birthplace_sum] = "Neither of the two had a NaN: see where their infinities come from. "
                          "{node} only passes it on, but PyTorch's anomaly mode would blame it.",
    [TD_birthplace_hook] = "What {node} itself had returned, or was given, was free of it; "
                           "PyTorch's anomaly mode would blame a node.",
    [TD_birthplace_forward] = "Gradients may be fine all the same. PyTorch's anomaly mode does not "
                              "look at the forward pass.",
    [TD_birthplace_input] = "See what made the gradient that the program passed. PyTorch's anomaly "
                            "mode would blame {node}, which only passes it on.",
    [TD_birthplace_accumulate] = "Neither of the two passes had a NaN in this gradient. PyTorch's "
                                 "anomaly mode is silent: it does not look at .grad.",
    [TD_birthplace_data] = "No operation of the graph made it: it was in what the program gave. "
                           "PyTorch's anomaly mode would blame the first node that multiplies by "
                           "it.",
};
#define SILENT_AT_LEAF                                                                             \
  "Neither of the two had a NaN: see where their infinities come from. PyTorch's anomaly mode is " \
  "silent: {node} is a leaf's and has no outputs to look at."

static bool
is_leaf(const td_catalog *catalog, uint32_t node) {
  return node < catalog->n_nodes && catalog->nodes[node].sequence_nr == UINT64_MAX;
}

const char *
td_birth_meaning(const td_event_anomaly *anomaly, const td_catalog *catalog) {
  if (anomaly->born >= TD_birthplace_LIMIT || anomaly->kind != TD_anomaly_kind_nan) return "";
  if (anomaly->born == TD_birthplace_sum && is_leaf(catalog, anomaly->node)) return SILENT_AT_LEAF;
  return meanings[anomaly->born];
}
