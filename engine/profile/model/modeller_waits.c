/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/modeller_state.h"

/* ---- locks ---- */

void
td_modeller_begin_lock_wait(td_modeller *self, td_model_lane *lane,
                            const td_event_lock_wait *event) {
  td_modeller_list_busy(self, lane, event->event.thread);
  lane->wait = (td_pass_wait){.is_on = true,
                              .lock = event->lock,
                              .object = event->object,
                              .holder = TD_NONE,
                              .holder_piece = TD_NONE,
                              .order = self->order,
                              .begin_ns = event->event.time,
                              .from = td_modeller_place_in(self, lane, event->event.time)};
}

void
td_modeller_note_holder(const td_modeller *self, td_model_lane *lane,
                        const td_event_lock_held *event) {
  if (!td_pass_wait_is_for(&lane->wait, event->lock, event->object)) return;
  lane->wait.holder = event->holder;
  if (event->holder < self->n_lanes) lane->wait.holder_piece = self->lanes[event->holder].piece;
}

void
td_modeller_note_release(td_modeller *self, const td_model_lane *lane,
                         const td_event_lock_released *event) {
  td_pass_lock *lock = td_pass_locks_get(&self->locks, event->lock, event->object);
  lock->releaser = event->event.thread;
  lock->released_order = self->order;
  lock->released = td_modeller_place_in(self, lane, event->event.time);
}

/* Who found a lock free does not tell when it gave it back: that is at latest when the next one
 * gets it. A task gives back all its locks but the GIL. */
static td_model_place
guess_release(const td_modeller *self, const td_pass_wait *wait, uint64_t now) {
  const td_model_piece *pieces = self->model.pieces;
  if (wait->holder >= self->n_lanes) return TD_NO_PLACE;
  const td_model_lane *holder = &self->lanes[wait->holder];
  bool was_at_task = wait->holder_piece != TD_NONE;
  bool is_at_it =
      holder->n &&
      (wait->lock == TD_lock_kind_gil ||
       (was_at_task && pieces[wait->holder_piece].task == holder->frames[holder->n - 1].task));
  if (is_at_it)
    return holder->wait.is_on ? holder->wait.from : td_modeller_place_in(self, holder, now);
  if (!was_at_task) return TD_NO_PLACE;
  return (td_model_place){wait->holder_piece, pieces[wait->holder_piece].length_ns};
}

void
td_modeller_end_lock_wait(td_modeller *self, td_model_lane *lane,
                          const td_event_lock_acquired *event) {
  uint32_t thread = event->event.thread;
  uint64_t now = event->event.time;
  td_pass_wait *wait = &lane->wait;
  bool is_known = td_pass_wait_is_for(wait, event->lock, event->object);
  wait->is_on = false;
  td_pass_lock *lock = td_pass_locks_get(&self->locks, event->lock, event->object);
  if (is_known) {
    bool is_told = td_pass_wait_settle(wait, lock, thread);
    td_model_place place = is_told ? lock->released : guess_release(self, wait, now);
    const td_model_wait found = {.kind = TD_MODEL_WAIT_lock,
                                 .lock = wait->lock,
                                 .object = wait->object,
                                 .thread = thread,
                                 .holder = wait->holder,
                                 .from = place.piece,
                                 .offset_ns = place.offset_ns,
                                 .ns = now - TD_MIN(now, wait->begin_ns)};
    td_modeller_end_wait(self, lane, wait->from, &found, now);
  }
  lock->taker = thread;
  lock->taken_order = self->order;
  lock->taker_piece = lane->piece;
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
