/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Perfetto's TrackEvents: one packet for each begin, end, mark and count. Names and categories are
 * interned: the first packet that needs one defines it. */
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/base/number_map.h"
#include "engine/base/text_table.h"
#include "engine/base/utf8.h"
#include "engine/exchange/proto.h"
#include "engine/exchange/track_sink.h"

#include <string.h>

enum {
#define TD_PROTO(message, field, number) message##_##field = number,
#include "engine/exchange/perfetto.def"
#undef TD_PROTO
};

typedef enum event_type { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER } event_type;

/* Of sequence_flags: what was interned before is forgotten, and what is interned is needed. */
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

#define OF_PROCESS ((uint64_t)1 << 32) /* ids of tracks: of a process, beside its number */

typedef struct perfetto {
  FILE *out;
  bool has_packets;
  td_byte_list trace, packet, event, interned, inner, descriptor;
  td_text_table names, categories;
  td_number_map processes; /* by pid: 1 once it was described */
} perfetto;

/* ---- packets ---- */

static void
write_packet(perfetto *self) {
  td_proto_varint(&self->packet, TracePacket_trusted_packet_sequence_id, 1);
  td_proto_varint(&self->packet, TracePacket_sequence_flags,
                  self->has_packets ? NEEDS_STATE : STATE_CLEARED | NEEDS_STATE);
  self->has_packets = true;
  td_proto_message(&self->trace, Trace_packet, &self->packet);
  fwrite(self->trace.bytes, 1, self->trace.n, self->out);
  self->trace.n = 0;
}

static void
write_event(perfetto *self, uint64_t ns) {
  td_proto_varint(&self->packet, TracePacket_timestamp, ns);
  if (self->interned.n) td_proto_message(&self->packet, TracePacket_interned_data, &self->interned);
  td_proto_message(&self->packet, TracePacket_track_event, &self->event);
  write_packet(self);
}

static uint64_t
id_of_track(uint32_t track) {
  return (uint64_t)track + 1;
}

static void
begin_event(perfetto *self, event_type type, uint32_t track) {
  td_proto_varint(&self->event, TrackEvent_type, type);
  td_proto_varint(&self->event, TrackEvent_track_uuid, id_of_track(track));
}

/* ---- texts ---- */

static void
put_text(td_byte_list *proto, uint32_t field, const char *text) {
  char *line = td_utf8_make(td_line_dup(text, TD_TEXT_SHOWN));
  td_proto_text(proto, field, line);
  free(line);
}

/* The number of a text; 0 stands for none. */
static uint64_t
intern(perfetto *self, td_text_table *table, uint32_t field, const char *text) {
  uint32_t n = table->n;
  if (!*text) text = "(no name)";
  uint32_t number = td_text_table_put(table, text, td_line_cut(text, TD_TEXT_SHOWN));
  if (number <= n) return number;
  td_proto_varint(&self->inner, EventName_iid, number);
  put_text(&self->inner, EventName_name, text);
  td_proto_message(&self->interned, field, &self->inner);
  return number;
}

static void
annotate_number(perfetto *self, const char *name, uint64_t value) {
  td_proto_text(&self->inner, DebugAnnotation_name, name);
  td_proto_varint(&self->inner, DebugAnnotation_uint_value, value);
  td_proto_message(&self->event, TrackEvent_debug_annotations, &self->inner);
}

static void
annotate_id(perfetto *self, const char *name, uint32_t value) {
  if (value != TD_NONE) annotate_number(self, name, value);
}

static void
annotate_text(perfetto *self, const char *name, const char *value) {
  if (!value) return;
  td_proto_text(&self->inner, DebugAnnotation_name, name);
  put_text(&self->inner, DebugAnnotation_string_value, value);
  td_proto_message(&self->event, TrackEvent_debug_annotations, &self->inner);
}

static void
put_slice(perfetto *self, const td_track_slice *slice) {
  uint64_t category =
      intern(self, &self->categories, InternedData_event_categories, slice->category);
  uint64_t name = intern(self, &self->names, InternedData_event_names, slice->name);
  td_proto_varint(&self->event, TrackEvent_category_iids, category);
  td_proto_varint(&self->event, TrackEvent_name_iid, name);
  annotate_id(self, "node", slice->node);
  annotate_id(self, "graph_task", slice->graph_task);
  annotate_text(self, "label", slice->label);
  annotate_text(self, "module", slice->module);
}

