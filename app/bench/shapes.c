/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/shapes.h"

#include "engine/base/alloc.h"

enum { NO_NODE = -1 };

static int
add_node(td_made_graph *graph, const char *name, bool port) {
  TD_GROW(graph->port, graph->n_nodes, graph->port_capacity);
  TD_GROW(graph->name, graph->n_nodes, graph->node_capacity);
  graph->name[graph->n_nodes] = name;
  graph->port[graph->n_nodes] = port;
  return (int)graph->n_nodes++;
}

static void
add_edge(td_made_graph *graph, int from, int to) {
  uint32_t capacity = graph->edge_capacity;
  TD_GROW(graph->from, graph->n_edges, graph->edge_capacity);
  TD_GROW(graph->to, graph->n_edges, capacity);
  graph->from[graph->n_edges] = (uint32_t)from;
  graph->to[graph->n_edges++] = (uint32_t)to;
}

static int
op(td_made_graph *graph, const char *name, int user) {
  int node = add_node(graph, name, false);
  if (user != NO_NODE) add_edge(graph, user, node);
  return node;
}

static int
chain(td_made_graph *graph, int user, const char *const *names) {
  for (; *names; names++)
    user = op(graph, *names, user);
  return user;
}

static void
leaf(td_made_graph *graph, int user) {
  add_edge(graph, user, add_node(graph, "AccumulateGrad", true));
}

static int
linear(td_made_graph *graph, int user) {
  int addmm = op(graph, "AddmmBackward0", user);
  leaf(graph, op(graph, "TBackward0", addmm));
  leaf(graph, addmm);
  return addmm;
}

static int
with_leaves(td_made_graph *graph, const char *name, int user, int n) {
  int node = op(graph, name, user);
  while (n-- > 0)
    leaf(graph, node);
  return node;
}

static int
convolution(td_made_graph *graph, int user) {
  return with_leaves(graph, "ConvolutionBackward0", user, 1);
}

static int
batch_norm(td_made_graph *graph, int user) {
  return with_leaves(graph, "NativeBatchNormBackward0", user, 2);
}

static int
layer_norm(td_made_graph *graph, int user) {
  return with_leaves(graph, "NativeLayerNormBackward0", user, 2);
}

static int
residual_block(td_made_graph *graph, int user, bool projected) {
  int add = op(graph, "AddBackward0", op(graph, "ReluBackward0", user)), path = add;
  for (int i = 0; i < 3; i++) {
    path = convolution(graph, batch_norm(graph, path));
    path = op(graph, "ReluBackward0", path);
  }
  add_edge(graph, projected ? convolution(graph, batch_norm(graph, add)) : add, path);
  return path;
}

static void
make_resnet(td_made_graph *graph, uint32_t n) {
  int last =
      chain(graph, NO_NODE, (const char *[]){"NllLossBackward0", "LogSoftmaxBackward0", NULL});
  last =
      chain(graph, linear(graph, last), (const char *[]){"ViewBackward0", "MeanBackward1", NULL});
  for (int block = 1; graph->n_nodes + 8 < n; block++)
    last = residual_block(graph, last, block % 4 == 0);
  last =
      chain(graph, last, (const char *[]){"MaxPool2DWithIndicesBackward0", "ReluBackward0", NULL});
  convolution(graph, batch_norm(graph, last));
}

static int
feed_forward(td_made_graph *graph, int add) {
  int last = chain(graph, add, (const char *[]){"NativeDropoutBackward0", "ViewBackward0", NULL});
  last = chain(graph, linear(graph, last),
               (const char *[]){"ViewBackward0", "GeluBackward0", "ViewBackward0", NULL});
  return layer_norm(graph, op(graph, "ViewBackward0", linear(graph, last)));
}

static int
attention_input(td_made_graph *graph, int user) {
  int last = chain(graph, user,
                   (const char *[]){"ExpandBackward0", "UnsafeViewBackward0", "TransposeBackward0",
                                    "ViewBackward0", "ViewBackward0", NULL});
  return op(graph, "ViewBackward0", linear(graph, last));
}

static int
attention(td_made_graph *graph, int add) {
  int last = chain(graph, add, (const char *[]){"NativeDropoutBackward0", "ViewBackward0", NULL});
  int values = chain(graph, linear(graph, last),
                     (const char *[]){"ViewBackward0", "TransposeBackward0", "UnsafeViewBackward0",
                                      "BmmBackward0", NULL});
  int scores =
      chain(graph, values,
            (const char *[]){"ExpandBackward0", "NativeDropoutBackward0", "SoftmaxBackward0",
                             "DivBackward0", "UnsafeViewBackward0", "BmmBackward0", NULL});
  int query = attention_input(graph, scores), key = attention_input(graph, scores);
  int value = attention_input(graph, values), norm = layer_norm(graph, query);
  add_edge(graph, key, norm);
  add_edge(graph, value, norm);
  return norm;
}

