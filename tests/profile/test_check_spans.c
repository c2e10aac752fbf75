/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check_spans.h"

#include <glib.h>

#define N_PASSES 3

/* The rule itself: the innermost span, and those above it, one by one. */
static bool
end_slowly(GArray *spans, td_check_span span, const bool *failed) {
  for (guint n = spans->len; n > 0; n--) {
    const td_check_span *last = &g_array_index(spans, td_check_span, n - 1);
    if (last->end_kind == span.end_kind && last->object == span.object &&
        last->detail == span.detail) {
      g_array_set_size(spans, n - 1);
      return true;
    }
    if (!failed[last->graph_task]) return false;
  }
  return false;
}

static bool
is_broken_off(const td_check_span *span, void *failed) {
  return ((const bool *)failed)[span->graph_task];
}

static td_check_span
random_span(GRand *rand) {
  return (td_check_span){.end_kind = (uint16_t)g_rand_int_range(rand, 1, 3),
                         .object = (uint32_t)g_rand_int_range(rand, 0, 3),
                         .detail = (uint32_t)g_rand_int_range(rand, 0, 2),
                         .graph_task = (uint32_t)g_rand_int_range(rand, 0, N_PASSES)};
}

static void
compare_once(uint32_t seed) {
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  g_autoptr(GArray) slow = g_array_new(FALSE, FALSE, sizeof(td_check_span));
  td_check_spans fast = {0};
  bool failed[N_PASSES] = {false};
  for (int i = 0; i < 200; i++) {
    td_check_span span = random_span(rand);
    int choice = g_rand_int_range(rand, 0, 100);
    if (choice < 45) {
      td_check_spans_begin(&fast, span);
      g_array_append_val(slow, span);
    } else if (choice < 98) {
      bool ended = td_check_spans_end(&fast, span, is_broken_off, failed);
      g_assert_cmpint(ended, ==, end_slowly(slow, span, failed));
    } else {
      failed[span.graph_task] = true;
    }
    g_assert_cmpuint(fast.n, ==, slow->len);
  }
  td_check_spans_fini(&fast);
}

static void
test_random(void) {
  for (uint32_t seed = 0; seed < 2000; seed++)
    compare_once(seed);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/check-spans/as-one-by-one", test_random);
  return g_test_run();
}
