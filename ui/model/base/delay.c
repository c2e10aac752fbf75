/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/base/delay.h"

typedef struct Delay {
  GSource *source; /* (borrowed) it owns this */
  GSourceFunc work;
  gpointer data; /* (borrowed) */
} Delay;

static GList *delays; /* of Delay (borrowed) */

static gboolean
delay_cb(gpointer data) {
  const Delay *delay = data;
  return delay->work(delay->data);
}

static void
delay_free(gpointer data) {
  delays = g_list_remove(delays, data);
  g_free(data);
}

guint
td_delay_add(guint ms, GSourceFunc work, gpointer data) {
  g_autoptr(GSource) source = g_timeout_source_new(ms);
  Delay *delay = g_new(Delay, 1);
  *delay = (Delay){source, work, data};
  delays = g_list_prepend(delays, delay);
  g_source_set_callback(source, delay_cb, delay, delay_free);
  return g_source_attach(source, NULL);
}

gboolean
td_delay_is_pending(void) {
  return delays != NULL;
}

void
td_delay_hurry(void) {
  for (GList *item = delays; item; item = item->next)
    g_source_set_ready_time(((Delay *)item->data)->source, 0);
}
