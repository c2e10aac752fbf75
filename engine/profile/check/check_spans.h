/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a thread began and has not ended: nodes, hooks, kernels, callbacks and waits. Private to
 * engine/profile. One thread. */
#pragma once

#include "engine/base/hash_index.h"
#include "engine/events/event.h"

#include <stdbool.h>

/* One of these. */
typedef struct td_check_span {
  uint16_t end_kind; /* the event that ends it */
  uint32_t object;   /* node, for a hook with the kind of hook */
  uint32_t detail;
  uint32_t graph_task; /* in which it began, or TD_NONE */
} td_check_span;

/* Note [Spans that match nothing]
 * An end closes its span, and those above it that were broken off. On a hostile tape, many spans
 * were broken off and many ends match none of them. So a search must not look at each span. An
 * index tells the innermost span of each kind and object. And each span that was broken off leads
 * past those below it that were too. Ends of an ordinary tape close the innermost span, and need
 * neither: spans enter the index when an end first asks for it. */
typedef struct td_check_link {
  uint32_t name;   /* of what the span is, from 1 */
  size_t same;     /* 1 + the next span below with this name, or 0 */
  size_t unbroken; /* all spans from here up to this one were broken off */
} td_check_link;

/* What spans have in common, and the innermost of them. */
typedef struct td_check_name {
  td_check_span span;
  size_t last; /* 1 + its place, or 0 */
} td_check_name;

typedef struct td_check_spans {
  td_check_span *items; /* (owned) innermost last */
  size_t n, capacity;
  td_check_link *links; /* (owned) of the outermost spans, those that are in the index */
  size_t n_links, links_capacity;
  td_check_name *names; /* (owned) */
  uint32_t n_names, names_capacity;
  td_hash_index numbers; /* of the names */
} td_check_spans;

void td_check_spans_begin(td_check_spans *spans, td_check_span span);

/* td_check_spans_end closes the innermost span that this one ends, and those above it that were
 * broken off. False, and nothing changes, if the innermost that was not broken off is another one.
 * Once broken off, a span stays so. Takes logarithmic time on the average of all calls. */
typedef bool (*td_check_span_test)(const td_check_span *span, void *data);
bool td_check_spans_end(td_check_spans *spans, td_check_span span, td_check_span_test is_broken_off,
                        void *data);

void td_check_spans_fini(td_check_spans *spans);
