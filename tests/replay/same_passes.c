/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/replay/same_passes.h"

#include <glib.h>

static void
assert_same_arrivals(const td_state *part, const td_task_now *one, const td_state *whole,
                     const td_task_now *other) {
  uint32_t i = one->first_arrival, k = other->first_arrival;
  while (i != TD_NONE && k != TD_NONE) {
    const td_arrival_now *left = td_state_arrival(part, i), *right = td_state_arrival(whole, k);
    g_assert_cmpuint(left->from, ==, right->from);
    g_assert_cmpuint(left->input_nr, ==, right->input_nr);
    g_assert_cmpuint(left->bytes, ==, right->bytes);
    g_assert_cmpuint(left->mode, ==, right->mode);
    i = left->next;
    k = right->next;
  }
  g_assert_cmpuint(i, ==, k);
}

static void
assert_same_task(const td_state *part, const td_state *whole, const td_task_now *other) {
  uint32_t task = td_state_task_at(part, other->node, other->graph_task);
  g_assert_cmpuint(task, !=, TD_NONE);
  const td_task_now *one = td_state_task(part, task);
  g_assert_cmpuint(one->dependencies, ==, other->dependencies);
  g_assert_cmpuint(one->expected, ==, other->expected);
  g_assert_cmpuint(one->queue, ==, other->queue);
  g_assert_cmpuint(one->parked, ==, other->parked);
  assert_same_arrivals(part, one, whole, other);
}

static void
assert_same_pass(const td_replay *replay, const td_replay *of_whole, uint32_t row) {
  const td_state *part = td_replay_state(replay), *whole = td_replay_state(of_whole);
  uint32_t id = td_replay_catalog(of_whole)->graph_task_rows[row].id;
  const td_graph_task_now *other = td_state_graph_task_row(whole, row);
  if (other->status != RUNNING) return;
  g_assert_true(td_catalog_has_graph_task(td_replay_catalog(replay), id));
  const td_graph_task_now *one = td_state_graph_task(part, id);
  g_assert_cmpuint(one->status, ==, other->status);
  g_assert_cmpuint(one->outstanding, ==, other->outstanding);
  g_assert_cmpuint(one->n_done, ==, other->n_done);
  g_assert_cmpuint(one->n_parked, ==, other->n_parked);
  g_assert_cmpuint(one->n_live, ==, other->n_live);
  for (uint32_t i = other->first_live; i; i = td_state_task(whole, i - 1)->pass_next + 1)
    assert_same_task(part, whole, td_state_task(whole, i - 1));
}

static void
assert_same_facts_of_pass(const td_catalog *part, const td_catalog *whole, uint32_t row) {
  const td_catalog_graph_task *one = &part->graph_task_rows[row];
  const td_catalog_graph_task *other = td_catalog_graph_task_get(whole, one->id);
  if (one->begin_seq == 0 && one->owner == TD_NONE) return;
  g_assert_cmpuint(one->depth, ==, other->depth);
  g_assert_cmpuint(one->owner, ==, other->owner);
  g_assert_cmpuint(one->root, ==, other->root);
  g_assert_cmpuint(one->n_roots, ==, other->n_roots);
  g_assert_cmpuint(one->n_outputs, ==, other->n_outputs);
  g_assert_cmpuint(one->begin_seq, ==, other->begin_seq);
  g_assert_cmpuint(one->outer, ==, other->outer);
  g_assert_cmpuint(one->caller, ==, other->caller);
  for (uint32_t i = 0; i < one->n_ran; i++)
    g_assert_cmpuint(part->ran[one->first_ran + i], ==, whole->ran[other->first_ran + i]);
}

static void
assert_same_parked(const td_replay *part, const td_replay *whole) {
  const td_state *left = td_replay_state(part), *right = td_replay_state(whole);
  uint32_t i = left->header->first_parked, k = right->header->first_parked;
  while (i != TD_NONE && k != TD_NONE) {
    const td_task_now *one = td_state_task(left, i), *other = td_state_task(right, k);
    g_assert_cmpuint(one->node, ==, other->node);
    g_assert_cmpuint(one->graph_task, ==, other->graph_task);
    i = one->parked_next;
    k = other->parked_next;
  }
  g_assert_cmpuint(i, ==, k);
}

void
assert_same_passes(const td_replay *part, const td_replay *whole) {
  for (uint32_t row = 0; row < td_replay_catalog(whole)->n_graph_tasks; row++)
    assert_same_pass(part, whole, row);
  for (uint32_t row = 0; row < td_replay_catalog(part)->n_graph_tasks; row++)
    assert_same_facts_of_pass(td_replay_catalog(part), td_replay_catalog(whole), row);
  assert_same_parked(part, whole);
}
