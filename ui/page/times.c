/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/times.h"

#include "engine/base/alloc.h"
#include "engine/profile/report/report_keys.h"

static bool
is_of_pass(const td_page_times *self, uint32_t pass) {
  return td_lives_pass(self->lives, pass)->graph_task == self->graph_task;
}

static void
life_cb(const td_life *life, void *data) {
  td_page_times *self = data;
  if (!is_of_pass(self, life->pass)) return;
  self->pass = life->pass;
  TD_GROW(self->rows, self->n_rows, self->row_capacity);
  self->rows[self->n_rows++] = *life;
}

static void
span_cb(const td_life_span *span, void *data) {
  td_page_times *self = data;
  if (!is_of_pass(self, span->pass)) return;
  TD_GROW(self->spans, self->n_spans, self->span_capacity);
  self->spans[self->n_spans++] =
      (td_page_span){span->kind == TD_EVENT_hook_begin,
                     td_report_span_key(self->catalog, self->tape, span), span->ns};
}

td_status
td_page_times_make(td_page_times *self, td_tape *tape, const td_page_nodes *nodes,
                   uint32_t graph_task, uint64_t first, uint64_t end, td_error *error) {
  const td_segment segment = {.number = TD_SEGMENT_WHOLE, .first = first, .end = end};
  *self = (td_page_times){.catalog = nodes->catalog,
                          .tape = tape,
                          .nodes = nodes,
                          .graph_task = graph_task,
                          .pass = TD_NONE};
  self->lives = td_lives_new(td_tape_info_get(tape),
                             (td_life_listener){.life = life_cb, .span = span_cb, .data = self});
  td_tape_begin_pass(tape, &segment);
  for (uint64_t seq = first; seq < end; seq++) {
    const td_any_event *event = td_tape_peek(tape, seq);
    if (event) td_lives_apply(self->lives, event);
  }
  td_tape_end_pass(tape);
  uint32_t n = td_lives_end(self->lives);
  for (uint32_t i = 0; i < n && self->pass == TD_NONE; i++)
    if (is_of_pass(self, i)) self->pass = i;
  return td_tape_check_readable(tape, error);
}

void
td_page_times_fini(td_page_times *self) {
  td_lives_free(self->lives);
  for (uint32_t i = 0; i < self->n_spans; i++)
    free(self->spans[i].key);
  free(self->rows);
  free(self->spans);
}

static void
write_pass(const td_page_times *self, td_json *json) {
  const td_life_pass *pass = self->pass == TD_NONE ? NULL : td_lives_pass(self->lives, self->pass);
  uint64_t wall = pass ? pass->end_ns - pass->begin_ns : 0;
  td_json_key(json, "wall");
  pass ? td_json_u64(json, wall) : td_json_null(json);
  td_json_key(json, "unattributed");
  pass ? td_json_u64(json, wall - TD_MIN(wall, pass->busy_ns)) : td_json_null(json);
  td_json_key(json, "ended");
  td_json_bool(json, pass && pass->has_ended);
}

static void
write_parts(td_json *json, const td_tape_info *info) {
  td_json_key(json, "parts");
  td_json_begin_array(json);
  for (int part = 0; part < TD_N_LIFE_PARTS; part++) {
    td_json_begin_array(json);
    td_json_string(json, td_life_part_name((td_life_part)part));
    td_json_bool(json, td_life_is_known(info, (td_life_part)part));
    td_json_end_array(json);
  }
  td_json_end_array(json);
  td_json_key(json, "known");
  td_json_string(json, td_enum_word(TD_FIELD_ENUM_knowledge, info->known[TD_EVENT_node_end]));
}

static void
write_life(const td_page_times *self, td_json *json, const td_life *life) {
  td_json_begin_array(json);
  td_json_id(json, td_page_nodes_find(self->nodes, life->node));
  td_json_id(json, life->thread);
  td_json_id(json, life->queue);
  td_json_id(json, life->graph_task);
  for (int part = 0; part < TD_N_LIFE_PARTS; part++)
    td_json_u64(json, life->parts[part]);
  td_json_end_array(json);
}

static void
write_spans(const td_page_times *self, td_json *json, const char *name, bool is_hook) {
  td_json_key(json, name);
  td_json_begin_array(json);
  for (uint32_t i = 0; i < self->n_spans; i++) {
    if (self->spans[i].is_hook != is_hook) continue;
    td_json_begin_array(json);
    td_json_string(json, self->spans[i].key);
    td_json_u64(json, self->spans[i].ns);
    td_json_end_array(json);
  }
  td_json_end_array(json);
}

void
td_page_times_write(const td_page_times *self, td_json *json) {
  td_json_begin_object(json);
  write_pass(self, json);
  write_parts(json, td_tape_info_get(self->tape));
  td_json_key(json, "lives");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < self->n_rows; i++)
    write_life(self, json, &self->rows[i]);
  td_json_end_array(json);
  write_spans(self, json, "hooks", true);
  write_spans(self, json, "locks", false);
  td_json_end_object(json);
}
