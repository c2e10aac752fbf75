/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reader: opens a tape, reads all events forwards, some at random, and prints a few. */
#include "engine/base/json.h"
#include "engine/trace/tape.h"
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>

static void
read_forwards(td_tape *tape, uint64_t n) {
  uint64_t time = 0;
  for (uint64_t seq = 0; seq < n; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (!event) continue;
    if (event->event.time < time || !td_event_type_get(event->event.kind)) abort();
    time = event->event.time;
  }
}

/* What is read anywhere is what was read in order. */
static void
read_here_and_there(td_tape *tape, uint64_t n) {
  td_any_event event;
  td_error error = {0};
  for (uint64_t i = 0; i < 16; i++) {
    uint64_t seq = i * 7919 * 1024 % (n + 3);
    td_status status = td_tape_get(tape, seq, &event, &error);
    if (status && seq < n && !td_tape_info_get(tape)->damage) abort();
    if (!status && td_tape_seq_at(tape, event.event.time) < seq) abort();
    td_error_clear(&error);
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  td_tape *tape;
  td_error error = {0};
  if (td_tape_open(td_fuzz_tape(0, data, n), &tape, &error) == TD_OK) {
    uint64_t n_events = td_tape_info_get(tape)->n_events;
    read_forwards(tape, n_events);
    read_here_and_there(tape, n_events);
    td_tape_close(tape);
  }
  td_error_clear(&error);
  return 0;
}
