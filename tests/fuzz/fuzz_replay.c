/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The replay of a tape and of each of its segments: the state after an event is the same, byte for
 * byte, whichever way leads there: event by event, by undo, or by a seek. */
#include "engine/base/alloc.h"
#include "engine/replay/replay.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>

#define HASHED_BYTES_MAX ((uint64_t)64 << 20) /* of one input */
#define N_SEEKS 12

static uint64_t
hash_state(const td_replay *replay) {
  const td_state *state = td_replay_state(replay);
  uint64_t hash = 0;
  for (uint32_t page = 0; page < state->n_pages; page++) {
    const uint64_t *words = (const void *)state->pages[page]->elements;
    for (size_t i = 0; i < sizeof state->pages[page]->elements / sizeof *words; i++)
      hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

static void
check_position(const td_replay *replay, uint64_t position) {
  if (td_replay_position(replay) != position) abort();
}

/* hashes[i]: of the state at position first + i * share of the segment. */
static void
check_state(const td_replay *replay, const uint64_t *hashes, uint64_t share) {
  uint64_t i = td_replay_position(replay) - td_replay_first(replay);
  if (i % share == 0 && hashes[i / share] != hash_state(replay)) abort();
}

static void
go_forwards(td_replay *replay, uint64_t *hashes, uint64_t share) {
  for (uint64_t i = 0;; i++) {
    check_position(replay, td_replay_first(replay) + i);
    if (i % share == 0) hashes[i / share] = hash_state(replay);
    if (td_replay_forward(replay, NULL)) return;
  }
}

static void
go_back(td_replay *replay, const uint64_t *hashes, uint64_t share) {
  for (uint64_t position = td_replay_end(replay);; position--) {
    check_position(replay, position);
    check_state(replay, hashes, share);
    if (td_replay_back(replay, NULL)) return;
  }
}

static void
seek_here_and_there(td_replay *replay, const uint64_t *hashes, uint64_t share) {
  uint64_t first = td_replay_first(replay), n = td_replay_end(replay) - first + 1;
  for (uint64_t i = 1; i <= N_SEEKS; i++) {
    uint64_t position = first + i * 2654435761u % n / share * share;
    if (td_replay_seek(replay, position, NULL)) abort();
    check_position(replay, position);
    check_state(replay, hashes, share);
    if (i % 3 == 0 && position > first && !td_replay_back(replay, NULL))
      check_state(replay, hashes, share);
  }
}

static void
try_ways(td_replay *replay) {
  uint64_t length = td_replay_end(replay) - td_replay_first(replay);
  uint64_t share = 1 + (length + 1) * 2 * td_replay_state(replay)->n_pages * TD_STATE_PAGE_BYTES /
                           HASHED_BYTES_MAX;
  uint64_t *hashes = TD_NEW_N(uint64_t, length / share + 1);
  go_forwards(replay, hashes, share);
  go_back(replay, hashes, share);
  seek_here_and_there(replay, hashes, share);
  free(hashes);
}

/* The segment after *end, which moves on to the end of that; with *end 0 the first. False after the
 * last one. */
static bool
try_segment(const char *path, uint64_t *end) {
  td_tape *tape;
  td_replay *replay;
  if (td_tape_open(path, &tape, NULL)) return false;
  uint64_t first = *end, n = td_tape_info_get(tape)->n_events;
  td_segment segment = td_tape_segment_at(tape, first);
  *end = segment.end;
  if (first < n && (segment.first != first || segment.end <= first || segment.end > n)) abort();
  if (!td_replay_new(tape, &segment, NULL, NULL, &replay, NULL)) {
    try_ways(replay);
    td_replay_close(replay);
  }
  return *end < n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  td_replay *replay;
  const char *path = td_fuzz_tape(0, data, n);
  if (td_replay_open(path, NULL, NULL, &replay, NULL)) return 0;
  bool is_cut = td_tape_n_segments(td_replay_tape(replay)) > 0;
  try_ways(replay);
  td_replay_close(replay);
  for (uint64_t end = 0; is_cut && try_segment(path, &end);) {
  }
  return 0;
}
