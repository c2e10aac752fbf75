/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/births.h"

#include "engine/base/alloc.h"
#include "engine/base/translate.h"
#include "engine/replay/causes.h"

#include <string.h>

static const char *const places[TD_birthplace_LIMIT] = {
    [TD_birthplace_node] =
        TD_N("{kind} was born in {node}: its output {number} has it, and its inputs had none"),
    [TD_birthplace_hook] = TD_N("{kind} was born in the hook {hook} on {node}, in gradient "
                                "{number} that the hook returned"),
    [TD_birthplace_forward] =
        TD_N("{kind} was born in the forward pass: result {number} of the "
             "operation that created {node} has it, and its operands had none"),
    [TD_birthplace_input] =
        TD_N("{kind} came with the call of backward: input {number} of {node} has it"),
    [TD_birthplace_data] = TD_N(
        "{kind} came with the data: operand {number} of the operation that created {node} has it"),
    [TD_birthplace_parameter] =
        TD_N("{kind} was in the leaf of {from} when the forward pass used it, as operand {number} "
             "of the operation that created {node}"),
    [TD_birthplace_cast] = TD_N(
        "{kind} was born in a cast: output {from_output_nr} of {from} has none, but the engine "
        "cast it to the dtype of input {number} of {node}"),
    [TD_birthplace_reduced] =
        TD_N("{kind} was born in a sum: output {from_output_nr} of {from} has none, but the engine "
             "summed it to the shape of input {number} of {node}"),
};
#define UNNAMED_HOOK                                                                               \
  TD_N("{kind} was born in a hook on {node}, in gradient {number} that the hook returned")

/* A NaN in a sum of terms without one: an infinity met its opposite. An Inf in a sum of finite
 * numbers: the sum is too great for the type. */
static const char *const in_sums[TD_anomaly_kind_LIMIT][2] = {
    [TD_anomaly_kind_nan] =
        {TD_N(
             "NaN was born in the sum at input {number} of {node}: +Inf met -Inf, one of them from "
             "output {from_output_nr} of {from}"),
         TD_N("NaN was born in the sum at input {number} of {node}: +Inf met -Inf, from output "
              "{from_output_nr} of {from} and from output {other_output_nr} of {other}")},
    [TD_anomaly_kind_inf] =
        {TD_N("Inf was born in the sum at input {number} of {node}: it grew too great with the "
              "gradient from output {from_output_nr} of {from}"),
         TD_N("Inf was born in the sum at input {number} of {node}: output {from_output_nr} of "
              "{from} and output {other_output_nr} of {other} made it too great")},
};
static const char *const in_grad[TD_anomaly_kind_LIMIT] = {
    [TD_anomaly_kind_nan] = TD_N("NaN was born in .grad: +Inf met -Inf where {node} added this "
                                 "pass's gradient to the stored one"),
    [TD_anomaly_kind_inf] = TD_N("Inf was born in .grad: it grew too great where {node} added this "
                                 "pass's gradient to the stored one"),
};

const char *
td_birth_sentence(const td_event_anomaly *anomaly) {
  if (anomaly->born >= TD_birthplace_LIMIT || anomaly->kind >= TD_anomaly_kind_LIMIT) return NULL;
  if (anomaly->born == TD_birthplace_sum) return in_sums[anomaly->kind][anomaly->other != TD_NONE];
  if (anomaly->born == TD_birthplace_accumulate) return in_grad[anomaly->kind];
  if (anomaly->born == TD_birthplace_hook && !anomaly->hook) return UNNAMED_HOOK;
  return places[anomaly->born];
}

const char *
td_birth_absorbed_sentence(const td_event_absorbed *absorbed) {
  switch (absorbed->born) {
  case TD_birthplace_data:
    return TD_N("Inf came with the data: operand {number} of the operation that created {node} has "
                "it, and later operations made finite values of it");
  case TD_birthplace_forward:
    return TD_N("Inf was born in the forward pass: result {number} of the operation that created "
                "{node} has it, and later operations made finite values of it");
  default:
    return NULL;
  }
}

/* Anomaly mode looks at outputs alone, for NaN alone, and blames the node that they are of. */
static const char *const meanings[TD_birthplace_LIMIT] = {
    [TD_birthplace_node] =
        TD_N("Its own formula made it from a gradient without one: see what {node} saved "
             "in the forward pass. PyTorch's anomaly mode names this node too."),
    [TD_birthplace_sum] =
        TD_N("Neither of the two had a NaN: see where their infinities come from. "
             "{node} only passes it on, but PyTorch's anomaly mode would blame it."),
    [TD_birthplace_hook] =
        TD_N("The gradient was free of it before the hook. PyTorch's anomaly mode "
             "would blame a node."),
    [TD_birthplace_forward] = TD_N("PyTorch's anomaly mode does not look at the forward pass."),
    [TD_birthplace_input] =
        TD_N("See what made the gradient that the program passed. PyTorch's anomaly "
             "mode would blame {node}, which only passes it on."),
    [TD_birthplace_accumulate] =
        TD_N("Neither of the two passes had a NaN in this gradient. PyTorch's "
             "anomaly mode is silent: it does not look at .grad."),
    [TD_birthplace_data] =
        TD_N("No operation of the graph made it: the program's data had it. PyTorch's "
             "anomaly mode would blame the first node that multiplies by it."),
};
#define SILENT_AT_LEAF                                                                             \
  TD_N("Neither of the two had a NaN: see where their infinities come from. PyTorch's anomaly "    \
       "mode is silent: {node} is a leaf's and has no outputs to look at.")

