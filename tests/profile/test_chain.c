/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chains back to a cause: each step is earlier than the one before, gradients come along edges, a
 * pop leads to the begin of its pass, and a NaN to its birth. */
#include "engine/base/alloc.h"
#include "engine/profile/chain/chain.h"
#include "engine/profile/chain/chain_words.h"
#include "tests/fixtures/tape_maker.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static td_replay *
open_script(const td_tape_script *script) {
  g_autofree char *path =
      g_strdup_printf("%s/tapedeck-chain-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_replay *replay = NULL;
  g_assert_cmpint(td_tape_script_write(script, path, NULL), ==, TD_OK);
  g_assert_cmpint(td_replay_open(path, NULL, NULL, &replay, NULL), ==, TD_OK);
  g_unlink(path);
  return replay;
}

/* What holds of any chain of any tape. */
static void
check_shape(td_replay *replay, const td_chain *chain, bool is_about_event) {
  g_assert_cmpuint(chain->n, >, 0);
  g_assert_cmpuint(chain->n, <=, TD_CHAIN_KEPT);
  for (uint32_t i = 0; i < chain->n; i++) {
    const td_chain_step *step = &chain->steps[i];
    g_autofree char *text =
        td_chain_words(td_replay_catalog(replay), td_replay_tape(replay), chain, i);
    g_assert_cmpuint(strlen(text), >, 10);
    g_assert_true(g_str_has_suffix(text, ".") && !strchr(text, '\n'));
    if (i == 0) continue;
    bool is_at_moment = step->link == TD_CHAIN_wait && step->seq == chain->steps[0].seq;
    bool may_be_equal = step->link == TD_CHAIN_end || !is_about_event || is_at_moment;
    g_assert_true(step->seq < step[-1].seq || (may_be_equal && step->seq == step[-1].seq));
  }
  td_chain_link last = chain->steps[chain->n - 1].link;
  g_assert_true(chain->end == TD_CHAIN_END_born ? last == TD_CHAIN_value : last == TD_CHAIN_end);
}

static void
make(td_replay *replay, uint64_t seq, uint32_t node, td_chain *chain) {
  uint64_t position = td_replay_position(replay);
  g_assert_cmpint(td_chain_make(replay, seq, node, chain, NULL), ==, TD_OK);
  g_assert_cmpuint(td_replay_position(replay), ==, position);
  check_shape(replay, chain, node == TD_NONE);
}

/* Random passes */

static bool
has_edge(const td_catalog *catalog, uint32_t from, uint32_t to) {
  uint32_t n;
  td_catalog_edges_between(catalog, from, to, &n);
  return n > 0;
}

typedef struct task {
  uint32_t node, graph_task;
} task;

static bool
is_pop_of(const td_any_event *event, void *data) {
  const task *wanted = data;
  return event->event.kind == TD_EVENT_queue_pop && event->queue_pop.node == wanted->node &&
         event->queue_pop.graph_task == wanted->graph_task;
}

/* The task that lay there left the same queue later. */
static void
check_queue(td_replay *replay, const td_chain_step *step, const td_event_queue_pop *pop) {
  task wanted = {step->to, pop->graph_task};
  td_any_event later;
  uint64_t seq;
  g_assert_cmpuint(pop->node, ==, step->node);
  g_assert_cmpint(td_replay_find(replay, step->seq, true, is_pop_of, &wanted, &seq, NULL), ==,
                  TD_OK);
  g_assert_cmpint(td_replay_event(replay, seq, &later, NULL), ==, TD_OK);
  g_assert_cmpuint(later.queue_pop.queue, ==, pop->queue);
}

/* Each step explains the node of the step before, and tells what the tape has. */
static void
check_links(td_replay *replay, const td_chain *chain) {
  const td_catalog *catalog = td_replay_catalog(replay);
  td_any_event event;
  uint32_t node = chain->steps[0].node;
  for (uint32_t i = 1; i < chain->n; i++) {
    const td_chain_step *step = &chain->steps[i];
    g_assert_cmpint(td_replay_event(replay, step->seq, &event, NULL), ==, TD_OK);
    if (step->link == TD_CHAIN_wait) {
      g_assert_cmpint(event.event.kind, ==, TD_EVENT_lock_acquired);
      g_assert_cmpuint(event.event.thread, ==, step->thread);
      continue;
    }
    if (step->link != TD_CHAIN_end) g_assert_cmpuint(step->to, ==, node);
    node = step->node;
    if (step->link == TD_CHAIN_data) {
      g_assert_true(has_edge(catalog, step->node, step->to));
      g_assert_cmpuint(catalog->edges[step->edge].from, ==, step->node);
      g_assert_cmpuint(catalog->edges[step->edge].to, ==, step->to);
      g_assert_cmpint(event.event.kind, ==, TD_EVENT_node_end);
      g_assert_cmpuint(event.node_end.node, ==, step->node);
      g_assert_cmpuint(step->left, ==, 0);
    } else if (step->link == TD_CHAIN_queue) {
      g_assert_cmpint(event.event.kind, ==, TD_EVENT_queue_pop);
      check_queue(replay, step, &event.queue_pop);
    }
  }
}

/* Of these tapes, no pass lies in another one. */
static void
check_pop(td_replay *replay, uint64_t seq, const td_event_queue_pop *pop, uint32_t *n_links) {
  const td_catalog_graph_task *pass =
      td_catalog_graph_task_get(td_replay_catalog(replay), pop->graph_task);
  td_chain chain;
  make(replay, seq, TD_NONE, &chain);
  check_links(replay, &chain);
  g_assert_cmpint(chain.end, ==, TD_CHAIN_END_pass);
  g_assert_cmpuint(chain.steps[chain.n - 1].seq, ==, pass->begin_seq);
  g_assert_cmpuint(chain.steps[chain.n - 1].node, ==, pass->root);
  for (uint32_t i = 0; i < chain.n; i++)
    n_links[chain.steps[i].link]++;
  td_chain_fini(&chain);
}

static void
check_pops(const td_tape_plan *plan, uint32_t *n_links) {
  td_tape_script script;
  td_any_event event;
  uint32_t n_pops = 0;
  td_tape_script_make(&script, plan);
  td_replay *replay = open_script(&script);
  for (uint64_t seq = 0; seq < td_replay_end(replay); seq++) {
    g_assert_cmpint(td_replay_event(replay, seq, &event, NULL), ==, TD_OK);
    if (event.event.kind != TD_EVENT_queue_pop || event.queue_pop.node == TD_NONE) continue;
    check_pop(replay, seq, &event.queue_pop, n_links);
    n_pops++;
  }
  g_assert_cmpuint(n_pops, >, plan->n_nodes / 2);
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

static void
test_pops(void) {
  uint32_t n_links[TD_N_CHAIN_LINKS] = {0};
  for (uint32_t seed = 1; seed <= 12; seed++) {
    td_tape_plan plan = {.n_nodes = 40,
                         .n_threads = 1 + seed % 3,
                         .n_passes = 2,
                         .trains = seed % 2,
                         .contends = seed % 4 > 1,
                         .seed = seed};
    check_pops(&plan, n_links);
  }
  g_assert_cmpuint(n_links[TD_CHAIN_data], >, 100);
  g_assert_cmpuint(n_links[TD_CHAIN_queue], >, 100);
  g_assert_cmpuint(n_links[TD_CHAIN_wait], >, 20);
}

/* Planted values */

/* Is there a way along edges from a node where a value was born? Sweeps until nothing changes. */
static void
taint(const td_catalog *catalog, bool *tainted) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < catalog->n_edges; i++) {
      if (!tainted[catalog->edges[i].from] || tainted[catalog->edges[i].to]) continue;
      tainted[catalog->edges[i].to] = changed = true;
    }
  }
}

