/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a relay sends to its desk: lines in their order, and the tape between them. A line that
 * speaks of the tape waits until the tape is there. The tape is sent no faster than the desk reads.
 * Sources of the default main context; main thread. */
#pragma once

#include "app/session/remote/outlet.h"
#include "app/session/remote/tape_shipper.h"

typedef struct td_relay_sender {
  td_outlet desk;
  GQueue lines; /* (owned) of char *: they wait for the tape */
  gsize n_queued_bytes;
  td_tape_shipper *shipper; /* (owned) or NULL: no tape yet */
  bool is_shipping;
  bool is_for_line;  /* this pass began after the first line came */
  bool is_caught_up; /* the first line may go */
  bool is_finishing, is_last, has_ended;
  guint pumping, following; /* sources, or 0 */
  void (*over)(void *data); /* all is sent, or nothing can be sent any more; may come again */
  void *data;
} td_relay_sender;

/* td_relay_sender_init takes the file to write to. */
void td_relay_sender_init(td_relay_sender *self, int fd, void (*over)(void *data), void *data);
void td_relay_sender_fini(td_relay_sender *self);

/* td_relay_sender_say sends a line at once. td_relay_sender_queue sends it behind those before, and
 * behind what the tape has now if it speaks of that. */
void td_relay_sender_say(td_relay_sender *self, const td_line_text *line);
void td_relay_sender_queue(td_relay_sender *self, const td_line_text *line);

/* td_relay_sender_take begins to send a tape, and owns its shipper. */
void td_relay_sender_take(td_relay_sender *self, td_tape_shipper *shipper);

/* td_relay_sender_finish sends what waits, all that the tape has at last, and `ended`. */
void td_relay_sender_finish(td_relay_sender *self);