static void
put_wait(perfetto *self, const td_track_wait *wait) {
  annotate_text(self, "holder", wait->holder);
  annotate_number(self, "held_ns", wait->held_ns);
  annotate_number(self, "late_ns", wait->late_ns);
}

static void
put_flows(perfetto *self, uint32_t field, td_track_flows flows) {
  for (uint32_t i = 0; i < flows.n; i++)
    td_proto_fixed64(&self->event, field, flows.numbers[i]);
}

/* ---- tracks ---- */

static void
write_descriptor(perfetto *self) {
  td_proto_message(&self->packet, TracePacket_track_descriptor, &self->descriptor);
  write_packet(self);
}

static void
describe_process(perfetto *self, uint32_t pid, const char *name) {
  uint64_t *is_described = td_number_map_put(&self->processes, pid);
  if (*is_described) return;
  *is_described = 1;
  td_proto_varint(&self->descriptor, TrackDescriptor_uuid, OF_PROCESS + pid);
  td_proto_varint(&self->inner, ProcessDescriptor_pid, pid & INT32_MAX);
  put_text(&self->inner, ProcessDescriptor_process_name, name);
  td_proto_message(&self->descriptor, TrackDescriptor_process, &self->inner);
  write_descriptor(self);
}

static void
track_cb(const td_track *track, void *data) {
  perfetto *self = data;
  describe_process(self, track->pid, track->process);
  td_proto_varint(&self->descriptor, TrackDescriptor_uuid, id_of_track(track->number));
  td_proto_varint(&self->descriptor, TrackDescriptor_parent_uuid, OF_PROCESS + track->pid);
  if (track->kind == TD_TRACK_THREAD) {
    td_proto_varint(&self->inner, ThreadDescriptor_pid, track->pid & INT32_MAX);
    td_proto_varint(&self->inner, ThreadDescriptor_tid, track->tid & INT32_MAX);
    put_text(&self->inner, ThreadDescriptor_thread_name, track->name);
    td_proto_message(&self->descriptor, TrackDescriptor_thread, &self->inner);
  } else {
    put_text(&self->descriptor, TrackDescriptor_name, track->name);
  }
  if (track->kind == TD_TRACK_COUNTER) {
    td_proto_text(&self->inner, CounterDescriptor_unit_name, "tasks");
    td_proto_message(&self->descriptor, TrackDescriptor_counter, &self->inner);
  }
  write_descriptor(self);
}

static void
begin_cb(uint32_t track, uint64_t ns, const td_track_slice *slice, td_track_flows ended,
         void *data) {
  perfetto *self = data;
  begin_event(self, SLICE_BEGIN, track);
  put_slice(self, slice);
  put_flows(self, TrackEvent_terminating_flow_ids, ended);
  write_event(self, ns);
}

static void
end_cb(uint32_t track, uint64_t ns, td_track_flows begun, const td_track_wait *wait, void *data) {
  perfetto *self = data;
  begin_event(self, SLICE_END, track);
  if (wait) put_wait(self, wait);
  put_flows(self, TrackEvent_flow_ids, begun);
  write_event(self, ns);
}

static void
mark_cb(uint32_t track, uint64_t ns, const td_track_slice *slice, td_track_flows begun,
        void *data) {
  perfetto *self = data;
  begin_event(self, INSTANT, track);
  put_slice(self, slice);
  put_flows(self, TrackEvent_flow_ids, begun);
  write_event(self, ns);
}

static void
count_cb(uint32_t track, uint64_t ns, uint64_t value, void *data) {
  perfetto *self = data;
  begin_event(self, COUNTER, track);
  td_proto_varint(&self->event, TrackEvent_counter_value, value);
  write_event(self, ns);
}

td_status
td_export_perfetto(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error) {
  perfetto self = {.out = out};
  const td_track_sink sink = {track_cb, begin_cb, end_cb, mark_cb, count_cb, &self};
  td_status status = td_tracks_write(tape, wish, &sink, error);
  td_byte_list *lists[] = {&self.trace,    &self.packet, &self.event,
                           &self.interned, &self.inner,  &self.descriptor};
  for (size_t i = 0; i < TD_N_ELEMENTS(lists); i++)
    td_byte_list_fini(lists[i]);
  td_text_table_fini(&self.names);
  td_text_table_fini(&self.categories);
  td_number_map_fini(&self.processes);
  return status;
}
