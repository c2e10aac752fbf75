/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/hooks_gradients.h"

#include "engine/base/alloc.h"
#include "engine/events/event.h"
#include "engine/probe/numerics.h"

typedef struct evaluation {
  td_numerics_frame frame;
  struct evaluation *outer;
} evaluation;

static _Thread_local evaluation *innermost; /* (owned) */

/* The gradients of one call, and room for their sizes and strides. */
typedef struct gradients {
  td_gradient *at; /* (owned) */
  int64_t *dims;   /* (owned) */
  uint32_t n;
} gradients;

/* By the numbers that hooks.py has for them. */
static const char *const reasons[] = {NULL, TD_UNREAD_SUBCLASS, TD_UNREAD_LAYOUT, TD_UNREAD_DEVICE,
                                      TD_UNREAD_REFUSES};

enum { IDENTITY, VERSION, REASON, TYPE, DATA, BYTES, N_DIMS, N_FIXED };

/* Reads one memory and returns how many arguments it takes; all the rest if it is cut. `dims` has
 * room for its sizes and strides. */
static size_t
read_memory(const td_python *python, void *const *arguments, size_t n, td_gradient *out,
            int64_t *dims) {
  *out = (td_gradient){.numbers.type = TD_N_NUMBER_TYPES};
  uintptr_t identity = (uintptr_t)td_python_number(arguments[IDENTITY]);
  if (!identity || n < N_FIXED) return identity ? n : 1;
  size_t n_dims = (size_t)td_python_number(arguments[N_DIMS]),
         reason = (size_t)td_python_number(arguments[REASON]);
  if (n < N_FIXED + 2 * n_dims) return n;
  for (size_t i = 0; i < 2 * n_dims; i++)
    dims[i] = td_python_number(arguments[N_FIXED + i]);
  const char *type = td_python_text(python, arguments[TYPE]);
  out->identity = (const void *)identity;
  out->version = (uint32_t)td_python_number(arguments[VERSION]);
  out->unread = reason < TD_N_ELEMENTS(reasons) ? reasons[reason] : TD_UNREAD_REFUSES;
  out->numbers = (td_numbers){.data = (const void *)(uintptr_t)td_python_number(arguments[DATA]),
                              .type = type ? td_number_type_find(type) : TD_N_NUMBER_TYPES,
                              .n_dims = (int)n_dims,
                              .sizes = dims,
                              .strides = dims + n_dims};
  if (!out->unread && out->numbers.type == TD_N_NUMBER_TYPES) out->unread = TD_UNREAD_TYPE;
  if (!out->unread) td_numerics_check(out, (uint64_t)td_python_number(arguments[BYTES]));
  return N_FIXED + 2 * n_dims;
}

static gradients
read_all(const td_python *python, void *const *arguments, size_t n) {
  gradients all = {TD_NEW_N(td_gradient, n + 1), TD_NEW_N(int64_t, n + 1), 0};
  for (size_t i = 0; i < n;)
    i += read_memory(python, arguments + i, n - i, &all.at[all.n++], all.dims + i);
  return all;
}

static void
free_all(gradients *all) {
  free(all->at);
  free(all->dims);
}

void
td_hooks_gradients_begin(const td_python *python, const td_hooks_evaluation *about,
                         void *const *arguments, size_t n) {
  gradients all = read_all(python, arguments, n);
  uint32_t n_inputs = all.n - (about->is_leaf && all.n > 0);
  evaluation *self = TD_NEW(evaluation);
  self->outer = innermost;
  innermost = self;
  td_numerics_enter(&self->frame, about->graph_task, about->node, about->is_root, n_inputs, all.at);
  td_numerics_apply_begin(about->is_leaf, n_inputs, all.at);
  if (n_inputs < all.n) td_numerics_store_begin(&all.at[n_inputs]);
  free_all(&all);
}

static void
leave_innermost(void) {
  evaluation *self = innermost;
  innermost = self->outer;
  td_numerics_leave(&self->frame);
  free(self);
}

static bool
enter_again(uint32_t node) {
  const evaluation *found = innermost;
  while (found && found->frame.node != node)
    found = found->outer;
  while (found && innermost != found)
    leave_innermost();
  return found != NULL;
}

static td_gradient_edge *
read_edges(const td_python *python, void *const *arguments, size_t n_edges, uint32_t n_outputs) {
  td_gradient_edge *edges = TD_NEW_N(td_gradient_edge, n_outputs + 1);
  for (uint32_t i = 0; i < n_outputs; i++) {
    edges[i] = (td_gradient_edge){.node = TD_NONE, .type = TD_N_NUMBER_TYPES};
    if (i >= n_edges) continue;
    edges[i].node = (uint32_t)td_python_number(arguments[2 * i]);
    edges[i].input_nr = (uint32_t)td_python_number(arguments[2 * i + 1]);
  }
  return edges;
}

void
td_hooks_gradients_end(const td_python *python, const td_hooks_evaluation *about,
                       void *const *arguments, size_t n) {
  size_t n_edges = n > 0 ? (size_t)td_python_number(arguments[0]) : 0;
  if (n < 1 + 2 * n_edges || !enter_again(about->node)) return;
  gradients all = read_all(python, arguments + 1 + 2 * n_edges, n - 1 - 2 * n_edges);
  uint32_t n_outputs = about->is_leaf ? 0 : all.n;
  td_gradient_edge *edges = read_edges(python, arguments + 1, n_edges, n_outputs);
  if (about->is_leaf && all.n > 0) td_numerics_store_end(&all.at[all.n - 1]);
  td_numerics_apply_end(false, false, n_outputs, all.at, edges);
  leave_innermost();
  free(edges);
  free_all(&all);
}
