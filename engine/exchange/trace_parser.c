/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/exchange/trace_parser.h"

#include "engine/base/alloc.h"
#include "engine/exchange/fixed_point.h"

#include <inttypes.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define DEPTH_MAX 256
#define TOKEN_BYTES_MAX (16u << 20) /* one text; the parser must hold it whole */

/* Where in the document the parser stands. What is deeper than these is passed over. */
typedef enum place {
  IN_FILE,        /* before the document */
  IN_DOCUMENT,    /* the object that holds traceEvents */
  IN_DISTRIBUTED, /* its distributedInfo */
  IN_EVENTS,      /* the list */
  IN_EVENT,
  IN_ARGUMENTS,
  N_PLACES,
} place;

typedef enum key {
  KEY_OTHER,
  KEY_PHASE,
  KEY_NAME,
  KEY_CATEGORY,
  KEY_TS,
  KEY_DUR,
  KEY_PROCESS,
  KEY_THREAD,
  KEY_ID,
  KEY_ARGUMENTS,
  KEY_SEQUENCE_NR,
  KEY_FORWARD_THREAD,
  KEY_ARGUMENT_NAME,
  KEY_EVENTS,
  KEY_BASE_TIME,
  KEY_DISTRIBUTED,
  KEY_RANK,
} key;

static const struct {
  place where;
  const char *text;
  key key;
} keys[] = {
    {IN_EVENT, "ph", KEY_PHASE},
    {IN_EVENT, "name", KEY_NAME},
    {IN_EVENT, "cat", KEY_CATEGORY},
    {IN_EVENT, "ts", KEY_TS},
    {IN_EVENT, "dur", KEY_DUR},
    {IN_EVENT, "pid", KEY_PROCESS},
    {IN_EVENT, "tid", KEY_THREAD},
    {IN_EVENT, "id", KEY_ID},
    {IN_EVENT, "args", KEY_ARGUMENTS},
    {IN_ARGUMENTS, "Sequence number", KEY_SEQUENCE_NR},
    {IN_ARGUMENTS, "Fwd thread id", KEY_FORWARD_THREAD},
    {IN_ARGUMENTS, "name", KEY_ARGUMENT_NAME},
    {IN_DOCUMENT, "traceEvents", KEY_EVENTS},
    {IN_DOCUMENT, "baseTimeNanoseconds", KEY_BASE_TIME},
    {IN_DOCUMENT, "distributedInfo", KEY_DISTRIBUTED},
    {IN_DISTRIBUTED, "rank", KEY_RANK},
};

struct td_trace_parser {
  yajl_handle yajl; /* (owned) */
  td_trace_event_cb take;
  void *data;
  td_trace_header header;
  uint32_t depth;          /* of objects and lists that are open */
  place place;             /* of the innermost of them that matters ... */
  uint32_t place_depth;    /* ... and its depth */
  key key;                 /* the last one there */
  uint64_t n_fed, n_token; /* bytes; since the last token */
  const char *refused;     /* (borrowed) why a callback wants no more */
  char *failure;           /* (owned) */
  td_trace_event event;
};

/* One level in, to a place that matters. */
static void
enter(td_trace_parser *self, place place) {
  self->place = place;
  self->place_depth = self->depth;
  self->key = KEY_OTHER;
}

static place
place_around(const td_trace_parser *self) {
  switch (self->place) {
  case IN_ARGUMENTS:
    return IN_EVENT;
  case IN_EVENT:
    return IN_EVENTS;
  case IN_DISTRIBUTED:
    return IN_DOCUMENT;
  case IN_EVENTS:
    return self->header.is_list ? IN_FILE : IN_DOCUMENT;
  default:
    return IN_FILE;
  }
}

static int
refuse(td_trace_parser *self, const char *why) {
  self->refused = why;
  return 0;
}

static uint64_t
position(const td_trace_parser *self) {
  return self->n_fed + yajl_get_bytes_consumed(self->yajl);
}

static void
event_begin(td_trace_event *event) {
  event->phase = 0;
  event->name[0] = event->category[0] = event->process[0] = event->thread[0] = '\0';
  event->argument[0] = '\0';
  event->name_length = 0;
  event->has_ts = event->has_sequence_nr = event->has_id = event->is_bad = false;
  event->ts_ns = event->dur_ns = event->sequence_nr = event->forward_thread = 0;
}