/* The node begins: a value that reached it was born before. */
static void
check_value(td_replay *replay, uint64_t seq, uint32_t node, bool is_tainted) {
  td_chain chain;
  td_any_event event;
  make(replay, seq, TD_NONE, &chain);
  g_assert_cmpint(chain.end, ==, is_tainted ? TD_CHAIN_END_born : TD_CHAIN_END_pass);
  if (is_tainted) {
    const td_chain_step *birth = &chain.steps[chain.n - 1];
    g_assert_cmpint(td_replay_event(replay, birth->seq, &event, NULL), ==, TD_OK);
    g_assert_cmpint(event.event.kind, ==, TD_EVENT_anomaly);
    g_assert_cmpuint(event.anomaly.node, ==, birth->node);
    for (uint32_t i = 1; i + 1 < chain.n; i++)
      g_assert_true(has_edge(td_replay_catalog(replay), chain.steps[i].node, chain.steps[i].to));
  }
  td_chain_fini(&chain);
}

static void
test_planted(void) {
  uint32_t counts[2] = {0};
  for (uint32_t seed = 1; seed <= 10; seed++) {
    td_tape_plan plan = {
        .n_nodes = 40, .n_threads = 1 + seed % 2, .n_passes = 1, .seed = seed, .n_anomalies = 2};
    td_tape_script script;
    td_any_event event;
    td_tape_script_make(&script, &plan);
    td_replay *replay = open_script(&script);
    const td_catalog *catalog = td_replay_catalog(replay);
    g_autofree bool *tainted = g_new0(bool, catalog->n_nodes);
    for (uint64_t seq = 0; seq < td_replay_end(replay); seq++) {
      g_assert_cmpint(td_replay_event(replay, seq, &event, NULL), ==, TD_OK);
      if (event.event.kind == TD_EVENT_anomaly) tainted[event.anomaly.node] = true;
      taint(catalog, tainted);
      if (event.event.kind != TD_EVENT_node_begin) continue;
      counts[tainted[event.node_begin.node]]++;
      check_value(replay, seq, event.node_begin.node, tainted[event.node_begin.node]);
    }
    td_replay_close(replay);
    td_tape_script_fini(&script);
  }
  g_assert_cmpuint(counts[false], >, 50);
  g_assert_cmpuint(counts[true], >, 20);
}

