/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Segments: what a replay of one tells is what a replay of the whole tape tells. */
#include "engine/base/hash.h"
#include "engine/profile/why/why.h"
#include "engine/replay/replay.h"
#include "engine/replay/segments.h"
#include "engine/trace/contents.h"
#include "tests/fixtures/assert_ok.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/replay/same_passes.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The caller frees the path and removes the file. */
static char *
make_tape(const td_tape_plan *plan) {
  char *path = g_strdup_printf("%s/tapedeck-segments-%d.tape", g_get_tmp_dir(), (int)getpid());
  td_error error = {0};
  assert_ok(td_tape_make(plan, path, &error), &error);
  return path;
}

/* A tape that is cut, the same. */
static char *
make_cut_tape(const td_tape_plan *plan, uint64_t least_events) {
  char *path = make_tape(plan);
  td_error error = {0};
  assert_ok(td_segments_add(path, least_events, &error), &error);
  return path;
}

static td_tape *
open_tape(const char *path) {
  td_error error = {0};
  td_tape *tape;
  assert_ok(td_tape_open(path, &tape, &error), &error);
  return tape;
}

static td_replay *
replay_at(const char *path, uint64_t seq) {
  td_error error = {0};
  td_replay *replay;
  td_tape *tape = open_tape(path);
  td_segment segment = td_tape_segment_at(tape, seq);
  assert_ok(td_replay_new(tape, &segment, NULL, NULL, &replay, &error), &error);
  return replay;
}

static td_replay *
replay_whole(const char *path) {
  td_error error = {0};
  td_replay *replay;
  assert_ok(td_replay_open(path, NULL, NULL, &replay, &error), &error);
  return replay;
}

/* ---- the same as the whole ---- */

static void
assert_same_text(const char *left, const char *right) {
  g_assert_cmpstr(left ? left : "", ==, right ? right : "");
}

static void
assert_same_edges(const td_catalog *part, const td_catalog_node *one, const td_catalog *whole,
                  const td_catalog_node *other) {
  g_assert_cmpuint(one->n_out, ==, other->n_out);
  for (uint32_t i = 0; i < one->n_out; i++)
    g_assert_cmpmem(&part->edges[one->first_out + i], sizeof(td_catalog_edge),
                    &whole->edges[other->first_out + i], sizeof(td_catalog_edge));
}

static void
assert_same_facts(const td_catalog *part, const td_catalog_node *one, const td_catalog *whole) {
  const td_catalog_node *other = td_catalog_node_find(whole, one->id);
  g_assert_nonnull(other);
  if (!other) return;
  assert_same_text(one->name, other->name);
  assert_same_text(one->label, other->label);
  assert_same_text(one->module, other->module);
  g_assert_cmpuint(one->created_seq, ==, other->created_seq);
  g_assert_cmpuint(one->sequence_nr, ==, other->sequence_nr);
  g_assert_cmpuint(one->thread, ==, other->thread);
  g_assert_cmpuint(one->n_metadata, ==, other->n_metadata);
  assert_same_edges(part, one, whole, other);
}

/* The pass that a node took part in may be over and forgotten. */
static void
assert_same_node(const td_replay *part, const td_replay *whole, uint32_t id) {
  const td_node_now *one = td_state_node(td_replay_state(part), id);
  const td_node_now *other = td_state_node(td_replay_state(whole), id);
  const td_run_now *run = td_state_run(td_replay_state(part), id);
  const td_run_now *other_run = td_state_run(td_replay_state(whole), id);
  g_assert_cmpuint(one->state, ==, other->state);
  g_assert_cmpuint(one->anomaly, ==, other->anomaly);
  g_assert_cmpuint(one->birthplace, ==, other->birthplace);
  g_assert_cmpuint(one->thread, ==, other->thread);
  g_assert_cmpuint(run->begin_ns, ==, other_run->begin_ns);
  g_assert_cmpuint(run->end_ns, ==, other_run->end_ns);
  g_assert_cmpuint(one->task == TD_NONE, ==, other->task == TD_NONE);
}

