/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/attention_kernel.h"

#include <math.h>

static td_matrix
flipped(td_matrix m) {
  return (td_matrix){m.data, m.column_step, m.row_step};
}

#define DEFINE_HEAD(T, F)                                                                          \
  /* S of one query, from q k^T. Returns the greatest. */                                          \
  static T scores_##T(const td_attention_head *h, int64_t query, T *row) {                         \
    const T *mask = h->mask.data;                                                                  \
    T scale = (T)h->scale, most = -INFINITY;                                                       \
    for (int64_t key = 0; key < h->n_keys; key++) {                                                \
      row[key] *= scale;                                                                           \
      if (mask) row[key] += mask[query * h->mask.row_step + key * h->mask.column_step];            \
      if (h->is_causal && key > query) row[key] = -INFINITY;                                       \
      if (row[key] > most) most = row[key];                                                        \
    }                                                                                              \
    return most;                                                                                   \
  }                                                                                                \
  /* Turns q k^T into P, and notes the logarithms of sums. A query without keys has infinity. */   \
  static void weigh_##T(const td_attention_head *h, T *weights) {                                  \
    for (int64_t query = 0; query < h->n_queries; query++, weights += h->n_keys) {                 \
      T most = scores_##T(h, query, weights), sum = 0;                                             \
      for (int64_t key = 0; key < h->n_keys; key++) {                                              \
        weights[key] = most == -INFINITY ? 0 : exp##F(weights[key] - most);                        \
        sum += weights[key];                                                                       \
      }                                                                                            \
      for (int64_t key = 0; key < h->n_keys && sum != 0; key++)                                    \
        weights[key] /= sum;                                                                       \
      ((T *)h->logsum)[query] = sum == 0 ? INFINITY : most + log##F(sum);                          \
    }                                                                                              \
  }                                                                                                \
  static void weigh_again_##T(const td_attention_head *h, T *weights) {                            \
    for (int64_t query = 0; query < h->n_queries; query++, weights += h->n_keys) {                 \
      T logsum = ((const T *)h->logsum)[query];                                                    \
      scores_##T(h, query, weights);                                                               \
      for (int64_t key = 0; key < h->n_keys; key++)                                                \
        weights[key] = exp##F(weights[key] - logsum);                                              \
    }                                                                                              \
  }                                                                                                \
  /* Turns the gradient by P into that by q k^T: scale P (dP - sum dO O). */                       \
  static void gradient_##T(const td_attention_head *h, const T *weights, td_matrix d_output,       \
                           T *d_weights) {                                                         \
    const T *o = h->output.data, *d_o = d_output.data;                                             \
    for (int64_t query = 0; query < h->n_queries; query++) {                                       \
      T sum = 0;                                                                                   \
      for (int64_t i = 0; i < h->n_size; i++)                                                      \
        sum += d_o[query * d_output.row_step + i * d_output.column_step] *                         \
               o[query * h->output.row_step + i * h->output.column_step];                          \
      for (int64_t at = query * h->n_keys; at < (query + 1) * h->n_keys; at++)                     \
        d_weights[at] = weights[at] * (d_weights[at] - sum) * (T)h->scale;                         \
    }                                                                                              \
  }
DEFINE_HEAD(float, f)
DEFINE_HEAD(double, )

/* Runs name_float or name_double. */
#define OF_DTYPE(h, name, ...)                                                                     \
  ((h)->dtype == TD_FLOAT32 ? name##_float(h, __VA_ARGS__) : name##_double(h, __VA_ARGS__))

static td_matrix
weights_in(const td_attention_head *h, void *data) {
  return (td_matrix){data, h->n_keys, 1};
}

static void
products(const td_attention_head *h, void *weights) {
  td_gemm(h->dtype, h->n_queries, h->n_size, h->n_keys, h->query, flipped(h->key),
          weights_in(h, weights), false);
}

void
td_attention_forward(const td_attention_head *h, void *weights) {
  products(h, weights);
  OF_DTYPE(h, weigh, weights);
  td_gemm(h->dtype, h->n_queries, h->n_keys, h->n_size, weights_in(h, weights), h->value, h->output,
          false);
}

void
td_attention_backward(const td_attention_head *h, td_matrix d_output, td_attention_gradients d,
                      void *weights, void *d_weights) {
  td_matrix p = weights_in(h, weights), d_p = weights_in(h, d_weights);
  products(h, weights);
  OF_DTYPE(h, weigh_again, weights);
  td_gemm(h->dtype, h->n_queries, h->n_size, h->n_keys, d_output, flipped(h->value), d_p, false);
  OF_DTYPE(h, gradient, weights, d_output, d_weights);
  td_gemm(h->dtype, h->n_queries, h->n_keys, h->n_size, d_p, h->key, d.by[TD_ATTENTION_BY_QUERY],
          false);
  td_gemm(h->dtype, h->n_keys, h->n_queries, h->n_size, flipped(d_p), h->query,
          d.by[TD_ATTENTION_BY_KEY], true);
  td_gemm(h->dtype, h->n_keys, h->n_queries, h->n_size, flipped(p), d_output,
          d.by[TD_ATTENTION_BY_VALUE], true);
}
