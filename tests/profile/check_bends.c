/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/profile/check_bends.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"

#include <glib.h>
#include <string.h>

/* The number of the n-th event of a kind. */
size_t
td_script_find(const td_tape_script *script, td_event_kind kind, uint32_t n) {
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == kind && n-- == 0) return i;
  g_assert_not_reached();
}

void
td_script_drop(td_tape_script *script, size_t at) {
  script->n--;
  memmove(script->events + at, script->events + at + 1, (script->n - at) * sizeof *script->events);
}

void
td_script_insert_copy(td_tape_script *script, size_t at, size_t of) {
  td_any_event copy = script->events[of];
  TD_GROW(script->events, script->n, script->capacity);
  memmove(script->events + at + 1, script->events + at, (script->n - at) * sizeof *script->events);
  script->events[at] = copy;
  script->n++;
}

/* The first pop of a queue that has others in it, of which one is popped next by the same thread.
 */
static size_t
find_choice(const td_tape_script *script, size_t *next) {
  for (size_t i = 0; i < script->n; i++) {
    const td_any_event *pop = &script->events[i];
    if (pop->event.kind != TD_EVENT_queue_pop || pop->queue_pop.size == 0) continue;
    for (*next = i + 1; *next < script->n; (*next)++) {
      const td_any_event *later = &script->events[*next];
      bool same_queue =
          later->event.kind == TD_EVENT_queue_pop || later->event.kind == TD_EVENT_queue_push;
      if (same_queue && later->queue_pop.queue == pop->queue_pop.queue) break;
    }
    if (script->events[*next].event.kind == TD_EVENT_queue_pop) return i;
  }
  g_assert_not_reached();
}

void
td_script_swap_pops(td_tape_script *script) {
  size_t second, first = find_choice(script, &second);
  uint32_t node = script->events[first].queue_pop.node;
  script->events[first].queue_pop.node = script->events[second].queue_pop.node;
  script->events[second].queue_pop.node = node;
}

static void
drop_push(td_tape_script *script) {
  td_script_drop(script, td_script_find(script, TD_EVENT_queue_push, 5));
}

static void
drop_pop(td_tape_script *script) {
  size_t pop = td_script_find(script, TD_EVENT_queue_pop, 5);
  td_script_drop(script, pop);
}

static void
push_twice(td_tape_script *script) {
  size_t push = td_script_find(script, TD_EVENT_queue_push, 4);
  td_script_insert_copy(script, push + 1, push);
}

/* A node that was just parked enters its queue. */
static void
push_early(td_tape_script *script) {
  size_t park = td_script_find(script, TD_EVENT_buffer_park, 3);
  size_t push = park;
  while (script->events[push].event.kind != TD_EVENT_queue_push ||
         script->events[push].queue_push.node != script->events[park].buffer_park.node)
    push++;
  td_script_insert_copy(script, park + 1, push);
}

static void
change_size(td_tape_script *script) {
  script->events[td_script_find(script, TD_EVENT_queue_pop, 6)].queue_pop.size += 1;
}

static void
drop_dependency(td_tape_script *script) {
  td_script_drop(script, td_script_find(script, TD_EVENT_dependency, 3));
}

static void
drop_decrement(td_tape_script *script) {
  size_t at = td_script_find(script, TD_EVENT_dependency_dec, 0);
  while (script->events[at].event.kind != TD_EVENT_dependency_dec ||
         script->events[at].dependency_dec.left == 0)
    at++;
  td_script_drop(script, at);
}

static void
change_left(td_tape_script *script) {
  script->events[td_script_find(script, TD_EVENT_dependency_dec, 7)].dependency_dec.left += 1;
}

/* A buffer goes back into not_ready right before its node is pushed. */
static void
park_ready(td_tape_script *script) {
  size_t ready = td_script_find(script, TD_EVENT_buffer_ready, 4);
  td_any_event park = {
      .buffer_park = {.event = script->events[ready].event,
                      .node = script->events[ready].buffer_ready.node,
                      .graph_task = script->events[ready].buffer_ready.graph_task}};
  park.event.kind = TD_EVENT_buffer_park;
  park.event.size = sizeof(td_event_buffer_park);
  td_script_insert_copy(script, ready + 1, ready);
  script->events[ready + 1] = park;
}

