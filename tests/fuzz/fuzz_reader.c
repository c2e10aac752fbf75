/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reader: opens a tape and reads all events forwards. Then it reads some at random, which must
 * be the same, and prints them. Of a tape that is cut, it reads all keyframes. */
#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "engine/trace/tape.h"
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The heads of all events; of those that cannot be read, zeros. */
static td_event *
read_forwards(td_tape *tape, uint64_t n) {
  td_event *heads = TD_NEW_N(td_event, n);
  uint64_t time = 0;
  for (uint64_t seq = 0; seq < n; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (!event && !td_tape_info_get(tape)->damage) abort();
    if (!event) continue;
    if (event->event.time < time || !td_event_type_get(event->event.kind)) abort();
    heads[seq] = event->event;
    time = event->event.time;
  }
  return heads;
}

static void
print(td_tape *tape, uint64_t seq, const td_any_event *event) {
  static FILE *nowhere;
  td_json json;
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  td_json_init(&json, nowhere);
  td_tape_print_json(tape, seq, event, &json);
}

static void
read_here_and_there(td_tape *tape, const td_event *heads, uint64_t n) {
  td_any_event event;
  for (uint64_t i = 0; i < 16 && n; i++) {
    uint64_t seq = (i + 1) * 7919 * 1023 % n;
    if (td_tape_get(tape, seq, &event, NULL) != TD_OK) {
      if (heads[seq].kind) abort();
      continue;
    }
    if (memcmp(&event, &heads[seq], sizeof *heads) != 0) abort();
    if (td_tape_seq_at(tape, event.event.time) < seq) abort();
    print(tape, seq, &event);
  }
  if (td_tape_get(tape, n, &event, NULL) != TD_OUT_OF_RANGE) abort();
}

static td_status
look_at_cb(const td_any_event *event, uint64_t seq, void *data) {
  uint64_t *last = data;
  bool is_sound = td_event_type_get(event->event.kind) && seq >= *last;
  if (!is_sound) abort();
  *last = seq;
  return TD_OK;
}

/* Each event of a keyframe is known, and lies on the tape. */
static void
read_keyframe(td_tape *tape, const td_segment *segment) {
  uint64_t last = 0;
  if (td_tape_visit_keyframe(tape, segment, look_at_cb, &last, NULL)) return;
  if (last >= td_tape_info_get(tape)->n_events) abort();
}

static void
read_keyframes(td_tape *tape) {
  td_segment outline = td_tape_outline(tape), segment = {.end = 0};
  if (td_tape_n_segments(tape) == 0) return;
  read_keyframe(tape, &outline);
  while (segment.end < td_tape_info_get(tape)->n_events) {
    segment = td_tape_segment_at(tape, segment.end);
    read_keyframe(tape, &segment);
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  td_tape *tape;
  td_error error = {0};
  if (td_tape_open(td_fuzz_tape(0, data, n), &tape, &error) == TD_OK) {
    uint64_t n_events = td_tape_info_get(tape)->n_events;
    td_event *heads = read_forwards(tape, n_events);
    read_here_and_there(tape, heads, n_events);
    free(heads);
    read_keyframes(tape);
    td_tape_close(tape);
  }
  td_error_clear(&error);
  return 0;
}
