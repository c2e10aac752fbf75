/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/thread_label.h"

#include <glib.h>

char *
td_thread_label(const td_catalog *catalog, uint32_t thread) {
  if (thread == TD_NONE) return g_strdup("-");
  bool named = thread < catalog->n_threads && *catalog->threads[thread].name;
  return named ? td_catalog_thread_label(catalog, thread) : g_strdup_printf("%u", thread);
}