static void
park_for_ever(td_tape_script *script) {
  park_ready(script);
  size_t ready = td_script_find(script, TD_EVENT_buffer_ready, 4);
  size_t end = td_script_find(script, TD_EVENT_graph_task_end, 0);
  td_script_insert_copy(script, end, ready + 1);
}

static void
change_outstanding(td_tape_script *script) {
  script->events[td_script_find(script, TD_EVENT_outstanding, 3)].outstanding.value += 1;
}

static void
drop_outstanding(td_tape_script *script) {
  td_script_drop(script, td_script_find(script, TD_EVENT_outstanding, 3));
}

static void
run_another(td_tape_script *script) {
  td_any_event *begin = &script->events[td_script_find(script, TD_EVENT_node_begin, 3)];
  td_any_event *end = &script->events[td_script_find(script, TD_EVENT_node_end, 3)];
  begin->node_begin.node = end->node_end.node =
      script->events[td_script_find(script, TD_EVENT_node_begin, 5)].node_begin.node;
}

static void
run_twice(td_tape_script *script) {
  size_t end = td_script_find(script, TD_EVENT_node_end, 3);
  td_script_insert_copy(script, end + 1, end);
  td_script_insert_copy(script, end + 1, td_script_find(script, TD_EVENT_node_begin, 3));
}

/* A kernel outlasts the node that started it. */
static void
swap_ends(td_tape_script *script) {
  size_t kernel = td_script_find(script, TD_EVENT_kernel_end, 2), end = kernel;
  while (script->events[end].event.kind != TD_EVENT_node_end ||
         script->events[end].event.thread != script->events[kernel].event.thread)
    end++;
  td_any_event kept = script->events[end];
  script->events[end] = script->events[kernel];
  script->events[kernel] = kept;
}

/* Another thread pops, begins and completes what is in this one's queue. */
static void
steal(td_tape_script *script) {
  size_t pop = td_script_find(script, TD_EVENT_queue_pop, 8);
  uint32_t thread = script->events[pop].event.thread;
  script->events[pop].event.thread = (thread + 1) % script->n_threads;
}

/* The queue of the CPU is said to belong to nobody, and a device's thread pops from it. */
static void
steal_from_cpu(td_tape_script *script) {
  for (uint32_t n = 0;; n++) {
    td_any_event *pop = &script->events[td_script_find(script, TD_EVENT_queue_pop, n)];
    if (pop->queue_pop.queue != 0) continue;
    pop->event.thread = 1;
    return;
  }
}

static void
lock_twice(td_tape_script *script) {
  size_t acquired = td_script_find(script, TD_EVENT_lock_acquired, 1);
  td_script_insert_copy(script, acquired + 1, acquired);
  script->events[acquired + 1].event.thread =
      (script->events[acquired].event.thread + 1) % script->n_threads;
}

static void
release_foreign(td_tape_script *script) {
  size_t released = td_script_find(script, TD_EVENT_lock_released, 1);
  script->events[released].event.thread =
      (script->events[released].event.thread + 1) % script->n_threads;
}

static void
lose_events(td_tape_script *script) {
  size_t end = td_script_find(script, TD_EVENT_node_end, 2);
  td_event head = script->events[end].event;
  head.kind = TD_EVENT_dropped;
  head.size = sizeof(td_event_dropped);
  script->events[end] = (td_any_event){.dropped = {.event = head, .count = 3}};
}

/* Puts an event of this kind in front of event `at`, by the same thread; its fields are zeros. */
static td_any_event *
insert_new(td_tape_script *script, size_t at, td_event_kind kind) {
  td_event head = script->events[at].event;
  head.kind = (uint16_t)kind;
  head.size = td_event_type_get(kind)->size;
  td_script_insert_copy(script, at, at);
  script->events[at] = (td_any_event){.event = head};
  return &script->events[at];
}

static void
say_known(td_tape_script *script, const char *kind, td_knowledge how) {
  td_any_event *known = insert_new(script, 0, TD_EVENT_known);
  known->known.kind = td_intern(kind);
  known->known.how = how;
}

