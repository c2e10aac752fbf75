/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/modeller_state.h"

/* ---- locks ---- */

void
td_modeller_begin_lock_wait(td_modeller *self, td_model_lane *lane,
                            const td_event_lock_wait *event) {
  uint64_t now = event->event.time;
  td_modeller_list_busy(self, lane, event->event.thread);
  lane->wait =
      (td_lock_wait){.is_on = true,
                     .from = td_modeller_place_in(self, lane, now),
                     .freed = TD_NO_PLACE,
                     .lock = event->lock,
                     .object = event->object,
                     .begin_ns = lane->n ? td_model_offset_in(&lane->frames[lane->n - 1], now) : 0,
                     .named = TD_NONE};
}

/* Where a thread is now, or was when it began to wait itself. */
static td_model_place
place_of(const td_modeller *self, uint32_t thread) {
  if (thread >= self->n_lanes) return TD_NO_PLACE;
  const td_model_lane *lane = &self->lanes[thread];
  return lane->wait.is_on ? lane->wait.from : td_modeller_place_in(self, lane, self->now);
}

void
td_modeller_freed_cb(uint32_t waiter, uint32_t holder, void *data) {
  td_modeller *self = data;
  if (waiter < self->n_lanes) self->lanes[waiter].wait.freed = place_of(self, holder);
}

/* Without an event that tells of it, the holder gave the lock back at latest now. */
void
td_modeller_waited_cb(const td_held_wait *wait, void *data) {
  td_modeller *self = data;
  td_model_lane *lane = &self->lanes[wait->thread];
  if (!lane->wait.is_on) return;
  lane->wait.is_on = false;
  uint32_t holder = wait->last_holder == wait->thread ? TD_NONE : wait->last_holder;
  td_model_place place = wait->was_freed ? lane->wait.freed : place_of(self, holder);
  const td_model_wait found = {.kind = TD_MODEL_WAIT_lock,
                               .lock = wait->lock,
                               .object = wait->object,
                               .thread = wait->thread,
                               .holder = holder,
                               .from = place.piece,
                               .offset_ns = place.offset_ns,
                               .ns = wait->end_ns - TD_MIN(wait->end_ns, wait->begin_ns)};
  td_modeller_end_wait(self, lane, lane->wait.from, &found, self->now);
}

/* ---- streams ---- */

static void
add_source(td_modeller *self, td_model_wait_kind kind, td_model_place from) {
  const td_model_wait wait = {.kind = kind,
                              .thread = TD_NONE,
                              .holder = TD_NONE,
                              .from = from.piece,
                              .offset_ns = from.offset_ns};
  td_modeller_add_wait(self, &wait);
}

/* The end of a kernel or a join. */
static td_model_place
end_of(const td_modeller *self, uint32_t piece) {
  return (td_model_place){piece, self->model.pieces[piece].length_ns};
}

/* The time in which a kernel queues behind work that no task of the model launched. Returns where
 * the kernel comes from then. */
static td_model_place
queue_up(td_modeller *self, td_model_piece kernel, td_model_place launch, uint64_t ns) {
  add_source(self, TD_MODEL_WAIT_launch, launch);
  kernel.length_ns = ns;
  return (td_model_place){td_modeller_add_piece(self, kernel, 1), ns};
}