static void
assert_same_queue(const td_replay *part, const td_replay *whole, uint32_t queue) {
  const td_queue_now *one = td_state_queue(td_replay_state(part), queue);
  const td_queue_now *other = td_state_queue(td_replay_state(whole), queue);
  g_assert_cmpuint(one->n_pushed, ==, other->n_pushed);
  g_assert_cmpuint(one->n_popped, ==, other->n_popped);
  g_assert_cmpuint(one->last_pop_seq, ==, other->last_pop_seq);
  g_assert_cmpuint(one->last_depth, ==, other->last_depth);
  g_assert_cmpuint(one->n, ==, other->n);
  g_autofree td_queue_entry *in_one = g_new(td_queue_entry, one->n + 1);
  g_autofree td_queue_entry *in_other = g_new(td_queue_entry, one->n + 1);
  td_state_queue_order(td_replay_state(part), td_replay_catalog(part), queue, in_one);
  td_state_queue_order(td_replay_state(whole), td_replay_catalog(whole), queue, in_other);
  for (uint32_t i = 0; i < one->n; i++) {
    g_assert_cmpuint(in_one[i].node, ==, in_other[i].node);
    g_assert_cmpuint(in_one[i].graph_task, ==, in_other[i].graph_task);
    g_assert_cmpuint(in_one[i].kind, ==, in_other[i].kind);
    g_assert_cmpuint(in_one[i].order, ==, in_other[i].order);
  }
}

static void
assert_same_thread(const td_replay *part, const td_replay *whole, uint32_t thread) {
  const td_thread_now *one = td_state_thread(td_replay_state(part), thread);
  const td_thread_now *other = td_state_thread(td_replay_state(whole), thread);
  g_assert_cmpuint(one->state, ==, other->state);
  g_assert_cmpuint(one->lock, ==, other->lock);
  g_assert_cmpuint(one->since_ns, ==, other->since_ns);
  if (!td_catalog_has_graph_task(td_replay_catalog(part), other->graph_task)) return;
  if (td_state_graph_task(td_replay_state(part), other->graph_task)->status != RUNNING) return;
  g_assert_cmpuint(one->graph_task, ==, other->graph_task);
  g_assert_cmpuint(one->node, ==, other->node);
}

/* What lives in the whole tape is in the segment too. */
static void
assert_none_is_missing(const td_replay *part, const td_replay *whole) {
  const td_catalog *all = td_replay_catalog(whole);
  for (uint32_t row = 0; row < all->n_nodes; row++) {
    uint8_t state = td_state_node_row(td_replay_state(whole), row)->state;
    if (state == TD_NODE_absent || state == TD_NODE_released) continue;
    g_assert_true(td_catalog_has_node(td_replay_catalog(part), all->node_rows[row].id));
  }
}

/* What began in an earlier segment is on the part of the tape no more, and the part says so. */
static void
cut_off_unknown(char *of_part, char *of_whole) {
  char *unknown = strstr(of_part, " Why it lay there is not known");
  char *known = unknown ? strstr(of_whole, " It lay there for ") : NULL;
  if (unknown) *unknown = '\0';
  if (known) *known = '\0';
}

static void
assert_same_why(td_replay *part, td_replay *whole, uint64_t seq) {
  td_error error = {0};
  char *one, *other;
  assert_ok(td_why_at(part, seq, &one, &error), &error);
  assert_ok(td_why_at(whole, seq, &other, &error), &error);
  cut_off_unknown(one, other);
  g_assert_cmpstr(one, ==, other);
  free(one);
  free(other);
}

/* The segment has an edge to the node, but the node was freed before. */
static bool
is_only_named(const td_replay *part, uint32_t row) {
  return td_replay_catalog(part)->node_rows[row].created_seq == UINT64_MAX &&
         td_state_node_row(td_replay_state(part), row)->state == TD_NODE_absent;
}

static void
assert_same_state(td_replay *part, td_replay *whole) {
  const td_catalog *catalog = td_replay_catalog(part);
  const td_state_header *one = td_replay_state(part)->header;
  const td_state_header *other = td_replay_state(whole)->header;
  g_assert_cmpuint(one->seq, ==, other->seq);
  g_assert_cmpuint(one->time_ns, ==, other->time_ns);
  g_assert_cmpuint(one->n_anomalies, ==, other->n_anomalies);
  g_assert_cmpuint(one->step, ==, other->step);
  for (uint32_t row = 0; row < catalog->n_nodes; row++) {
    if (is_only_named(part, row)) continue;
    assert_same_facts(catalog, &catalog->node_rows[row], td_replay_catalog(whole));
    assert_same_node(part, whole, catalog->node_rows[row].id);
  }
  for (uint32_t i = 0; i < catalog->n_queues; i++)
    assert_same_queue(part, whole, i);
  for (uint32_t i = 0; i < catalog->n_threads; i++)
    if (catalog->threads[i].named) assert_same_thread(part, whole, i);
  assert_same_passes(part, whole);
  assert_none_is_missing(part, whole);
}