static void
reconstruct_pops(td_tape_script *script) {
  td_script_swap_pops(script);
  say_known(script, "queue_pop", TD_knowledge_reconstructed);
}

static void
see_no_decrements(td_tape_script *script) {
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == TD_EVENT_dependency_dec) td_script_drop(script, i--);
  say_known(script, "dependency_dec", TD_knowledge_absent);
}

/* A trace of node times, as a profiler writes it. */
static void
see_nodes_alone(td_tape_script *script) {
  for (size_t i = 0; i < script->n; i++) {
    uint16_t kind = script->events[i].event.kind;
    bool kept = kind == TD_EVENT_node_new || kind == TD_EVENT_node_begin ||
                kind == TD_EVENT_node_end || kind == TD_EVENT_thread_new ||
                kind == TD_EVENT_graph_task_begin;
    if (!kept) td_script_drop(script, i--);
  }
  insert_new(script, 0, TD_EVENT_probe_level)->probe_level.level = 3;
  say_known(script, "dependency", TD_knowledge_absent);
  say_known(script, "dependency_dec", TD_knowledge_absent);
}

/* An exception leaves what a node began without an end, and its pass without a good one. */
static void
throw_exception(td_tape_script *script) {
  size_t end = td_script_find(script, TD_EVENT_kernel_end, 4);
  td_event_kernel_end failed = script->events[end].kernel_end;
  td_any_event *error = insert_new(script, end, TD_EVENT_error);
  error->error.node = failed.node;
  error->error.graph_task = 0;
  td_script_drop(script, end + 1);
  size_t pass_end = td_script_find(script, TD_EVENT_graph_task_end, 0);
  script->events[pass_end].graph_task_end.status = TD_task_status_error;
}

static void
take_by_pool(td_tape_script *script) {
  for (size_t i = td_script_find(script, TD_EVENT_graph_task_begin, 0) + 1; i < script->n; i++)
    if (script->events[i].event.thread == 0) script->events[i].event.thread = 2;
  insert_new(script, td_script_find(script, TD_EVENT_graph_task_begin, 0) + 1,
             TD_EVENT_pool_thread_new)
      ->pool_thread_new.id = 2;
}

/* Another thread tells of the end before the last one has told of its task. */
static void
end_early(td_tape_script *script) {
  size_t end = td_script_find(script, TD_EVENT_graph_task_end, 0);
  td_any_event kept = script->events[end];
  g_assert_cmpint(script->events[end - 1].event.kind, ==, TD_EVENT_outstanding);
  script->events[end] = script->events[end - 1];
  script->events[end - 1] = kept;
}

/* The sixth node that begins adds to a buffer in not_ready by itself. Returns where. */
static size_t
add_directly(td_tape_script *script, bool exposes) {
  size_t begin = td_script_find(script, TD_EVENT_node_begin, 5), park = 0;
  for (size_t i = 0; i < begin; i++)
    if (script->events[i].event.kind == TD_EVENT_buffer_park) park = i;
  td_event_buffer_park parked = script->events[park].buffer_park;
  uint32_t by = script->events[begin].node_begin.node, graph_task = parked.graph_task;
  td_event_buffer_add *add = &insert_new(script, begin + 1, TD_EVENT_buffer_add)->buffer_add;
  add->node = parked.node, add->graph_task = graph_task, add->from = by;
  add->mode = TD_accumulation_direct;
  if (!exposes) return begin + 1;
  td_event_buffer_expose *expose =
      &insert_new(script, begin + 1, TD_EVENT_buffer_expose)->buffer_expose;
  expose->node = parked.node, expose->graph_task = graph_task, expose->by = by;
  return begin + 1;
}

static void
add_to_exposed(td_tape_script *script) {
  add_directly(script, true);
}

static void
add_to_hidden(td_tape_script *script) {
  add_directly(script, false);
}

static void
expose_to_another(td_tape_script *script) {
  size_t at = add_directly(script, true);
  script->events[at].buffer_expose.by = script->events[at].buffer_expose.node;
}

