/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Predicted and actual order on made tapes: the simulator of the fixture has one thread for each
 * queue, so its order is the predicted one with one thread; and tapes that no engine makes. */
#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/profile/order/order.h"
#include "engine/replay/segments.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *
own_path(void) {
  return g_strdup_printf("%s/tapedeck-order-%d.tape", g_get_tmp_dir(), (int)getpid());
}

static td_order
order_of(const char *path) {
  const td_order_wish wish = {
      .graph_task = TD_NONE, .keeps_nodes = true, .n_explained = UINT32_MAX};
  td_order order;
  td_tape *tape;
  g_assert_cmpint(td_tape_open(path, &tape, NULL), ==, TD_OK);
  g_assert_cmpint(td_order_make(tape, &wish, &order, NULL), ==, TD_OK);
  td_tape_close(tape);
  return order;
}

static void
test_one_thread(void) {
  g_autofree char *path = own_path();
  for (uint32_t seed = 0; seed < 30; seed++) {
    td_tape_plan plan = {.n_nodes = 10 + 5 * seed,
                         .n_threads = 1,
                         .n_passes = 3,
                         .trains = seed % 2,
                         .hooked = seed % 3 == 0,
                         .seed = seed};
    g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
    td_order order = order_of(path);
    g_assert_cmpuint(order.n_passes, ==, 3);
    g_assert_cmpuint(order.n_equal, ==, 3);
    g_assert_cmpuint(order.n_early, ==, 0);
    g_assert_cmpint(order.is_observed, ==, !plan.hooked);
    for (uint32_t i = 0; i < 3; i++)
      g_assert_cmpmem(order.passes[i].popped, order.passes[i].n_popped * sizeof(uint32_t),
                      order.passes[i].predicted, order.passes[i].n_predicted * sizeof(uint32_t));
    td_order_fini(&order);
  }
  g_unlink(path);
}

static void
assert_same(const td_order *a, const td_order *b) {
  g_assert_cmpuint(a->n_passes, ==, b->n_passes);
  g_assert_cmpuint(a->n_kept, ==, b->n_kept);
  for (uint32_t i = 0; i < a->n_kept; i++) {
    const td_order_pass *left = &a->passes[i], *right = &b->passes[i];
    g_assert_cmpuint(left->graph_task, ==, right->graph_task);
    g_assert_cmpmem(left->popped, left->n_popped * sizeof(uint32_t), right->popped,
                    right->n_popped * sizeof(uint32_t));
    g_assert_cmpmem(left->predicted, left->n_predicted * sizeof(uint32_t), right->predicted,
                    right->n_predicted * sizeof(uint32_t));
    g_assert_cmpint(left->is_equal, ==, right->is_equal);
    g_assert_cmpuint(left->divergence.seq, ==, right->divergence.seq);
    g_assert_cmpint(left->divergence.cause, ==, right->divergence.cause);
    g_assert_cmpstr(left->divergence.text, ==, right->divergence.text);
  }
}

/* Threads make orders differ. A tape that is cut says the same. */
static void
test_segments(void) {
  g_autofree char *path = own_path();
  uint32_t n_different = 0;
  for (uint32_t seed = 0; seed < 12; seed++) {
    td_tape_plan plan = {.n_nodes = 60,
                         .n_threads = 1 + seed % 4,
                         .n_passes = 6,
                         .trains = true,
                         .seed = seed,
                         .n_programs = 1 + seed % 2};
    g_assert_cmpint(td_tape_make(&plan, path, NULL), ==, TD_OK);
    td_order whole = order_of(path);
    g_assert_cmpint(td_segments_add(path, 200, NULL), ==, TD_OK);
    td_order cut = order_of(path);
    assert_same(&whole, &cut);
    n_different += whole.n_passes - whole.n_equal;
    td_order_fini(&whole);
    td_order_fini(&cut);
  }
  g_assert_cmpuint(n_different, >, 5);
  g_unlink(path);
}

/* ---- tapes that no engine makes ---- */

static size_t
find_event(const td_tape_script *script, td_event_kind kind, uint32_t n) {
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == kind && n-- == 0) return i;
  g_assert_not_reached();
}

static void
insert(td_tape_script *script, size_t at, const td_any_event *event) {
  TD_GROW(script->events, script->n, script->capacity);
  for (size_t i = script->n++; i > at; i--)
    script->events[i] = script->events[i - 1];
  script->events[at] = *event;
}

static td_any_event
new_event(const td_tape_script *script, size_t at, td_event_kind kind) {
  td_any_event event = {.event = script->events[at].event};
  event.event.kind = (uint16_t)kind;
  event.event.size = td_event_type_get(kind)->size;
  return event;
}

