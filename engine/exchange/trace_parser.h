/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The JSON of a Chrome trace, as PyTorch's profilers write it. It is an object with `traceEvents`
 * anywhere in it, or a bare list of events. The parser hands on event by event while the file
 * streams by. It copes with what bites: raw control characters in texts, numbers that are texts,
 * keys in any order, values of the wrong type. Memory does not grow with the file. Belongs to one
 * thread at a time. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are cut at this many bytes. */
#define TD_TRACE_NAME_MAX 1024
#define TD_TRACE_ID_MAX 64

typedef struct td_trace_event {
  char phase;                     /* "ph": 'X', 'M', 's', 'f' ...; 0 where there was none */
  char name[TD_TRACE_NAME_MAX];   /* all texts end with a zero */
  char category[TD_TRACE_ID_MAX]; /* "" where there was none, as in old traces */
  char process[TD_TRACE_ID_MAX];  /* numbers as they are written */
  char thread[TD_TRACE_ID_MAX];
  char argument[TD_TRACE_NAME_MAX]; /* args.name, of thread_name and process_name */
  size_t name_length;
  bool has_ts, has_sequence_nr, has_id;
  bool is_bad; /* a time or a number that is none */
  int64_t ts_ns, dur_ns;
  int64_t sequence_nr;    /* args["Sequence number"], where it has one */
  int64_t forward_thread; /* args["Fwd thread id"], 0 where there was none */
  int64_t id;             /* of a flow */
  uint64_t position;      /* of the event's end in the file, in bytes */
} td_trace_event;

/* What the document says of itself, beside its events. */
typedef struct td_trace_header {
  bool is_list;    /* bare: the old profiler's, or of a build without Kineto */
  bool has_events; /* a list of events was found */
  int64_t base_ns; /* baseTimeNanoseconds: what ts counts from, or 0: ts are absolute */
  int64_t rank;    /* distributedInfo.rank, or -1 */
} td_trace_header;

typedef struct td_trace_parser td_trace_parser;
/* The event is the callback's to change. */
typedef void (*td_trace_event_cb)(td_trace_event *event, void *data);

td_trace_parser *td_trace_parser_new(td_trace_event_cb take, void *data);
void td_trace_parser_free(td_trace_parser *parser);

/* td_trace_parser_feed parses the next bytes of the file, which it changes where they bite.
 * TD_INVALID with what is wrong and at which byte, now and for ever after; the events before it
 * were handed out. td_trace_parser_finish says that the file is over: TD_INVALID where the document
 * is not. */
td_status td_trace_parser_feed(td_trace_parser *parser, unsigned char *bytes, size_t n,
                               td_error *error);
td_status td_trace_parser_finish(td_trace_parser *parser, td_error *error);

/* td_trace_parser_get_header returns what is known so far. Borrowed. */
const td_trace_header *td_trace_parser_get_header(const td_trace_parser *parser);