/* At the border of a segment and at random places in it. */
static void
assert_same_segment(td_replay *part, td_replay *whole, GRand *random) {
  uint64_t first = td_replay_first(part), end = td_replay_end(part);
  for (int i = 0; i < 40; i++) {
    uint64_t at = first + (uint64_t)(g_rand_double(random) * (double)(end - first + 1));
    if (i == 0) at = first;
    if (i == 1) at = end;
    g_assert_cmpint(td_replay_seek(part, at, NULL), ==, TD_OK);
    g_assert_cmpint(td_replay_seek(whole, at, NULL), ==, TD_OK);
    assert_same_state(part, whole);
    if (at < end) assert_same_why(part, whole, at);
  }
}

static void
test_same_as_whole(const void *data) {
  g_autofree char *path = make_cut_tape(data, 2000);
  td_replay *whole = replay_whole(path);
  uint64_t n_events = td_replay_end(whole), n_segments = 0;
  GRand *random = g_rand_new_with_seed(5);
  for (uint64_t seq = 0; seq < n_events; n_segments++) {
    td_replay *part = replay_at(path, seq);
    g_assert_cmpuint(td_replay_first(part), ==, seq);
    g_assert_cmpuint(td_replay_contradictions(part).n, ==, 0);
    assert_same_segment(part, whole, random);
    seq = td_replay_end(part);
    td_replay_close(part);
  }
  g_assert_cmpuint(n_segments, >, 3);
  g_rand_free(random);
  td_replay_close(whole);
  g_unlink(path);
}

/* ---- inside a segment ---- */

static uint64_t
hash_state(const td_replay *replay) {
  const td_state *state = td_replay_state(replay);
  uint64_t hash = TD_HASH_SEED;
  for (uint32_t page = 0; page < state->n_pages; page++)
    hash = td_hash_bytes(hash, state->pages[page]->elements, sizeof state->pages[page]->elements);
  return hash;
}

static void
test_three_ways(const void *data) {
  g_autofree char *path = make_cut_tape(data, 2000);
  td_replay *replay = replay_at(path, 9000);
  uint64_t first = td_replay_first(replay), n = td_replay_end(replay) - first;
  g_autofree uint64_t *states = g_new(uint64_t, n + 1);
  GRand *random = g_rand_new_with_seed(6);
  g_assert_cmpuint(first, >, 0);
  g_assert_cmpuint(td_replay_position(replay), ==, first);
  for (uint64_t i = 0; i <= n; i++) {
    states[i] = hash_state(replay);
    g_assert_cmpint(td_replay_forward(replay, NULL), ==, i < n ? TD_OK : TD_OUT_OF_RANGE);
  }
  for (uint64_t i = n + 1; i-- > 0;) {
    g_assert_cmpuint(hash_state(replay), ==, states[i]);
    g_assert_cmpint(td_replay_back(replay, NULL), ==, i ? TD_OK : TD_OUT_OF_RANGE);
  }
  for (int i = 0; i < 200; i++) {
    uint64_t at = (uint64_t)(g_rand_double(random) * (double)(n + 1));
    g_assert_cmpint(td_replay_seek(replay, first + at, NULL), ==, TD_OK);
    g_assert_cmpuint(hash_state(replay), ==, states[at]);
  }
  g_assert_cmpint(td_replay_seek(replay, first - 1, NULL), ==, TD_OUT_OF_RANGE);
  g_assert_cmpint(td_replay_seek(replay, first + n + 1, NULL), ==, TD_OUT_OF_RANGE);
  g_rand_free(random);
  td_replay_close(replay);
  g_unlink(path);
}

/* ---- what is not cut, and what lies ---- */

static void
test_short(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 3, .trains = true, .seed = 3};
  g_autofree char *path = make_cut_tape(&plan, TD_SEGMENT_EVENTS);
  td_tape *tape = open_tape(path);
  g_assert_cmpuint(td_tape_n_segments(tape), ==, 0);
  g_assert_cmpuint(td_tape_segment_at(tape, 5).end, ==, td_tape_info_get(tape)->n_events);
  td_tape_close(tape);
  g_unlink(path);
}

