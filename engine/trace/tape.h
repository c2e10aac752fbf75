/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reading a tape: a file, a directory of its chunks, and all threads' events merged by
 * (time, thread, position). A tape is untrusted. Every function returns a status and reads nothing
 * outside the file. A tape object belongs to one thread at a time. */
#pragma once

#include "engine/base/status.h"
#include "engine/trace/segment.h"
#include "engine/trace/tape_info.h"

typedef struct td_tape td_tape;

/* td_tape_trust_all lifts the limits on what a tape may cost: see the note in
 * engine/trace/directory.c. It holds for all tapes that this process opens later. Any thread. */
void td_tape_trust_all(void);

/* td_tape_open opens the file, checks its header, and scans it once: strings, counts, the merged
 * order. What follows damage is left out and told in info->damage. TD_IO, TD_NOT_A_TAPE (too short,
 * wrong magic), TD_UNSUPPORTED (a newer format, or too large for its file). */
td_status td_tape_open(const char *path, td_tape **tape, td_error *error);
void td_tape_close(td_tape *tape);

/* td_tape_is_at returns true if a file begins as a tape does. */
bool td_tape_is_at(const char *path);

/* td_tape_check_readable returns TD_IO if the disk failed, or if another program has changed the
 * file since it was opened. It returns TD_OUT_OF_MEMORY if memory ran out for a part of the tape.
 * Events cannot be read then. So a command calls this after it has printed what it read. */
td_status td_tape_check_readable(const td_tape *tape, td_error *error);

const td_tape_info *td_tape_info_get(const td_tape *tape);
const char *td_tape_path(const td_tape *tape);

/* td_tape_string returns an interned string by number; "" for a number that the tape does not
 * define. */
const char *td_tape_string(const td_tape *tape, uint32_t id);

/* td_tape_get copies event number seq of the merged order into out. Times and durations are in ns.
 * Ids are as written: check them against your own tables. Near-sequential access in either
 * direction is cheap; random access costs the decoding of a block. TD_OUT_OF_RANGE, TD_DAMAGED,
 * TD_IO as td_tape_check_readable. */
td_status td_tape_get(td_tape *tape, uint64_t seq, td_any_event *out, td_error *error);

/* td_tape_peek is td_tape_get without the copy, for reading a tape from end to end. NULL if
 * there is no such event. The event is valid until the next call for this tape, and only as far as
 * its kind's struct goes. */
const td_any_event *td_tape_peek(td_tape *tape, uint64_t seq);

/* Events that stand together in memory. */
typedef struct td_tape_run {
  const unsigned char *bytes; /* (borrowed) */
  const uint32_t *offsets;    /* (borrowed) [n] */
  uint32_t n;
} td_tape_run;

/* td_tape_peek_run peeks at the event seq, and at those after it and before `end` that stand behind
 * it in memory. A run of none says that event seq cannot be read; later ones may. */
td_tape_run td_tape_peek_run(td_tape *tape, uint64_t seq, uint64_t end);

static inline const td_any_event *
td_tape_run_get(const td_tape_run *run, uint32_t number) {
  return (const void *)(run->bytes + run->offsets[number]);
}

/* td_tape_set_watch has whoever reads all of the tape ask between two segments whether to go on: in
 * the thread that owns the tape. The data must live as long as the tape. td_tape_goes_on asks; it
 * returns true if nobody watches. */
void td_tape_set_watch(td_tape *tape, bool (*goes_on)(void *data), void *data);
bool td_tape_goes_on(const td_tape *tape);

/* td_tape_begin_pass says that the caller will peek at all events of a segment, from the first to
 * the last. A second thread decodes ahead of it, a few blocks. Until td_tape_end_pass, the caller
 * may also ask for strings and info, but for nothing else of this tape. Results are as without it.
 */
void td_tape_begin_pass(td_tape *tape, const td_segment *segment);
void td_tape_end_pass(td_tape *tape);

/* td_tape_n_segments returns into how many segments the tape is cut. td_tape_segment_at returns the
 * segment of an event, or the whole tape if it is not cut. td_tape_whole and td_tape_outline return
 * what segment.h says; only a tape that is cut has an outline. */
uint32_t td_tape_n_segments(const td_tape *tape);
td_segment td_tape_segment_at(const td_tape *tape, uint64_t seq);
td_segment td_tape_whole(const td_tape *tape);
td_segment td_tape_outline(const td_tape *tape);

/* td_tape_visit_keyframe calls a function for each event of a segment's keyframe, in order, until
 * one fails. Their numbers rise. TD_DAMAGED,
 * TD_OUT_OF_MEMORY, TD_IO, or what the function returned. */
td_status td_tape_visit_keyframe(td_tape *tape, const td_segment *segment,
                                 td_keyframe_visitor visit, void *data, td_error *error);

/* td_tape_seq_at returns the number of the last event with time <= ns (0 when none). */
uint64_t td_tape_seq_at(td_tape *tape, uint64_t ns);

/* td_tape_print_json writes one event as one line of JSON, without the newline:
 * {"seq": 412, "t": 1834021, "thread": 3, "event": "queue_push", ...its fields}, with "known":
 * "reconstructed" after the fields where the kind is known so on this tape. */
struct td_json;
void td_tape_print_json(td_tape *tape, uint64_t seq, const td_any_event *event,
                        struct td_json *json);

/* td_tape_print_field writes the value of a field, with the string that it names. */
void td_tape_print_field(const td_tape *tape, const td_field *field, uint64_t value,
                         struct td_json *json);
