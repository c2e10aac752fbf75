/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/remote/relay_sender.h"

#include <string.h>

#define FOLLOW_MS 500
#define AHEAD_BYTES_MAX (256u << 10) /* of the tape, on their way to the desk */
#define QUEUED_BYTES_MAX (4u << 20)  /* of lines, behind the tape */

static void
send_text(td_relay_sender *self, const char *text) {
  if (!td_outlet_send(&self->desk, text, strlen(text))) self->over(self->data);
}

static bool
needs_tape(const char *line) {
  return g_str_has_prefix(line, "tape ") || g_str_has_prefix(line, "stopped ") ||
         g_str_has_prefix(line, "over ");
}

static void
begin_pass(td_relay_sender *self, bool is_whole) {
  self->is_shipping = true;
  self->is_for_line = self->lines.length > 0;
  td_tape_shipper_begin(self->shipper, is_whole);
}

static void
ship_next(td_relay_sender *self) {
  td_line_text text;
  if (td_tape_shipper_next(self->shipper, &text)) {
    td_relay_sender_say(self, &text);
    td_line_text_fini(&text);
    return;
  }
  self->is_shipping = false;
  self->is_caught_up = self->is_for_line;
}

static void
pass_on_first(td_relay_sender *self) {
  g_autofree char *line = g_queue_pop_head(&self->lines);
  self->n_queued_bytes -= strlen(line);
  self->is_caught_up = false;
  send_text(self, line);
}

static void
begin_last_pass(td_relay_sender *self) {
  self->is_last = true;
  if (!self->shipper) return;
  td_tape_shipper_follow(self->shipper);
  begin_pass(self, true);
}

static void
end(td_relay_sender *self) {
  self->has_ended = true;
  send_text(self, "ended\n");
  if (!self->desk.unsent->len) self->over(self->data);
}

/* False: nothing is left to send. */
static bool
send_next(td_relay_sender *self) {
  const char *line = g_queue_peek_head(&self->lines);
  if (self->is_shipping)
    ship_next(self);
  else if (line && self->shipper && needs_tape(line) && !self->is_caught_up)
    begin_pass(self, false);
  else if (line)
    pass_on_first(self);
  else if (self->is_finishing && !self->is_last)
    begin_last_pass(self);
  else if (self->is_last && !self->has_ended)
    end(self);
  else
    return false;
  return true;
}

/* The tape is sent no faster than the desk reads, and what the desk says comes first. */
static gboolean
pump_cb(gpointer data) {
  td_relay_sender *self = data;
  bool has_room = self->desk.unsent->len < AHEAD_BYTES_MAX;
  if (has_room && send_next(self)) return G_SOURCE_CONTINUE;
  self->pumping = 0;
  return G_SOURCE_REMOVE;
}

static void
send_more(td_relay_sender *self) {
  if (!self->pumping) self->pumping = g_idle_add(pump_cb, self);
}

static void
drained_cb(void *data) {
  td_relay_sender *self = data;
  if (self->has_ended)
    self->over(self->data);
  else
    send_more(self);
}

static gboolean
follow_cb(gpointer data) {
  td_relay_sender *self = data;
  if (!self->shipper || self->is_shipping || !td_tape_shipper_is_due(self->shipper))
    return G_SOURCE_CONTINUE;
  begin_pass(self, false);
  send_more(self);
  return G_SOURCE_CONTINUE;
}

void
td_relay_sender_init(td_relay_sender *self, int fd, void (*over)(void *data), void *data) {
  *self = (td_relay_sender){.over = over, .data = data};
  td_outlet_init(&self->desk, drained_cb, self);
  td_outlet_set_file(&self->desk, fd);
  self->following = g_timeout_add(FOLLOW_MS, follow_cb, self);
}

void
td_relay_sender_fini(td_relay_sender *self) {
  g_clear_handle_id(&self->following, g_source_remove);
  g_clear_handle_id(&self->pumping, g_source_remove);
  td_outlet_fini(&self->desk);
  g_queue_clear_full(&self->lines, g_free);
  td_tape_shipper_free(self->shipper);
}

void
td_relay_sender_say(td_relay_sender *self, const td_line_text *line) {
  send_text(self, line->bytes);
}

void
td_relay_sender_queue(td_relay_sender *self, const td_line_text *line) {
  self->n_queued_bytes += line->n_bytes;
  g_queue_push_tail(&self->lines, g_strdup(line->bytes));
  if (self->n_queued_bytes > QUEUED_BYTES_MAX) self->over(self->data);
  send_more(self);
}

void
td_relay_sender_take(td_relay_sender *self, td_tape_shipper *shipper) {
  self->shipper = shipper;
}

void
td_relay_sender_finish(td_relay_sender *self) {
  self->is_finishing = true;
  send_more(self);
}