static bool
is_here(const td_trace_parser *self) {
  return self->depth == self->place_depth;
}

static int
open_any(td_trace_parser *self, bool is_map) {
  bool here = is_here(self);
  self->n_token = self->n_fed;
  if (++self->depth > DEPTH_MAX) return refuse(self, "nested deeper than any trace");
  if (!here) return 1;
  if (self->place == IN_FILE && is_map)
    enter(self, IN_DOCUMENT);
  else if (self->place == IN_FILE || (self->place == IN_DOCUMENT && self->key == KEY_EVENTS)) {
    if (is_map) return refuse(self, "traceEvents is not a list");
    self->header.is_list = self->place == IN_FILE;
    self->header.has_events = true;
    enter(self, IN_EVENTS);
  } else if (self->place == IN_DOCUMENT && self->key == KEY_DISTRIBUTED && is_map)
    enter(self, IN_DISTRIBUTED);
  else if (self->place == IN_EVENTS && is_map) {
    event_begin(&self->event);
    enter(self, IN_EVENT);
  } else if (self->place == IN_EVENT && self->key == KEY_ARGUMENTS && is_map)
    enter(self, IN_ARGUMENTS);
  return 1;
}

static int
close_any(td_trace_parser *self) {
  self->n_token = self->n_fed;
  if (is_here(self)) {
    if (self->place == IN_EVENT) {
      self->event.position = position(self);
      self->take(&self->event, self->data);
    }
    self->place = place_around(self);
    self->place_depth--;
    self->key = KEY_OTHER;
  }
  self->depth--;
  return 1;
}

static int
start_map_cb(void *data) {
  return open_any(data, true);
}

static int
start_array_cb(void *data) {
  return open_any(data, false);
}

static int
end_cb(void *data) {
  return close_any(data);
}

static int
map_key_cb(void *data, const unsigned char *text, size_t length) {
  td_trace_parser *self = data;
  self->n_token = self->n_fed;
  if (!is_here(self)) return 1;
  self->key = KEY_OTHER;
  for (size_t i = 0; i < TD_N_ELEMENTS(keys); i++)
    if (keys[i].where == self->place && strlen(keys[i].text) == length &&
        memcmp(keys[i].text, text, length) == 0) {
      self->key = keys[i].key;
      break;
    }
  return 1;
}

static size_t
copy_text(char *into, size_t room, const char *text, size_t length) {
  length = TD_MIN(length, room - 1);
  memcpy(into, text, length);
  into[length] = '\0';
  return length;
}

static void
take_time(td_trace_event *event, const char *text, size_t length, int64_t *ns) {
  if (!td_fixed_point_read(text, length, 3, ns)) event->is_bad = true;
}

/* A text where a number is due is read as one, for some writers quote them. */
static bool
take_number(td_trace_event *event, const char *text, size_t length, int64_t *number) {
  if (td_fixed_point_read(text, length, 0, number)) return true;
  event->is_bad = true;
  return false;
}

static void
take_event_value(td_trace_event *event, key key, const char *text, size_t length) {
  switch (key) {
  case KEY_PHASE:
    event->phase = length == 1 ? text[0] : 0;
    break;
  case KEY_NAME:
    event->name_length = copy_text(event->name, sizeof event->name, text, length);
    break;
  case KEY_CATEGORY:
    copy_text(event->category, sizeof event->category, text, length);
    break;
  case KEY_PROCESS:
    copy_text(event->process, sizeof event->process, text, length);
    break;
  case KEY_THREAD:
    copy_text(event->thread, sizeof event->thread, text, length);
    break;
  case KEY_ARGUMENT_NAME:
    copy_text(event->argument, sizeof event->argument, text, length);
    break;
  case KEY_TS:
    event->has_ts = true;
    take_time(event, text, length, &event->ts_ns);
    break;
  case KEY_DUR:
    take_time(event, text, length, &event->dur_ns);
    break;
  case KEY_SEQUENCE_NR:
    event->has_sequence_nr = take_number(event, text, length, &event->sequence_nr);
    break;
  case KEY_FORWARD_THREAD:
    take_number(event, text, length, &event->forward_thread);
    break;
  case KEY_ID:
    event->has_id = td_fixed_point_read(text, length, 0, &event->id);
    break;
  default:
    break;
  }
}

