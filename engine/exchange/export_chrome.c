/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chrome's trace event format: one JSON object for each begin, end, step of a flow and count. */
#include "engine/base/alloc.h"
#include "engine/base/json.h"
#include "engine/base/line.h"
#include "engine/exchange/track_sink.h"

#include <inttypes.h>

#define FIRST_PLAIN_TID 1000000000u /* tracks that are no threads have no number of their own */

typedef struct chrome_track {
  uint32_t pid, tid;
  char *name; /* (owned) */
} chrome_track;

typedef struct chrome {
  FILE *out;
  bool has_events;
  chrome_track *tracks; /* (owned) [n] */
  uint32_t n, capacity;
  uint32_t named_pid; /* whose name was written last */
} chrome;

static void
print_string(chrome *self, const char *text) {
  td_json json;
  td_json_init(&json, self->out);
  td_json_take(&json, td_line_dup(text, TD_TEXT_SHOWN));
}

static void
begin_event(chrome *self, char phase, const chrome_track *track) {
  fputs(self->has_events ? ",\n" : "\n", self->out);
  self->has_events = true;
  fprintf(self->out, "{\"ph\": \"%c\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32, phase, track->pid,
          track->tid);
}

/* Times are microseconds. */
static void
print_time(chrome *self, uint64_t ns) {
  fprintf(self->out, ", \"ts\": %" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

static void
print_name(chrome *self, const char *category, const char *name) {
  fprintf(self->out, ", \"cat\": \"%s\", \"name\": ", category);
  print_string(self, name);
}

static void
name_thing(chrome *self, const chrome_track *track, const char *what, const char *name) {
  begin_event(self, 'M', track);
  fprintf(self->out, ", \"name\": \"%s\", \"args\": {\"name\": ", what);
  print_string(self, name);
  fputs("}}", self->out);
}

static void
track_cb(const td_track *track, void *data) {
  chrome *self = data;
  TD_GROW(self->tracks, self->n, self->capacity);
  chrome_track *made = &self->tracks[self->n++];
  bool is_thread = track->kind == TD_TRACK_THREAD;
  *made = (chrome_track){.pid = track->pid,
                         .tid = is_thread ? track->tid : FIRST_PLAIN_TID + track->number,
                         .name = td_dup_string(track->name)};
  if (self->n == 1 || self->named_pid != track->pid)
    name_thing(self, made, "process_name", track->process);
  self->named_pid = track->pid;
  if (track->kind != TD_TRACK_COUNTER) name_thing(self, made, "thread_name", track->name);
}

/* A step of a flow belongs to the slice around it. */
static void
print_flows(chrome *self, const chrome_track *track, uint64_t ns, char phase,
            td_track_flows flows) {
  for (uint32_t i = 0; i < flows.n; i++) {
    begin_event(self, phase, track);
    print_time(self, ns);
    print_name(self, "gradient", "gradient");
    fprintf(self->out, ", \"bp\": \"e\", \"id\": %" PRIu64 "}", flows.numbers[i]);
  }
}

static void
print_text_argument(chrome *self, const char *name, const char *value, const char **separator) {
  if (!value) return;
  fprintf(self->out, "%s\"%s\": ", *separator, name);
  print_string(self, value);
  *separator = ", ";
}

static void
print_id_argument(chrome *self, const char *name, uint32_t value, const char **separator) {
  if (value == TD_NONE) return;
  fprintf(self->out, "%s\"%s\": %" PRIu32, *separator, name, value);
  *separator = ", ";
}

static void
print_slice(chrome *self, const chrome_track *track, char phase, uint64_t ns,
            const td_track_slice *slice) {
  const char *separator = "";
  begin_event(self, phase, track);
  print_time(self, ns);
  print_name(self, slice->category, slice->name);
  fputs(phase == 'i' ? ", \"s\": \"t\", \"args\": {" : ", \"args\": {", self->out);
  print_id_argument(self, "node", slice->node, &separator);
  print_id_argument(self, "graph_task", slice->graph_task, &separator);
  print_text_argument(self, "label", slice->label, &separator);
  print_text_argument(self, "module", slice->module, &separator);
  fputs("}}", self->out);
}

static void
begin_cb(uint32_t number, uint64_t ns, const td_track_slice *slice, td_track_flows ended,
         void *data) {
  chrome *self = data;
  const chrome_track *track = &self->tracks[number];
  print_slice(self, track, 'B', ns, slice);
  print_flows(self, track, ns, 'f', ended);
}

/* Tools show them beside the arguments of the begin. */
static void
print_wait(chrome *self, const td_track_wait *wait) {
  const char *separator = "";
  fputs(", \"args\": {", self->out);
  print_text_argument(self, "holder", wait->holder, &separator);
  fprintf(self->out, "%s\"held_ns\": %" PRIu64 ", \"late_ns\": %" PRIu64 "}", separator,
          wait->held_ns, wait->late_ns);
}

static void
end_cb(uint32_t number, uint64_t ns, td_track_flows begun, const td_track_wait *wait, void *data) {
  chrome *self = data;
  const chrome_track *track = &self->tracks[number];
  print_flows(self, track, ns, 's', begun);
  begin_event(self, 'E', track);
  print_time(self, ns);
  if (wait) print_wait(self, wait);
  fputs("}", self->out);
}

/* A flow begins at slices alone. */
static void
mark_cb(uint32_t number, uint64_t ns, const td_track_slice *slice, td_track_flows begun,
        void *data) {
  chrome *self = data;
  print_slice(self, &self->tracks[number], begun.n ? 'B' : 'i', ns, slice);
  if (begun.n) end_cb(number, ns, begun, NULL, data);
}

static void
count_cb(uint32_t number, uint64_t ns, uint64_t value, void *data) {
  chrome *self = data;
  const chrome_track *track = &self->tracks[number];
  begin_event(self, 'C', track);
  print_time(self, ns);
  print_name(self, "queue", track->name);
  fprintf(self->out, ", \"args\": {\"tasks\": %" PRIu64 "}}", value);
}

td_status
td_export_chrome(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error) {
  chrome self = {.out = out};
  const td_track_sink sink = {track_cb, begin_cb, end_cb, mark_cb, count_cb, &self};
  fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", out);
  td_status status = td_tracks_write(tape, wish, &sink, error);
  fputs("\n]}\n", out);
  for (uint32_t i = 0; i < self.n; i++)
    free(self.tracks[i].name);
  free(self.tracks);
  return status;
}