/* It can be cut once: what is there already stays. */
static void
test_again(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 60, .trains = true, .seed = 3};
  g_autofree char *path = make_cut_tape(&plan, 2000), *before = NULL, *after = NULL;
  gsize n_before, n_after;
  td_error error = {0};
  g_assert_true(g_file_get_contents(path, &before, &n_before, NULL));
  assert_ok(td_segments_add(path, 1000, &error), &error);
  g_assert_true(g_file_get_contents(path, &after, &n_after, NULL));
  g_assert_cmpmem(before, n_before, after, n_after);
  g_unlink(path);
}

/* One that has a table of contents is looked over by itself, any other one while it gets its table.
 */
static void
test_table_first(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 60, .seed = 3, .n_anomalies = 5};
  g_autofree char *path = make_tape(&plan), *bytes = NULL, *at_once = NULL, *later = NULL;
  gsize n, n_at_once, n_later;
  td_error error = {0};
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  assert_ok(td_segments_add(path, 2000, &error), &error);
  g_assert_true(g_file_get_contents(path, &at_once, &n_at_once, NULL));
  g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
  assert_ok(td_contents_add(path, &error), &error);
  assert_ok(td_segments_add(path, 2000, &error), &error);
  g_assert_true(g_file_get_contents(path, &later, &n_later, NULL));
  g_assert_cmpmem(at_once, n_at_once, later, n_later);
  td_tape *tape = open_tape(path);
  g_assert_cmpuint(td_tape_n_segments(tape), >, 1);
  td_tape_close(tape);
  g_unlink(path);
}

static void
walk(const char *path) {
  td_error error = {0};
  td_tape *tape;
  td_replay *replay;
  char *text;
  if (td_tape_open(path, &tape, &error) != TD_OK) {
    td_error_clear(&error);
    return;
  }
  uint64_t seq = td_tape_info_get(tape)->n_events / 2;
  td_segment segment = td_tape_segment_at(tape, seq);
  if (td_replay_new(tape, &segment, NULL, NULL, &replay, &error) == TD_OK) {
    if (td_replay_seek(replay, segment.end, NULL) == TD_OK &&
        td_why_at(replay, segment.end - 1, &text, NULL) == TD_OK)
      free(text);
    td_replay_close(replay);
  }
  td_error_clear(&error);
}

/* A bit of the file's end is turned, or bytes of it are missing. */
static void
test_damage(void) {
  td_tape_plan plan = {.n_nodes = 30, .n_threads = 2, .n_passes = 60, .trains = true, .seed = 4};
  g_autofree char *path = make_cut_tape(&plan, 2000), *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  for (gsize at = n - n / 5; at < n; at += 13) {
    bytes[at] ^= (char)(1 << at % 8);
    g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
    walk(path);
    bytes[at] ^= (char)(1 << at % 8);
  }
  for (gsize at = n - n / 5; at < n; at += 97) {
    g_assert_true(g_file_set_contents(path, bytes, (gssize)at, NULL));
    walk(path);
  }
  g_unlink(path);
}

int
main(int argc, char **argv) {
  static const td_tape_plan plans[] = {
      {.n_nodes = 40, .n_threads = 1, .n_passes = 60, .trains = true, .seed = 1},
      {.n_nodes = 40, .n_threads = 3, .n_passes = 60, .trains = true, .seed = 2, .n_anomalies = 9},
      {.n_nodes = 50, .n_threads = 2, .n_passes = 99, .trains = false, .seed = 3},
      {.n_nodes = 30, .n_threads = 2, .n_passes = 99, .seed = 4, .n_programs = 3},
      {.n_nodes = 30, .n_threads = 2, .n_passes = 99, .trains = true, .seed = 5, .n_programs = 4},
  };
  g_test_init(&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(plans); i++) {
    g_autofree char *same = g_strdup_printf("/segments/same-as-whole/%zu", i);
    g_autofree char *ways = g_strdup_printf("/segments/three-ways/%zu", i);
    g_test_add_data_func(same, &plans[i], test_same_as_whole);
    g_test_add_data_func(ways, &plans[i], test_three_ways);
  }
  g_test_add_func("/segments/short", test_short);
  g_test_add_func("/segments/again", test_again);
  g_test_add_func("/segments/table-first", test_table_first);
  g_test_add_func("/segments/damage", test_damage);
  return g_test_run();
}