static void
make_transformer(td_made_graph *graph, uint32_t n) {
  int last = chain(graph, NO_NODE,
                   (const char *[]){"NllLossBackward0", "LogSoftmaxBackward0", "ViewBackward0",
                                    "UnsafeViewBackward0", "MmBackward0", NULL});
  int tied = op(graph, "TBackward0", last);
  last = layer_norm(graph, op(graph, "ViewBackward0", last));
  do {
    int outer = op(graph, "AddBackward0", last);
    int inner = op(graph, "AddBackward0", feed_forward(graph, outer));
    add_edge(graph, outer, inner);
    last = op(graph, "AddBackward0", attention(graph, inner));
    add_edge(graph, inner, last);
  } while (graph->n_nodes + 70 < n);
  int embedding = op(graph, "EmbeddingBackward0", last);
  int weight = add_node(graph, "AccumulateGrad", true);
  add_edge(graph, embedding, weight);
  add_edge(graph, tied, weight);
  with_leaves(graph, "EmbeddingBackward0", last, 1);
}

/* One time step, last first; writes the nodes that need the four shared weights. */
static void
lstm_step(td_made_graph *graph, int stack, int *hidden, int *cell, int *needs) {
  int output = op(graph, "MulBackward0", stack);
  if (*hidden != NO_NODE) add_edge(graph, *hidden, output);
  int out_gate = op(graph, "SigmoidBackward0", output);
  int sum = op(graph, "AddBackward0", op(graph, "TanhBackward0", output));
  if (*cell != NO_NODE) add_edge(graph, *cell, sum);
  int keep = op(graph, "MulBackward0", sum), put = op(graph, "MulBackward0", sum);
  int gates = op(graph, "SplitBackward0", out_gate);
  add_edge(graph, op(graph, "SigmoidBackward0", put), gates);
  add_edge(graph, op(graph, "TanhBackward0", put), gates);
  add_edge(graph, op(graph, "SigmoidBackward0", keep), gates);
  int add = op(graph, "AddBackward0", gates);
  int input = op(graph, "AddmmBackward0", add), state = op(graph, "AddmmBackward0", add);
  needs[0] = op(graph, "TBackward0", input);
  needs[1] = input;
  needs[2] = op(graph, "TBackward0", state);
  needs[3] = state;
  *hidden = state;
  *cell = keep;
}

static void
make_lstm(td_made_graph *graph, uint32_t n) {
  uint32_t n_steps = n > 36 ? (n - 6) / 15 : 2;
  int *needs = TD_NEW_N(int, 4 * (size_t)n_steps), hidden = NO_NODE, cell = NO_NODE;
  int stack = op(graph, "StackBackward0", op(graph, "MeanBackward0", NO_NODE));
  for (uint32_t i = 0; i < n_steps; i++)
    lstm_step(graph, stack, &hidden, &cell, needs + 4 * i);
  for (int k = 0; k < 4; k++) {
    int weight = add_node(graph, "AccumulateGrad", true);
    for (uint32_t i = 0; i < n_steps; i++)
      add_edge(graph, needs[4 * i + (uint32_t)k], weight);
  }
  free(needs);
}

static uint32_t
next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static int
clamped(int value, int n) {
  return TD_MIN(TD_MAX(value, 0), n - 1);
}

/* It has about as many layers as nodes in a layer, and 1.4 edges for each node. Most edges are
 * short and local. */
static void
make_wide(td_made_graph *graph, uint32_t n) {
  uint32_t seed = 7;
  int width = 1;
  while ((uint32_t)(width * width) < n)
    width++;
  for (int i = 0; i < (int)n / width * width; i++)
    add_node(graph, i % 7 == 0 ? "CatBackward0" : i % 3 ? "MulBackward0" : "AddBackward0", false);
  for (int l = 1; l < (int)n / width; l++)
    for (int i = 0; i < width; i++) {
      int column = clamped(i + (int)(next_random(&seed) % 5) - 2, width);
      add_edge(graph, (l - 1) * width + column, l * width + i);
      if (next_random(&seed) % 100 >= 40) continue;
      int span =
          1 + (int)(next_random(&seed) % 10 ? next_random(&seed) % 2 : next_random(&seed) % 8);
      column = next_random(&seed) % 20 ? clamped(i + (int)(next_random(&seed) % 21) - 10, width)
                                       : (int)(next_random(&seed) % (uint32_t)width);
      add_edge(graph, (l - TD_MIN(span, l)) * width + column, l * width + i);
    }
}

static const struct {
  const char *name;
  void (*make)(td_made_graph *graph, uint32_t n);
} shapes[TD_N_SHAPES] = {
    [TD_SHAPE_RESNET] = {"resnet", make_resnet},
    [TD_SHAPE_TRANSFORMER] = {"transformer", make_transformer},
    [TD_SHAPE_LSTM] = {"lstm", make_lstm},
    [TD_SHAPE_WIDE] = {"wide", make_wide},
};

const char *
td_graph_shape_name(td_graph_shape shape) {
  return shapes[shape].name;
}

td_made_graph *
td_made_graph_new(td_graph_shape shape, uint32_t n) {
  td_made_graph *graph = TD_NEW(td_made_graph);
  shapes[shape].make(graph, n);
  return graph;
}

void
td_made_graph_free(td_made_graph *graph) {
  free(graph->from);
  free(graph->to);
  free(graph->name);
  free(graph->port);
  free(graph);
}