/* Waits: a node that has begun to wait leads to one that runs or lies in a queue. */
static void
test_waits(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 1, .seed = 5};
  td_tape_script script;
  uint32_t n_waits = 0;
  td_tape_script_make(&script, &plan);
  td_replay *replay = open_script(&script);
  const td_catalog *catalog = td_replay_catalog(replay);
  for (uint64_t seq = 0; seq < td_replay_end(replay); seq++)
    for (uint32_t i = 0; i < catalog->n_nodes; i++) {
      uint32_t node = catalog->node_rows[i].id, before = node;
      td_chain chain;
      make(replay, seq, node, &chain);
      for (uint32_t k = 1; k < chain.n && chain.steps[k].link == TD_CHAIN_wait; k++) {
        const td_chain_step *step = &chain.steps[k];
        if (step->lock != TD_NONE) break;
        g_assert_cmpuint(step->seq, ==, seq);
        g_assert_true(has_edge(catalog, step->node, before));
        before = step->node;
        n_waits++;
      }
      td_chain_fini(&chain);
    }
  g_assert_cmpuint(n_waits, >, 100);
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

/* With fewer events to read, a chain is the same or says that it is unfinished. */

static bool
is_same(const td_chain *a, const td_chain *b) {
  if (a->n != b->n || a->end != b->end) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->steps[i].seq != b->steps[i].seq || a->steps[i].node != b->steps[i].node ||
        a->steps[i].link != b->steps[i].link)
      return false;
  return true;
}

