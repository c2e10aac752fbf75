/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two tapes beside each other: the way from one to the other never goes back, fixed points go with
 * each other, and a tape goes with itself event by event. */
#include "engine/profile/diff/sequence.h"
#include "tests/ui/model_fixture.h"
#include "tests/ui/run_tests.h"
#include "ui/model/compare/alignment_work.h"

enum { N_ROUNDS = 200, MOST_PAIRS = 60 };

/* ---- random pairs ---- */

typedef struct Random {
  td_alignment *alignment;
  td_alignment_pair pairs[MOST_PAIRS];
  guint n;
  uint64_t last[2];
} Random;

/* Distinct positions of side 1 in an order that is shuffled here and there. */
static void
make_places(GRand *rand, uint32_t *places, guint n) {
  uint32_t at = 0;
  for (guint i = 0; i < n; i++)
    places[i] = at += (uint32_t)g_rand_int_range(rand, 1, 5);
  for (int swaps = g_rand_int_range(rand, 0, 12); n > 1 && swaps > 0; swaps--) {
    guint i = (guint)g_rand_int_range(rand, 0, (gint32)n), k = g_rand_int(rand) % n;
    uint32_t place = places[i];
    places[i] = places[k];
    places[k] = place;
  }
}

static void
make_random(Random *self, GRand *rand, uint32_t *places) {
  const uint64_t first[2] = {0, 0};
  uint64_t position = 0, end = 0;
  self->alignment = td_alignment_new();
  self->n = (guint)g_rand_int_range(rand, 0, MOST_PAIRS);
  make_places(rand, places, self->n);
  for (guint i = 0; i < self->n; i++) {
    position += (uint64_t)g_rand_int_range(rand, 1, 5);
    end = MAX(end, places[i]);
    self->pairs[i] = (td_alignment_pair){{position, places[i]}, {i % 40, 1000 + i % 40}};
  }
  self->last[0] = position + (uint64_t)g_rand_int_range(rand, 0, 4);
  self->last[1] = end + (uint64_t)g_rand_int_range(rand, 0, 4);
  for (guint i = self->n; i > 0; i--)
    td_alignment_add(self->alignment, &self->pairs[i - 1]);
  td_alignment_add_lone(self->alignment, 0, 3);
  td_alignment_add_lone(self->alignment, 0, 50);
  td_alignment_add_lone(self->alignment, 0, 50);
  td_alignment_end(self->alignment, first, self->last);
}

static void
check_rises(const td_alignment *alignment, int side, uint64_t last) {
  uint64_t before = 0;
  for (uint64_t position = 0; position <= last; position++) {
    uint64_t now = td_alignment_map(alignment, side, position);
    g_assert_cmpuint(now, >=, before);
    g_assert_cmpuint(now, <=, td_alignment_last(alignment, !side));
    before = now;
  }
}

static void
check_fixed(const Random *self, const uint32_t *places) {
  uint32_t n_fixed = 0, n_rising;
  for (guint i = 0; i < self->n; i++) {
    const td_alignment_pair *pair = &self->pairs[i];
    if (!td_alignment_is_fixed(self->alignment, pair)) continue;
    n_fixed++;
    for (int side = 0; side < 2; side++)
      g_assert_cmpuint(td_alignment_map(self->alignment, side, pair->position[side]), ==,
                       pair->position[!side]);
  }
  g_assert_cmpint(td_sequence_rising(places, self->n, &n_rising), ==, TD_OK);
  g_assert_cmpuint(n_fixed, ==, n_rising);
}

/* The nearest run of the node, found by looking at all. */
static void
check_found(const Random *self, int side, uint32_t node, uint64_t position) {
  uint64_t nearest = UINT64_MAX;
  for (guint i = 0; i < self->n; i++) {
    uint64_t other = self->pairs[i].position[side];
    if (self->pairs[i].node[side] != node) continue;
    nearest = MIN(nearest, other > position ? other - position : position - other);
  }
  const td_alignment_pair *found = td_alignment_find(self->alignment, side, node, position);
  g_assert_cmpint(found != NULL, ==, nearest != UINT64_MAX);
  if (!found) return;
  uint64_t other = found->position[side];
  g_assert_cmpuint(found->node[side], ==, node);
  g_assert_cmpuint(other > position ? other - position : position - other, ==, nearest);
}

static void
check_lone(const Random *self) {
  uint32_t n;
  const uint32_t *lone = td_alignment_get_lone(self->alignment, 0, &n);
  gboolean has_3 = td_alignment_find(self->alignment, 0, 3, 0) != NULL;
  g_assert_cmpuint(n, ==, has_3 ? 1 : 2);
  g_assert_cmpuint(lone[n - 1], ==, 50);
  td_alignment_get_lone(self->alignment, 1, &n);
  g_assert_cmpuint(n, ==, 0);
}

