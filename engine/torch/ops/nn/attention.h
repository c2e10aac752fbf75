/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Attention of many heads as one node. See pointwise.h for the rules of all operations. */
#pragma once

#include "engine/torch/tensor/tensor.h"

/* td_op_attention computes softmax(scale q k^T + mask) v (node
 * ScaledDotProductFlashAttentionForCpuBackward0). Sizes: query [batch, heads, queries, size], key
 * and value [batch, heads / n, keys, size], where n queries share a key. The mask (or NULL) has two
 * dimensions or four, and broadcasts to [batch, heads, queries, keys]; it gets no gradient. If it
 * is_causal, query i sees the keys up to i. A query that sees no key gives zeros. The result lies
 * in memory as a query with dense rows does. TD_SHAPE, TD_DTYPE. */
typedef struct td_attention {
  td_tensor *query, *key, *value, *mask; /* (borrowed) */
  bool is_causal;
  double scale;
} td_attention;
td_status td_op_attention(const td_attention *attention, td_tensor **out, td_error *error);