static int
take_value(td_trace_parser *self, const char *text, size_t length) {
  self->n_token = self->n_fed;
  if (!is_here(self) || self->key == KEY_OTHER) return 1;
  if (self->place == IN_EVENT || self->place == IN_ARGUMENTS)
    take_event_value(&self->event, self->key, text, length);
  else if (self->key == KEY_BASE_TIME)
    td_fixed_point_read(text, length, 0, &self->header.base_ns);
  else if (self->key == KEY_RANK)
    td_fixed_point_read(text, length, 0, &self->header.rank);
  else if (self->key == KEY_EVENTS)
    return refuse(self, "traceEvents is not a list");
  self->key = KEY_OTHER;
  return 1;
}

static int
string_cb(void *data, const unsigned char *text, size_t length) {
  return take_value(data, (const char *)text, length);
}

static int
number_cb(void *data, const char *text, size_t length) {
  return take_value(data, text, length);
}

static int
boolean_cb(void *data, int value) {
  return take_value(data, value ? "true" : "false", value ? 4 : 5);
}

/* As if the key were not there. */
static int
null_cb(void *data) {
  td_trace_parser *self = data;
  self->n_token = self->n_fed;
  if (is_here(self)) self->key = KEY_OTHER;
  return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = null_cb,
    .yajl_boolean = boolean_cb,
    .yajl_number = number_cb,
    .yajl_string = string_cb,
    .yajl_start_map = start_map_cb,
    .yajl_map_key = map_key_cb,
    .yajl_end_map = end_cb,
    .yajl_start_array = start_array_cb,
    .yajl_end_array = end_cb,
};

td_trace_parser *
td_trace_parser_new(td_trace_event_cb take, void *data) {
  td_trace_parser *self = TD_NEW(td_trace_parser);
  self->take = take;
  self->data = data;
  self->header.rank = -1;
  self->yajl = yajl_alloc(&callbacks, NULL, self);
  if (!self->yajl) abort();
  yajl_config(self->yajl, yajl_dont_validate_strings, 1);
  return self;
}

void
td_trace_parser_free(td_trace_parser *parser) {
  if (!parser) return;
  yajl_free(parser->yajl);
  free(parser->failure);
  free(parser);
}

/* The parser's words: "lexical error: invalid char in json text.\n" and lines that show where. */
static char *
dup_complaint(td_trace_parser *self) {
  if (self->refused) return td_dup_string(self->refused);
  unsigned char *words = yajl_get_error(self->yajl, 0, NULL, 0);
  char *text = td_dup_string((const char *)words);
  yajl_free_error(self->yajl, words);
  text[strcspn(text, "\n")] = '\0';
  return text;
}

static td_status
fail(td_trace_parser *self, uint64_t at, td_error *error) {
  if (!self->failure) {
    char *complaint = dup_complaint(self);
    self->failure = td_format("byte %" PRIu64 ": %s", at, complaint);
    free(complaint);
  }
  return td_error_set(error, TD_INVALID, "%s", self->failure);
}

/* JSON has no raw control characters, these files have; outside of texts they are space. */
static void
soften(unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    bytes[i] = bytes[i] < ' ' ? ' ' : bytes[i];
}

td_status
td_trace_parser_feed(td_trace_parser *parser, unsigned char *bytes, size_t n, td_error *error) {
  if (parser->failure) return fail(parser, 0, error);
  soften(bytes, n);
  if (yajl_parse(parser->yajl, bytes, n) != yajl_status_ok)
    return fail(parser, position(parser), error);
  parser->n_fed += n;
  if (parser->n_fed - parser->n_token <= TOKEN_BYTES_MAX) return TD_OK;
  parser->refused = "a text longer than any trace's";
  return fail(parser, parser->n_fed, error);
}

td_status
td_trace_parser_finish(td_trace_parser *parser, td_error *error) {
  if (parser->failure) return fail(parser, 0, error);
  if (yajl_complete_parse(parser->yajl) == yajl_status_ok) return TD_OK;
  parser->refused = parser->n_fed ? "the file ends here, the trace does not" : "the file is empty";
  return fail(parser, parser->n_fed, error);
}

const td_trace_header *
td_trace_parser_get_header(const td_trace_parser *parser) {
  return &parser->header;
}