static void
expose_nothing(td_tape_script *script) {
  size_t at = add_directly(script, true);
  script->events[at].buffer_expose.node = script->events[at + 1].buffer_add.node =
      script->events[at].buffer_expose.by;
}

/* The pass queues `n` final callbacks after its last node, and calls them. Returns where the first
 * call is. */
static size_t
call_back(td_tape_script *script, uint32_t n) {
  size_t begin = td_script_find(script, TD_EVENT_graph_task_end, 0);
  for (uint32_t i = 0; i < n; i++)
    insert_new(script, begin + i, TD_EVENT_final_callback_new)->final_callback_new.owner = i;
  for (uint32_t i = 0; i < n; i++) {
    insert_new(script, begin + n + 2 * i, TD_EVENT_final_callback)->final_callback.owner = i;
    insert_new(script, begin + n + 2 * i + 1, TD_EVENT_final_callback_end);
  }
  return begin + n;
}

static void
call_back_well(td_tape_script *script) {
  call_back(script, 3);
}

/* As older tapes have it. */
static void
call_back_unannounced(td_tape_script *script) {
  size_t first = call_back(script, 1);
  td_script_drop(script, first - 1);
}

static void
call_back_too_often(td_tape_script *script) {
  size_t first = call_back(script, 2);
  td_script_drop(script, first - 1);
}

static void
call_back_too_seldom(td_tape_script *script) {
  size_t first = call_back(script, 2);
  td_script_drop(script, first + 2);
  td_script_drop(script, first + 2);
}

static void
call_back_backwards(td_tape_script *script) {
  size_t first = call_back(script, 2);
  script->events[first].final_callback.owner = 1;
  script->events[first + 2].final_callback.owner = 0;
}

/* The callback is queued, called and over before the sixth node begins. */
static void
call_back_early(td_tape_script *script) {
  size_t first = call_back(script, 1), node = td_script_find(script, TD_EVENT_node_begin, 5);
  for (size_t i = 0; i < 3; i++)
    td_script_insert_copy(script, node + i, first - 1 + 2 * i);
  for (size_t i = 0; i < 3; i++)
    td_script_drop(script, first + 2);
}

static void
call_back_after_an_error(td_tape_script *script) {
  size_t first = call_back(script, 1);
  insert_new(script, first, TD_EVENT_error)->error.node = TD_NONE;
}

static void
call_back_ends_twice(td_tape_script *script) {
  size_t end = call_back(script, 1) + 1;
  td_script_insert_copy(script, end, end);
}

/* The thread waits inside the fourth node for a stream, and inside that for an operation. Returns
 * where the first wait begins. */
static size_t
wait_inside(td_tape_script *script) {
  size_t at = td_script_find(script, TD_EVENT_node_end, 3);
  insert_new(script, at, TD_EVENT_synchronize_begin)->synchronize_begin.stream = 1;
  insert_new(script, at + 1, TD_EVENT_collective_begin);
  insert_new(script, at + 2, TD_EVENT_collective_end);
  insert_new(script, at + 3, TD_EVENT_synchronize_end)->synchronize_end.stream = 1;
  return at;
}

static void
wait_well(td_tape_script *script) {
  wait_inside(script);
}

static void
wait_for_ever(td_tape_script *script) {
  td_script_drop(script, wait_inside(script) + 3);
}

static void
wait_for_another_stream(td_tape_script *script) {
  script->events[wait_inside(script) + 3].synchronize_end.stream = 2;
}

static void
wait_without_begin(td_tape_script *script) {
  td_script_drop(script, wait_inside(script) + 1);
}

/* The first pass has the greater id. The tape ends inside the second, as that of a killed program.
 */
static void
end_in_lesser(td_tape_script *script) {
  for (size_t i = 0; i < script->n; i++) {
    const td_event_type *type = td_event_type_get(script->events[i].event.kind);
    for (size_t field = 0; field < type->n_fields; field++) {
      char *at = (char *)&script->events[i] + type->fields[field].offset;
      if (type->fields[field].type != TD_FIELD_GRAPH_TASK) continue;
      if (*(uint32_t *)(void *)at < 2) *(uint32_t *)(void *)at ^= 1;
    }
  }
  size_t last = td_script_find(script, TD_EVENT_graph_task_begin, 1);
  while (script->events[last].event.kind != TD_EVENT_queue_push)
    last++;
  script->n = last + 1;
}