static bool
is_leaf(const td_catalog *catalog, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  return facts && facts->sequence_nr == UINT64_MAX;
}

/* What the dtype that a gradient is cast to can hold. */
static const struct {
  const char *dtype, *text;
} casts[] = {
    {"float16",
     TD_N("{node} takes float16, which holds no number above 65504: scale the loss down, "
          "or compute this part in float32 or bfloat16.")},
    {"bfloat16", TD_N("{node} takes bfloat16, which holds no number above 3.39e38.")},
    {"float32", TD_N("{node} takes float32, which holds no number above 3.40e38.")},
};

static const char *
meaning_of_cast(const td_event_anomaly *anomaly, const td_catalog *catalog) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, anomaly->node);
  const td_catalog_metadata *metadata =
      facts ? td_catalog_metadata_find(catalog, facts, anomaly->number) : NULL;
  for (size_t i = 0; metadata && i < TD_N_ELEMENTS(casts); i++)
    if (!strcmp(metadata->dtype, casts[i].dtype)) return casts[i].text;
  return "";
}

/* Such a tape does not tell leaves from data. */
#define DATA_OR_LEAF                                                                               \
  TD_N("No operation of the graph made it: it was in the program's data, or in a leaf such as a "  \
       "parameter. PyTorch's anomaly mode would blame the first node that multiplies by it.")
#define COMPILED "CompiledFunctionBackward"
#define IN_COMPILED                                                                                \
  TD_N("torch.compile made {node} of many operations, and none of them is on the tape. "           \
       "tapedeck record --no-compile --anomaly runs the program without compilation, and then "    \
       "names the operation and its line.")
#define STORED_BEFORE                                                                              \
  TD_N("{other} had stored a gradient there that is not finite: a step of the optimizer after it " \
       "may have brought it into the leaf.")
#define NOT_STORED_BEFORE                                                                          \
  TD_N("No gradient that the tape has brought it there: the program put it there, or a step of "   \
       "its "                                                                                      \
       "optimizer did.")

#define NOT_STORED_HALF                                                                            \
  TD_N("No gradient that the tape has brought it there: the program put it there, or a step of "   \
       "its optimizer did. In float16 the eps of Adam, 1e-8, is 0, so its step divides 0 by 0 "    \
       "where a gradient was 0: keep parameters in float32, or pass a larger eps.")

static bool
is_half(const td_catalog *catalog, uint32_t node) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, node);
  const td_catalog_metadata *metadata = facts ? td_catalog_metadata_find(catalog, facts, 0) : NULL;
  return metadata && !strcmp(metadata->dtype, "float16");
}

/* One node stands for all that torch.compile made one function of. */
static bool
is_in_compiled(const td_event_anomaly *anomaly, const td_catalog *catalog) {
  const td_catalog_node *facts = td_catalog_node_find(catalog, anomaly->node);
  bool is_of_node = anomaly->born == TD_birthplace_node || anomaly->born == TD_birthplace_forward;
  return is_of_node && facts && !strncmp(facts->name, COMPILED, strlen(COMPILED));
}

const char *
td_birth_meaning(const td_event_anomaly *anomaly, const td_catalog *catalog) {
  if (is_in_compiled(anomaly, catalog)) return IN_COMPILED;
  if (anomaly->born == TD_birthplace_cast) return meaning_of_cast(anomaly, catalog);
  if (anomaly->born == TD_birthplace_parameter)
    return anomaly->other != TD_NONE         ? STORED_BEFORE
           : is_half(catalog, anomaly->from) ? NOT_STORED_HALF
                                             : NOT_STORED_BEFORE;
  if (anomaly->born >= TD_birthplace_LIMIT || anomaly->kind != TD_anomaly_kind_nan) return "";
  if (anomaly->born == TD_birthplace_data && !td_cause_knows_fates(catalog)) return DATA_OR_LEAF;
  if (anomaly->born == TD_birthplace_sum && is_leaf(catalog, anomaly->node)) return SILENT_AT_LEAF;
  return meanings[anomaly->born] ? meanings[anomaly->born] : "";
}
