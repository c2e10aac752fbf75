/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Span: what a foreign trace's event becomes, as far as it bears on backward passes. Plain data of
 * one size, so that millions of them can be sorted through a file. */
#pragma once

#include <stdint.h>

typedef enum td_span_kind {
  TD_SPAN_OP,           /* an operator, a node, anything the framework recorded of itself */
  TD_SPAN_EVALUATION,   /* the engine evaluates a node: autograd::engine::evaluate_function */
  TD_SPAN_RUN_BACKWARD, /* Python's call into the engine */
  TD_SPAN_FRAME,        /* a Python function */
  TD_SPAN_MODULE,       /* a module's call */
  TD_SPAN_ANNOTATION,   /* a region that the user named */
  TD_SPAN_STEP,         /* a training step; sequence_nr is its number */
  TD_SPAN_FLOW_OUT, /* an arrow leaves the operator that began at this time: sequence_nr is its id
                     */
  TD_SPAN_FLOW_IN,  /* and ends at the node that began at this time */
} td_span_kind;

#define TD_NO_SEQUENCE INT64_MIN

typedef struct td_span {
  int64_t begin_ns, end_ns; /* as the trace counts time */
  int64_t sequence_nr;      /* or TD_NO_SEQUENCE */
  uint32_t name;            /* in the importer's texts; of an evaluation: the node's name */
  uint32_t thread;          /* in the importer's threads */
  uint32_t forward_thread;  /* the small number by which nodes name their forward thread; 0: none */
  uint32_t kind : 4;
  uint32_t order : 28; /* in its run of the sorter */
} td_span;