/* A kernel that is told of late began before its event: nobody knows when it was launched. */
void
td_modeller_launch(td_modeller *self, const td_model_lane *lane, const td_event_kernel *event) {
  uint64_t now = event->event.time, end = now + event->queued + event->took;
  td_model_stream stream = {event->device, event->stream};
  bool is_late = event->queued > INT64_MAX;
  if (event->device < 0) return;
  td_stream_front *front = td_pass_streams_front(&self->streams, stream);
  td_model_place launch = is_late ? TD_NO_PLACE : td_modeller_place_in(self, lane, now);
  self->streams.last_ns = TD_MAX(self->streams.last_ns, end);
  if (launch.piece == TD_NONE) {
    front->unknown_ns = TD_MAX(front->unknown_ns, end);
    return;
  }
  td_model_piece kernel = {.task = self->model.pieces[launch.piece].task, .stream = stream};
  td_model_wait_kind kind = TD_MODEL_WAIT_launch;
  uint64_t behind = TD_MIN(front->unknown_ns - TD_MIN(front->unknown_ns, now), event->queued);
  if (behind) {
    launch = queue_up(self, kernel, launch, behind);
    kind = TD_MODEL_WAIT_stream;
  }
  add_source(self, kind, launch);
  if (front->piece != TD_NONE) add_source(self, TD_MODEL_WAIT_stream, end_of(self, front->piece));
  kernel.length_ns = event->took;
  uint32_t n_sources = 1 + (front->piece != TD_NONE);
  *front = (td_stream_front){td_modeller_add_piece(self, kernel, n_sources), end, 0};
}

void
td_modeller_record(td_modeller *self, const td_event_stream_record *event) {
  td_pass_streams_record(&self->streams, (td_model_stream){event->device, event->stream},
                         event->stream_event);
}

void
td_modeller_join(td_modeller *self, const td_event_stream_wait *event) {
  td_model_stream stream = {event->device, event->stream};
  if (event->device < 0) return;
  td_stream_front *front = td_pass_streams_front(&self->streams, stream);
  td_stream_front other = td_pass_streams_recorded(&self->streams, event->stream_event);
  front->unknown_ns = TD_MAX(front->unknown_ns, other.unknown_ns);
  if (other.piece == TD_NONE || other.piece == front->piece) return;
  if (front->piece != TD_NONE) {
    add_source(self, TD_MODEL_WAIT_stream, end_of(self, front->piece));
    add_source(self, TD_MODEL_WAIT_stream, end_of(self, other.piece));
    other.piece =
        td_modeller_add_piece(self, (td_model_piece){.task = TD_NONE, .stream = stream}, 2);
  }
  front->piece = other.piece;
  front->end_ns = TD_MAX(front->end_ns, other.end_ns);
}

void
td_modeller_begin_stream_wait(td_modeller *self, td_model_lane *lane,
                              const td_event_synchronize_begin *event) {
  td_modeller_list_busy(self, lane, event->event.thread);
  td_model_stream stream = {event->device, event->stream};
  bool is_event = event->stream_event != TD_NONE;
  lane->stream_wait = (td_stream_wait){
      .is_on = true,
      .stream = stream,
      .front = is_event ? td_pass_streams_recorded(&self->streams, event->stream_event)
                        : *td_pass_streams_front(&self->streams, stream),
      .begin_ns = event->event.time,
      .from = td_modeller_place_in(self, lane, event->event.time)};
}

/* The last kernel that the thread waited for, or TD_NONE if other work was over later. */
static uint32_t
awaited_by(const td_stream_wait *wait) {
  return wait->front.unknown_ns > TD_MAX(wait->front.end_ns, wait->begin_ns) ? TD_NONE
                                                                             : wait->front.piece;
}

void
td_modeller_end_stream_wait(td_modeller *self, td_model_lane *lane,
                            const td_event_synchronize_end *event) {
  td_stream_wait *wait = &lane->stream_wait;
  uint64_t now = event->event.time;
  if (!wait->is_on) return;
  wait->is_on = false;
  uint32_t piece = awaited_by(wait);
  td_model_wait found = {.kind = TD_MODEL_WAIT_stream,
                         .stream = wait->stream,
                         .thread = event->event.thread,
                         .holder = TD_NONE,
                         .from = piece,
                         .offset_ns = piece == TD_NONE ? 0 : end_of(self, piece).offset_ns,
                         .ns = now - TD_MIN(now, wait->begin_ns)};
  td_modeller_end_wait(self, lane, wait->from, &found, now);
}
