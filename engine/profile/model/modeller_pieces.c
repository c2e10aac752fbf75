/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/alloc.h"
#include "engine/profile/model/modeller_state.h"

uint64_t
td_model_offset_in(const td_model_frame *frame, uint64_t now) {
  return now - TD_MIN(now, frame->pop_ns + frame->away_ns);
}

td_model_place
td_modeller_place_in(const td_modeller *self, const td_model_lane *lane, uint64_t now) {
  if (!lane->n) return TD_NO_PLACE;
  uint64_t begin = self->model.pieces[lane->piece].offset_ns;
  uint64_t offset = td_model_offset_in(&lane->frames[lane->n - 1], now);
  return (td_model_place){lane->piece, offset - TD_MIN(begin, offset)};
}

void
td_modeller_add_wait(td_modeller *self, const td_model_wait *wait) {
  TD_GROW(self->model.waits, self->model.n_waits, self->wait_capacity);
  self->model.waits[self->model.n_waits++] = *wait;
}

uint32_t
td_modeller_add_piece(td_modeller *self, td_model_piece piece, uint32_t n_waits) {
  td_pass_model *model = &self->model;
  piece.first_wait = model->n_waits - n_waits;
  piece.n_waits = n_waits;
  TD_GROW(model->pieces, model->n_pieces, self->piece_capacity);
  model->pieces[model->n_pieces] = piece;
  return model->n_pieces++;
}

void
td_modeller_begin_piece(td_modeller *self, td_model_lane *lane, uint64_t offset, uint32_t n_waits) {
  lane->piece = td_modeller_add_piece(self,
                                      (td_model_piece){.task = lane->frames[lane->n - 1].task,
                                                       .stream = TD_MODEL_NO_STREAM,
                                                       .offset_ns = offset},
                                      n_waits);
}

void
td_modeller_end_piece(td_modeller *self, const td_model_lane *lane, uint64_t now) {
  td_model_place place = td_modeller_place_in(self, lane, now);
  if (place.piece != TD_NONE) self->model.pieces[place.piece].length_ns = place.offset_ns;
}

static void
split_task(td_modeller *self, td_model_lane *lane, td_model_place from, const td_model_wait *wait,
           uint64_t now) {
  td_model_piece *piece = &self->model.pieces[from.piece];
  uint64_t begin = piece->offset_ns + from.offset_ns;
  piece->length_ns = from.offset_ns;
  self->model.tasks[piece->task].waited_ns += wait->ns;
  td_modeller_add_wait(self, wait);
  if (wait->from == TD_NONE) {
    td_modeller_begin_piece(self, lane, begin, 1);
    self->model.pieces[lane->piece].length_ns = wait->ns;
  }
  const td_model_frame *top = &lane->frames[lane->n - 1];
  td_modeller_begin_piece(self, lane, td_model_offset_in(top, now), wait->from != TD_NONE);
}

void
td_modeller_end_wait(td_modeller *self, td_model_lane *lane, td_model_place from,
                     const td_model_wait *wait, uint64_t now) {
  if (from.piece != lane->piece) return; /* other tasks came between */
  if (lane->n) return split_task(self, lane, from, wait, now);
  if (wait->from == TD_NONE) return;
  TD_GROW(lane->before, lane->n_before, lane->before_capacity);
  lane->before[lane->n_before++] = *wait;
}
