/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two playheads side by side: whatever the person does to the one that leads, the other stands at
 * the position and the node that go with it. At the first difference each has its own. */
#include "engine/trace/tape.h"
#include "tests/fixtures/tape_maker.h"
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/model/compare/side_by_side.h"
#include "ui/model/playhead/playhead_steps.h"

#include <glib/gstdio.h>

enum { N_MOVES = 400 };

typedef struct Fixture {
  td_model_fixture a;
  char *other; /* another random graph with the same number of nodes */
  TdSideBySide *sides;
} Fixture;

static TdAligned *
align_as(const TdAlignmentWish *wish) {
  GAsyncResult *result = NULL;
  g_autoptr(GError) error = NULL;
  td_alignment_work_async(wish, NULL, td_store_result, &result);
  TdAligned *aligned = td_alignment_work_finish(td_wait_for(&result), &error);
  g_assert_no_error(error);
  g_object_unref(result);
  return aligned;
}

static TdAligned *
align(const char *a, const char *b) {
  return align_as(&(TdAlignmentWish){.path = {a, b}});
}

static void
set_up(Fixture *self, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 3, .n_passes = 2, .seed = 8};
  td_model_fixture_set_up(&self->a, data);
  self->other = g_build_filename(self->a.folder, "other.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, self->other, NULL), ==, TD_OK);
  g_autoptr(TdDocument) a = td_document_new(self->a.path);
  g_autoptr(TdDocument) b = td_document_new(self->other);
  g_assert_true(td_load_document(a, NULL) && td_load_document(b, NULL));
  self->sides = td_side_by_side_new();
  td_side_by_side_show(self->sides, a, b, align(self->a.path, self->other));
}

static void
tear_down(Fixture *self, gconstpointer data) {
  g_object_unref(self->sides);
  g_unlink(self->other);
  g_free(self->other);
  td_model_fixture_tear_down(&self->a, data);
}

static void
check_together(TdSideBySide *sides) {
  const td_alignment *alignment = td_side_by_side_get_aligned(sides)->alignment;
  int lead = td_side_by_side_get_lead(sides);
  TdPlayhead *first = td_side_by_side_get_playhead(sides, lead);
  TdPlayhead *second = td_side_by_side_get_playhead(sides, !lead);
  uint64_t position = td_playhead_get_position(first);
  g_assert_cmpuint(td_playhead_get_position(second), ==,
                   td_alignment_map(alignment, lead, position));
  uint32_t node = td_playhead_get_selection(first);
  const td_alignment_pair *pair =
      node == TD_NONE ? NULL : td_alignment_find(alignment, lead, node, position);
  g_assert_cmpuint(td_playhead_get_selection(second), ==, pair ? pair->node[!lead] : TD_NONE);
}

static void
move(TdPlayhead *lead, GRand *rand) {
  uint64_t length = td_playhead_get_length(lead);
  switch (g_rand_int_range(rand, 0, 4)) {
  case 0:
    td_playhead_step_event(lead, g_rand_boolean(rand) ? 1 : -1);
    break;
  case 1:
    td_playhead_step_node(lead, g_rand_boolean(rand) ? 1 : -1);
    break;
  case 2:
    td_playhead_set_position(lead, g_rand_int(rand) % (length + 1));
    break;
  default:
    td_playhead_set_selection(lead, g_rand_int(rand) % 45);
  }
}

/* The other side's lead begins with a step of its own. */
static void
test_moves(Fixture *self, gconstpointer data) {
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);
  check_together(self->sides);
  for (int i = 0; i < N_MOVES; i++) {
    int lead = g_rand_int_range(rand, 0, 8) ? td_side_by_side_get_lead(self->sides)
                                            : g_rand_int_range(rand, 0, 2);
    td_side_by_side_set_lead(self->sides, lead);
    TdPlayhead *playhead = td_side_by_side_get_playhead(self->sides, lead);
    td_playhead_set_position(playhead, (td_playhead_get_position(playhead) + 7) %
                                           (td_playhead_get_length(playhead) + 1));
    check_together(self->sides);
    move(playhead, rand);
    check_together(self->sides);
  }
}

