/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The writing end of a pipe or socket. What the other end does not read yet waits in memory, up to
 * a limit. A source of the default main context sends it on. Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define TD_OUTLET_BYTES_MAX (4u << 20) /* that may wait */

typedef struct td_outlet {
  int fd;                      /* (owned) it does not block; -1: there is none yet, and all waits */
  guint writing;               /* source, or 0 */
  GByteArray *unsent;          /* (owned) */
  void (*drained)(void *data); /* nothing waits any more; or NULL */
  void *data;
} td_outlet;

/* td_outlet_init makes an outlet without a file. td_outlet_set_file takes the file and sends what
 * has waited. */
void td_outlet_init(td_outlet *outlet, void (*drained)(void *data), void *data);
void td_outlet_set_file(td_outlet *outlet, int fd);

/* td_outlet_fini closes the file. What waits is lost. A second call does nothing. */
void td_outlet_fini(td_outlet *outlet);

/* td_outlet_send returns false if the other end is gone, or does not read so long that too much
 * waits. The outlet is of no use any more then. */
bool td_outlet_send(td_outlet *outlet, const char *bytes, gsize n_bytes);