static void
test_within(void) {
  td_tape_plan plan = {
      .n_nodes = 40, .n_threads = 3, .n_passes = 2, .contends = true, .seed = 9, .n_anomalies = 2};
  td_tape_script script;
  uint32_t counts[2] = {0};
  td_tape_script_make(&script, &plan);
  td_replay *replay = open_script(&script);
  for (uint64_t seq = 0; seq < td_replay_end(replay); seq++) {
    td_chain whole, part;
    make(replay, seq, TD_NONE, &whole);
    g_assert_false(whole.is_unfinished);
    g_assert_cmpint(td_chain_make_within(replay, seq, TD_NONE, seq % 60, &part, NULL), ==, TD_OK);
    counts[part.is_unfinished]++;
    g_assert_true(part.is_unfinished || is_same(&whole, &part));
    td_chain_fini(&whole);
    td_chain_fini(&part);
  }
  g_assert_cmpuint(counts[false], >, 20);
  g_assert_cmpuint(counts[true], >, 100);
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

/* Tapes that make no sense */

static void
test_bent(void) {
  td_tape_plan plan = {.n_nodes = 40,
                       .n_threads = 3,
                       .n_passes = 2,
                       .contends = true,
                       .seed = 8,
                       .n_anomalies = 3,
                       .overflows = true};
  uint64_t random = 4;
  for (uint32_t round = 0; round < 12; round++) {
    td_tape_script script;
    td_tape_script_make(&script, &plan);
    if (round) td_tape_script_bend(&script, &random);
    td_replay *replay = open_script(&script);
    const td_catalog *catalog = td_replay_catalog(replay);
    for (uint64_t seq = 0; seq < td_replay_end(replay); seq++) {
      td_chain chain;
      make(replay, seq, TD_NONE, &chain);
      td_chain_fini(&chain);
      make(replay, seq, catalog->node_rows[seq % catalog->n_nodes].id, &chain);
      td_chain_fini(&chain);
    }
    td_replay_close(replay);
    td_tape_script_fini(&script);
  }
}

/* A pass of more nodes than a chain keeps. */
static void
tell_run(td_tape_script *script, uint32_t node) {
  TELL(script, queue_push, .node = node,
       .reason = node ? TD_push_reason_ready : TD_push_reason_root);
  TELL(script, queue_pop, .node = node);
  TELL(script, node_begin, .node = node);
  TELL(script, node_end, .node = node);
  TELL(script, dependency_dec, .node = node + 1, .by = node);
  TELL(script, buffer_add, .node = node + 1, .from = node);
}

static void
test_long(void) {
  enum { N = TD_CHAIN_KEPT + 500 };
  td_tape_script script = {.n_threads = 1};
  TELL(&script, queue_new, .queue = 0, .device = TD_DEVICE_CPU, .graph_task = TD_NONE, .owner = 0);
  for (uint32_t node = 0; node <= N; node++)
    TELL(&script, node_new, .node = node, .sequence_nr = node, .device = TD_DEVICE_CPU);
  for (uint32_t node = 0; node < N; node++)
    TELL(&script, edge_new, .from = node, .to = node + 1);
  TELL(&script, graph_task_begin, .root = 0, .n_roots = 1);
  for (uint32_t node = 1; node <= N; node++)
    TELL(&script, dependency, .node = node, .count = 1);
  for (uint32_t node = 0; node < N; node++)
    tell_run(&script, node);
  TELL(&script, queue_push, .node = N, .reason = TD_push_reason_ready);
  td_replay *replay = open_script(&script);
  uint64_t last = td_replay_end(replay);
  td_chain chain;
  td_any_event event;
  do
    g_assert_cmpint(td_replay_event(replay, --last, &event, NULL), ==, TD_OK);
  while (event.event.kind != TD_EVENT_queue_push);
  make(replay, last, TD_NONE, &chain);
  g_assert_cmpuint(chain.n, ==, TD_CHAIN_KEPT);
  g_assert_cmpuint(chain.n + chain.n_left_out, ==, N + 2); /* the moment, N nodes, and the end */
  g_assert_cmpint(chain.end, ==, TD_CHAIN_END_pass);
  g_assert_cmpuint(chain.steps[1].node, ==, N - 1);
  g_assert_cmpuint(chain.steps[chain.n - 2].node, ==, N - TD_CHAIN_KEPT + 2);
  td_chain_fini(&chain);
  td_replay_close(replay);
  td_tape_script_fini(&script);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/chain/within", test_within);
  g_test_add_func("/chain/pops", test_pops);
  g_test_add_func("/chain/planted", test_planted);
  g_test_add_func("/chain/waits", test_waits);
  g_test_add_func("/chain/bent", test_bent);
  g_test_add_func("/chain/long", test_long);
  return g_test_run();
}
