/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Joining: the input is several unpacked tapes, with "PART" between. What td_join accepts, it
 * accepts again as a part, and the joined tape opens without damage. */
#include "engine/trace/join.h"
#include "engine/trace/tape.h"
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_PARTS_MAX 5

static size_t
write_parts(const uint8_t *data, size_t n, const char *paths[N_PARTS_MAX]) {
  size_t n_parts = 0;
  for (const uint8_t *end = data + n; data && n_parts < N_PARTS_MAX;) {
    const uint8_t *mark = n ? memmem(data, (size_t)(end - data), "PART", 4) : NULL;
    size_t length = (size_t)((mark ? mark : end) - data);
    paths[n_parts] = td_fuzz_tape((unsigned)n_parts, data, length);
    n_parts++;
    data = mark ? mark + 4 : NULL;
  }
  return n_parts;
}

static void
assert_whole(const char *path) {
  td_tape *tape;
  td_error error = {0};
  if (td_tape_open(path, &tape, &error) != TD_OK) abort();
  if (td_tape_info_get(tape)->complete && td_tape_info_get(tape)->damage) abort();
  td_tape_close(tape);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  static char joined[64], again[64];
  const char *paths[N_PARTS_MAX];
  const char *folder =
      access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* memory, if there is */
  snprintf(joined, sizeof joined, "%s/tapedeck-fuzz-%d.tape", folder, (int)getpid());
  snprintf(again, sizeof again, "%s/tapedeck-fuzz-%d-again.tape", folder, (int)getpid());
  size_t n_parts = write_parts(data, n, paths);
  td_error error = {0};
  if (td_join(paths, n_parts, joined, true, &error) == TD_OK) {
    assert_whole(joined);
    if (td_join((const char *const[]){joined, paths[0]}, 2, again, true, &error)) abort();
    assert_whole(again);
    unlink(again);
  } else if (access(joined, F_OK) == 0) {
    abort();
  }
  unlink(joined);
  td_error_clear(&error);
  return 0;
}