const td_accepted_bend td_accepted_bends[] = {
    {"pops-reconstructed", reconstruct_pops, "pop-order", 1},
    {"decrements-absent", see_no_decrements, "push-ready", 3},
    {"nodes-alone", see_nodes_alone, "run-popped", 1},
    {"exception", throw_exception, NULL, 3},
    {"pool", take_by_pool, NULL, 2},
    {"early-end", end_early, NULL, 3},
    {"exposed-buffer", add_to_exposed, NULL, 1},
    {"final-callbacks", call_back_well, NULL, 3},
    {"final-callbacks-of-old", call_back_unannounced, "final-callbacks", 1},
    {"waits", wait_well, NULL, 1},
    {"ends-in-a-pass", end_in_lesser, NULL, 1},
};

const td_broken_bend td_broken_bends[] = {
    {"swapped-pops", td_script_swap_pops, "pop-order queue_pop", 1},
    {"swapped-pops-of-devices", td_script_swap_pops, "pop-order queue_pop", 3},
    {"dropped-push", drop_push, "pop-pushed queue_pop", 1},
    {"dropped-pop", drop_pop, "push-popped queue_push", 1},
    {"added-to-hidden", add_to_hidden, "exposed-buffer buffer_add", 1},
    {"exposed-to-another", expose_to_another, "exposed-buffer buffer_expose", 1},
    {"exposed-nothing", expose_nothing, "exposed-buffer buffer_expose", 1},
    {"callback-of-nobody", call_back_too_often, "final-callbacks final_callback", 1},
    {"callback-forgotten", call_back_too_seldom, "final-callbacks graph_task_end", 2},
    {"callbacks-swapped", call_back_backwards, "final-callbacks final_callback", 1},
    {"callback-early", call_back_early, "final-callbacks node_begin", 1},
    {"callback-after-error", call_back_after_an_error, "final-callbacks final_callback", 1},
    {"callback-ends-twice", call_back_ends_twice, "nesting final_callback_end", 1},
    {"wait-for-ever", wait_for_ever, "nesting node_end", 1},
    {"wait-for-another-stream", wait_for_another_stream, "nesting synchronize_end", 1},
    {"wait-without-begin", wait_without_begin, "nesting collective_end", 1},
    {"dropped-pop-runs", drop_pop, "run-popped node_begin", 1},
    {"second-push", push_twice, "push-once queue_push", 2},
    {"early-push", push_early, "push-ready queue_push", 1},
    {"changed-size", change_size, "queue-size queue_pop", 1},
    {"dropped-dependency", drop_dependency, "dependency dependency_dec", 1},
    {"dropped-decrement", drop_decrement, "dependency dependency_dec", 1},
    {"changed-left", change_left, "dependency dependency_dec", 3},
    {"parked-though-ready", park_ready, "park-waiting buffer_park", 1},
    {"parked-for-ever", park_for_ever, "not-ready-empty graph_task_end", 1},
    {"changed-outstanding", change_outstanding, "outstanding outstanding", 1},
    {"dropped-outstanding", drop_outstanding, "outstanding graph_task_end", 3},
    {"ran-another", run_another, "run-popped node_begin", 1},
    {"ran-twice", run_twice, "run-popped node_begin", 1},
    {"crossed-spans", swap_ends, "nesting node_end", 3},
    {"stolen", steal, "run-thread queue_pop", 3},
    {"stolen-from-cpu", steal_from_cpu, "run-owner queue_pop", 2},
    {"locked-twice", lock_twice, "lock-exclusive lock_acquired", 3},
    {"released-by-another", release_foreign, "lock-exclusive lock_released", 3},
    {"lost", lose_events, "complete dropped", 2},
};

const size_t td_n_accepted_bends = TD_N_ELEMENTS(td_accepted_bends);
const size_t td_n_broken_bends = TD_N_ELEMENTS(td_broken_bends);
