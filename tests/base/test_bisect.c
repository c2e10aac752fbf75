/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * TD_BISECT, held to a walk from the start. */
#include "engine/base/bisect.h"

#include <glib.h>
#include <stdint.h>

#define MOST 70

static void
test_like_a_walk(void) {
  for (uint32_t end = 0; end <= MOST; end++)
    for (uint32_t first = 0; first <= end; first++)
      for (uint32_t turn = 0; turn <= MOST; turn++) {
        uint32_t at, walked = first;
        while (walked < end && walked < turn)
          walked++;
        TD_BISECT(at, first, end, at < turn);
        g_assert_cmpuint(at, ==, walked);
      }
}

static void
test_steps(void) {
  const uint64_t end = UINT64_MAX;
  uint64_t at, n_steps = 0;
  TD_BISECT(at, 0, end, (n_steps++, at < end - 5));
  g_assert_cmpuint(at, ==, end - 5);
  g_assert_cmpuint(n_steps, <=, 64);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/bisect/like-a-walk", test_like_a_walk);
  g_test_add_func("/engine/bisect/steps", test_steps);
  return g_test_run();
}