static void
test_random(void) {
  g_autoptr(GRand) rand = g_rand_new_with_seed(20);
  for (int round = 0; round < N_ROUNDS; round++) {
    uint32_t places[MOST_PAIRS];
    Random self;
    make_random(&self, rand, places);
    check_rises(self.alignment, 0, self.last[0]);
    check_rises(self.alignment, 1, self.last[1]);
    check_fixed(&self, places);
    for (int i = 0; i < 50; i++)
      check_found(&self, i % 2, g_rand_int(rand) % 45 + (i % 2 ? 1000 : 0), g_rand_int(rand) % 200);
    check_lone(&self);
    td_alignment_free(self.alignment);
  }
}

/* ---- tapes ---- */

static TdAligned *
align(const TdAlignmentWish *wish) {
  GAsyncResult *result = NULL;
  g_autoptr(GError) error = NULL;
  td_alignment_work_async(wish, NULL, td_store_result, &result);
  TdAligned *aligned = td_alignment_work_finish(td_wait_for(&result), &error);
  g_assert_no_error(error);
  g_object_unref(result);
  return aligned;
}

static void
test_itself(td_model_fixture *self, gconstpointer data) {
  const TdAlignmentWish wish = {.path = {self->path, self->path}};
  const td_catalog *catalog = td_document_get_catalog(self->document);
  TdAligned *aligned = align(&wish);
  uint32_t n_lone;
  g_assert_false(aligned->has_difference);
  for (uint64_t position = 0; position <= td_playhead_get_length(self->playhead); position++)
    for (int side = 0; side < 2; side++)
      g_assert_cmpuint(td_alignment_map(aligned->alignment, side, position), ==, position);
  for (uint32_t i = 0; i < catalog->n_ran; i++) {
    const td_alignment_pair *pair = td_alignment_find(aligned->alignment, 0, catalog->ran[i], 0);
    g_assert_nonnull(pair);
    g_assert_cmpuint(pair->node[1], ==, pair->node[0]);
    g_assert_true(td_alignment_is_fixed(aligned->alignment, pair));
  }
  for (int side = 0; side < 2; side++) {
    td_alignment_get_lone(aligned->alignment, side, &n_lone);
    g_assert_cmpuint(n_lone, ==, 0);
  }
  td_aligned_free(aligned);
}

/* Two passes over one graph: each side stays within its pass. */
static void
test_passes(td_model_fixture *self, gconstpointer data) {
  const td_catalog *catalog = td_document_get_catalog(self->document);
  const td_catalog_graph_task *passes = catalog->graph_task_rows;
  g_assert_cmpuint(catalog->n_graph_tasks, ==, 2);
  const TdAlignmentWish wish = {
      .path = {self->path, self->path}, .passes = TRUE, .graph_task = {passes[0].id, passes[1].id}};
  TdAligned *aligned = align(&wish);
  for (int side = 0; side < 2; side++) {
    const td_catalog_graph_task *pass = &passes[side], *other = &passes[!side];
    for (uint64_t position = 0; position <= td_playhead_get_length(self->playhead); position++) {
      uint64_t mapped = td_alignment_map(aligned->alignment, side, position);
      g_assert_cmpuint(mapped, >, other->begin_seq);
      g_assert_cmpuint(mapped, <=, other->end_seq + 1);
    }
    g_assert_cmpuint(td_alignment_map(aligned->alignment, side, pass->begin_seq + 1), ==,
                     other->begin_seq + 1);
    for (uint32_t i = 0; i < pass->n_ran; i++) {
      uint32_t node = catalog->ran[pass->first_ran + i];
      const td_alignment_pair *pair = td_alignment_find(aligned->alignment, side, node, 0);
      g_assert_nonnull(pair);
      g_assert_cmpuint(pair->node[!side], ==, node);
      g_assert_cmpuint(pair->position[side], >, pass->begin_seq);
      g_assert_cmpuint(pair->position[side], <=, pass->end_seq);
    }
  }
  td_aligned_free(aligned);
}

static void
test_no_pass(td_model_fixture *self, gconstpointer data) {
  const TdAlignmentWish wish = {
      .path = {self->path, self->path}, .passes = TRUE, .graph_task = {0, 99}};
  GAsyncResult *result = NULL;
  g_autoptr(GError) error = NULL;
  td_alignment_work_async(&wish, NULL, td_store_result, &result);
  g_assert_null(td_alignment_work_finish(td_wait_for(&result), &error));
  g_assert_nonnull(strstr(error->message, "no node ran in graph task 99"));
  g_object_unref(result);
}

#define ADD(path, test)                                                                            \
  g_test_add(path, td_model_fixture, NULL, td_model_fixture_set_up, test,                          \
             td_model_fixture_tear_down)

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/alignment/random", test_random);
  ADD("/ui/alignment/itself", test_itself);
  ADD("/ui/alignment/passes", test_passes);
  ADD("/ui/alignment/no-pass", test_no_pass);
  return run_tests();
}