static uint64_t
number_of(const td_tape_script *script, uint32_t node) {
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind == TD_EVENT_node_new &&
        script->events[i].node_new.node == node)
      return script->events[i].node_new.sequence_nr;
  g_assert_not_reached();
}

/* A pop with others in the queue, whose node has another number than that of the next pop. */
static void
swap_pops(td_tape_script *script) {
  for (uint32_t n = 1;; n++) {
    td_any_event *first = &script->events[find_event(script, TD_EVENT_queue_pop, n)];
    td_any_event *second = &script->events[find_event(script, TD_EVENT_queue_pop, n + 1)];
    if (!first->queue_pop.size || !second->queue_pop.size) continue;
    uint32_t node = first->queue_pop.node, other = second->queue_pop.node;
    bool was_pushed = false;
    for (size_t i = 0; &script->events[i] < first; i++)
      was_pushed |= script->events[i].event.kind == TD_EVENT_queue_push &&
                    script->events[i].queue_push.node == other;
    for (td_any_event *event = first; event < second; event++)
      was_pushed &= event->event.kind != TD_EVENT_queue_push || event->queue_push.node != other;
    if (!was_pushed || number_of(script, node) == number_of(script, other)) continue;
    first->queue_pop.node = other;
    second->queue_pop.node = node;
    return;
  }
}

static void
swap_unseen(td_tape_script *script) {
  swap_pops(script);
  td_any_event known = new_event(script, 0, TD_EVENT_known);
  known.known.kind = td_intern("queue_pop");
  known.known.how = TD_knowledge_reconstructed;
  insert(script, 0, &known);
}

static void
swap_lossy(td_tape_script *script) {
  swap_pops(script);
  td_any_event dropped = new_event(script, 0, TD_EVENT_dropped);
  dropped.dropped.count = 3;
  insert(script, find_event(script, TD_EVENT_graph_task_begin, 0), &dropped);
}

/* The pass says that it needs its root alone, and runs all the same. */
static void
restrict_pass(td_tape_script *script) {
  size_t begin = find_event(script, TD_EVENT_graph_task_begin, 0);
  td_any_event info = new_event(script, begin, TD_EVENT_exec_info);
  info.exec_info.graph_task = script->events[begin].graph_task_begin.graph_task;
  info.exec_info.node = script->events[begin].graph_task_begin.root;
  info.exec_info.needed = true;
  insert(script, begin + 1, &info);
}

static void
forget_edges(td_tape_script *script) {
  size_t kept = 0;
  for (size_t i = 0; i < script->n; i++)
    if (script->events[i].event.kind != TD_EVENT_edge_new)
      script->events[kept++] = script->events[i];
  script->n = kept;
}

typedef struct bend {
  const char *name;
  void (*bend)(td_tape_script *script);
  td_order_cause cause;
  const char *says;
} bend;

static const bend bends[] = {
    {"out-of-turn", swap_pops, TD_ORDER_CAUSE_out_of_turn, "goes first by its sequence_nr."},
    {"reconstructed", swap_unseen, TD_ORDER_CAUSE_unknown, "reconstructed"},
    {"lossy", swap_lossy, TD_ORDER_CAUSE_unknown, "lost events"},
    {"restriction", restrict_pass, TD_ORDER_CAUSE_restriction, "is not needed"},
    {"no-edges", forget_edges, TD_ORDER_CAUSE_unknown, "not where the graph"},
};

static void
test_bent(const void *data) {
  const bend *bend = data;
  g_autofree char *path = own_path();
  const td_tape_plan plan = {.n_nodes = 40, .n_threads = 1, .n_passes = 1, .seed = 3};
  td_tape_script script;
  td_tape_script_make(&script, &plan);
  bend->bend(&script);
  g_assert_cmpint(td_tape_script_write(&script, path, NULL), ==, TD_OK);
  td_tape_script_fini(&script);
  td_order order = order_of(path);
  g_assert_cmpuint(order.n_passes, ==, 1);
  g_assert_false(order.passes[0].is_equal);
  const td_order_divergence *divergence = &order.passes[0].divergence;
  g_assert_cmpstr(td_order_cause_name(divergence->cause), ==, td_order_cause_name(bend->cause));
  if (!strstr(divergence->text, bend->says)) g_error("%s: %s", bend->name, divergence->text);
  td_order_fini(&order);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/profile/order/one-thread", test_one_thread);
  g_test_add_func("/profile/order/segments", test_segments);
  for (size_t i = 0; i < G_N_ELEMENTS(bends); i++) {
    g_autofree char *name = g_strdup_printf("/profile/order/bent/%s", bends[i].name);
    g_test_add_data_func(name, &bends[i], test_bent);
  }
  return g_test_run();
}
