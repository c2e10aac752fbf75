/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Maker: a tape of events that come from somewhere else than the rings of a live program: another
 * tool's trace, or other tapes. Times are nanoseconds since the tape's start. They must not
 * decrease on a thread. Threads may come in any order, because the reader merges them. Memory: what
 * the unwritten events of 128 threads take (at most 128 KiB each) and the distinct texts. One
 * thread.
 */
#pragma once

#include "engine/base/status.h"
#include "engine/events/event.h"

typedef struct td_maker td_maker;

/* td_maker_open creates the file as td_writer_open_made does: started_ns is the wall clock at time
 * 0, or 0 where nobody knows. policy is a td_ring_policy. */
td_status td_maker_open(const char *path, bool overwrite, uint32_t policy, uint64_t started_ns,
                        td_maker **maker, td_error *error);

/* td_maker_new makes a tape with a writer of made events, which it owns. td_maker_copy appends a
 * record as it is, a string too: its numbers are the caller's. */
struct td_writer;
td_maker *td_maker_new(struct td_writer *writer);
void td_maker_copy(td_maker *maker, const td_event *event);

/* td_maker_intern returns the number of a text, 0 for the empty one. A new text becomes a `string`
 * event of that thread at that time. Texts longer than a record can hold are cut. */
uint32_t td_maker_intern(td_maker *maker, uint32_t thread, uint64_t time, const char *text);

/* td_maker_add appends an event to its thread. event.time, event.kind and event.thread are the
 * caller's to fill; event.size is filled in. A time before the thread's last becomes that one. */
void td_maker_add(td_maker *maker, td_any_event event);

/* TD_MAKE adds an event of `kind` with these fields. */
#define TD_MAKE(maker, at_thread, at_time, name, ...)                                              \
  td_maker_add(maker, (td_any_event){.name = {.event = {.time = (at_time),                         \
                                                        .kind = TD_EVENT_##name,                   \
                                                        .thread = (at_thread)},                    \
                                              __VA_ARGS__}})

/* td_maker_know says how events of these kinds are known: a `known` event each on thread 0 at time
 * 0. The list ends with TD_EVENT_none. */
void td_maker_know(td_maker *maker, td_knowledge how, const td_event_kind *kinds);

/* td_maker_close writes what is left and the index, and frees the maker. TD_IO if anything could
 * not be written at any time. */
td_status td_maker_close(td_maker *maker, td_error *error);

/* td_maker_cut is td_maker_close for a tape whose recording was not ended. */
td_status td_maker_cut(td_maker *maker, td_error *error);

/* td_maker_abandon closes the file as it is and frees the maker. */
void td_maker_abandon(td_maker *maker);
