/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The chain of a long tape: a worker looks for it, finds what the engine finds, and is given up
 * if somebody moves on. */
#include "engine/profile/chain/chain.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/model/playhead/shown_chain.h"

#include <glib/gstdio.h>

static bool
is_pop(const td_any_event *event, void *data) {
  return event->event.kind == TD_EVENT_queue_pop;
}

/* A document at its last pop: the whole pass led to it. */
static void
set_up(td_model_fixture *self, gconstpointer n_nodes) {
  td_tape_plan plan = {
      .n_nodes = GPOINTER_TO_UINT(n_nodes), .n_threads = 1, .n_passes = 1, .seed = 3};
  self->folder = g_dir_make_tmp("test_shown_chain_XXXXXX", NULL);
  self->path = g_build_filename(self->folder, "long.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, self->path, NULL), ==, TD_OK);
  self->document = td_document_new(self->path);
  g_assert_true(td_load_document(self->document, NULL));
  self->playhead = td_playhead_new();
  td_playhead_set_document(self->playhead, self->document);
  td_replay *replay = td_document_get_replay(self->document);
  uint64_t pop;
  g_assert_cmpint(td_replay_find(replay, td_replay_end(replay), false, is_pop, NULL, &pop, NULL),
                  ==, TD_OK);
  td_playhead_set_position(self->playhead, pop + 1);
}

enum { ANSWER_MS = 100 }; /* a worker's answer comes a little after its work */

static gboolean
over_cb(gpointer over) {
  *(gboolean *)over = TRUE;
  return G_SOURCE_REMOVE;
}

/* For an answer that nobody waits for any more. */
static void
wait_for_workers(void) {
  gboolean over = FALSE;
  while (td_worker_is_busy())
    g_main_context_iteration(NULL, FALSE);
  g_timeout_add(ANSWER_MS, over_cb, &over);
  while (!over)
    g_main_context_iteration(NULL, TRUE);
}

static void
wait_for_answer(TdShownChain *way) {
  while (td_shown_chain_is_busy(way))
    g_main_context_iteration(NULL, TRUE);
}

static void
count(guint *n) {
  ++*n;
}

/* Step by step, the way is the chain that the engine makes of all events. */
static void
check_way(td_model_fixture *self, TdShownChain *way, const td_chain *chain) {
  g_assert_cmpuint(chain->n, >, 10);
  for (guint i = 0; i < chain->n; i++) {
    g_autofree char *place = td_shown_chain_dup_place(way);
    g_autofree char *number = g_strdup_printf("Step %u of", i + 1);
    if (i + 1 < chain->n) g_assert_true(g_str_has_prefix(place, number));
    g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, chain->steps[i].seq + 1);
    g_assert_cmpuint(td_playhead_get_selection(self->playhead), ==, chain->steps[i].node);
    g_assert_cmpint(td_shown_chain_is_over(way), ==, i + 1 == chain->n);
    td_shown_chain_step(way);
  }
}

static void
test_long(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdShownChain) way = td_shown_chain_new(self->playhead);
  guint n_steps = 0;
  td_chain chain;
  uint64_t last = td_playhead_get_position(self->playhead) - 1;
  g_assert_cmpint(
      td_chain_make(td_document_get_replay(self->document), last, TD_NONE, &chain, NULL), ==,
      TD_OK);
  g_signal_connect_swapped(way, "stepped", G_CALLBACK(count), &n_steps);
  td_shown_chain_step(way);
  g_assert_true(td_shown_chain_is_busy(way));
  g_assert_null(td_shown_chain_dup_place(way));
  td_shown_chain_step(way); /* it looks already */
  wait_for_answer(way);
  g_assert_cmpuint(n_steps, ==, 1);
  check_way(self, way, &chain);
  g_assert_cmpuint(n_steps, ==, chain.n);
  td_chain_fini(&chain);
}

/* Whoever moves the playhead wants to be there, not at a cause. */
static void
test_given_up(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdShownChain) way = td_shown_chain_new(self->playhead);
  td_shown_chain_step(way);
  g_assert_true(td_shown_chain_is_busy(way));
  td_playhead_step_event(self->playhead, -1);
  uint64_t position = td_playhead_get_position(self->playhead);
  g_assert_false(td_shown_chain_is_busy(way));
  wait_for_workers();
  g_assert_null(td_shown_chain_dup_place(way));
  g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, position);
}

/* The worker outlives what asked it. */
static void
test_left(td_model_fixture *self, gconstpointer data) {
  TdShownChain *way = td_shown_chain_new(self->playhead);
  td_shown_chain_step(way);
  td_playhead_set_document(self->playhead, NULL);
  g_assert_false(td_shown_chain_is_busy(way));
  g_object_unref(way);
  wait_for_workers();
}

/* Another tape got the name meanwhile: its numbers mean nothing here. */
static void
test_replaced(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdShownChain) way = td_shown_chain_new(self->playhead);
  td_tape_plan other = {.n_nodes = 5000, .n_threads = 1, .n_passes = 1, .seed = 4};
  g_autofree char *path = g_strconcat(self->path, ".other", NULL);
  g_assert_cmpint(td_tape_make(&other, path, NULL), ==, TD_OK);
  g_assert_cmpint(g_rename(path, self->path), ==, 0);
  uint64_t position = td_playhead_get_position(self->playhead);
  td_shown_chain_step(way);
  wait_for_answer(way);
  g_autofree char *place = td_shown_chain_dup_place(way);
  if (!place) g_assert_cmpuint(td_playhead_get_position(self->playhead), ==, position);
}

static void
test_short(td_model_fixture *self, gconstpointer data) {
  g_autoptr(TdShownChain) way = td_shown_chain_new(self->playhead);
  td_shown_chain_step(way);
  g_assert_false(td_shown_chain_is_busy(way));
  g_autofree char *place = td_shown_chain_dup_place(way);
  g_assert_nonnull(place);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, n_nodes, test)                                                                   \
  g_test_add("/ui/chain/" name, td_model_fixture, GUINT_TO_POINTER(n_nodes), set_up, test,         \
             td_model_fixture_tear_down)
  ADD("long", 4000, test_long);
  ADD("given-up", 4000, test_given_up);
  ADD("left", 4000, test_left);
  ADD("replaced", 4000, test_replaced);
  ADD("short", 40, test_short);
  return run_tests();
}