static void
check_apart(TdSideBySide *sides) {
  const TdAligned *aligned = td_side_by_side_get_aligned(sides);
  for (int side = 0; side < 2; side++) {
    TdPlayhead *playhead = td_side_by_side_get_playhead(sides, side);
    g_assert_cmpuint(td_playhead_get_position(playhead), ==, aligned->position[side]);
    g_assert_cmpuint(td_playhead_get_selection(playhead), ==, aligned->node[side]);
  }
}

static void
test_difference(Fixture *self, gconstpointer data) {
  const TdAligned *aligned = td_side_by_side_get_aligned(self->sides);
  g_assert_true(aligned->has_difference);
  g_assert_true(aligned->node[0] != TD_NONE || aligned->node[1] != TD_NONE);
  for (int lead = 0; lead < 2; lead++) {
    TdPlayhead *playhead = td_side_by_side_get_playhead(self->sides, lead);
    td_side_by_side_set_lead(self->sides, lead);
    g_assert_true(td_side_by_side_go_to_difference(self->sides));
    check_apart(self->sides);
    td_playhead_step_event(playhead, 1);
    check_together(self->sides);
    td_playhead_to_end(playhead);
    check_together(self->sides);
    g_assert_true(td_side_by_side_go_to_difference(self->sides));
    check_apart(self->sides);
  }
}

static void
test_no_difference(Fixture *self, gconstpointer data) {
  g_autoptr(TdSideBySide) sides = td_side_by_side_new();
  g_assert_false(td_side_by_side_go_to_difference(sides));
  td_side_by_side_show(sides, self->a.document, self->a.document,
                       align(self->a.path, self->a.path));
  g_assert_false(td_side_by_side_go_to_difference(sides));
}

/* A pass ends before its tape does. There, too, playing begins anew. */
static void
test_play(Fixture *self, gconstpointer data) {
  const char *path = self->a.path;
  const TdAlignmentWish wish = {.path = {path, path}, .passes = TRUE, .graph_task = {0, 1}};
  g_autoptr(TdSideBySide) sides = td_side_by_side_new();
  g_autoptr(TdDocument) b = td_document_new(path);
  g_assert_true(td_load_document(b, NULL));
  td_side_by_side_show(sides, self->a.document, b, align_as(&wish));
  const td_alignment *alignment = td_side_by_side_get_aligned(sides)->alignment;
  TdPlayhead *lead = td_side_by_side_get_playhead(sides, 0);
  td_playhead_to_end(lead);
  g_assert_cmpuint(td_playhead_get_position(lead), ==, td_alignment_last(alignment, 0));
  g_assert_cmpuint(td_playhead_get_position(lead), <, td_playhead_get_length(lead));
  td_side_by_side_play(sides);
  g_assert_true(td_playhead_get_playing(lead));
  g_assert_cmpuint(td_playhead_get_position(lead), ==, td_alignment_first(alignment, 0));
  td_playhead_step_event(lead, 1);
  td_side_by_side_play(sides);
  g_assert_false(td_playhead_get_playing(lead));
  g_assert_cmpuint(td_playhead_get_position(lead), ==, td_alignment_first(alignment, 0) + 1);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/ui/side-by-side/moves", Fixture, NULL, set_up, test_moves, tear_down);
  g_test_add("/ui/side-by-side/difference", Fixture, NULL, set_up, test_difference, tear_down);
  g_test_add("/ui/side-by-side/no-difference", Fixture, NULL, set_up, test_no_difference,
             tear_down);
  g_test_add("/ui/side-by-side/play", Fixture, NULL, set_up, test_play, tear_down);
  return run_tests();
}
