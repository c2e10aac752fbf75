/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The first operation of a process group at which ranks part, by their tapes. Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct td_attach_parting {
  char *text;     /* a sentence, or NULL: none parts, or none for long */
  bool is_mutual; /* the ranks wait for each other; else they wait for `missing` */
  guint missing;  /* index of the rank that did not come, or handed something else */
} td_attach_parting;

/* td_attach_parting_find compares the operations of a list of td_attach_rank. The caller frees the
 * text. */
td_attach_parting td_attach_parting_find(const GPtrArray *ranks);
