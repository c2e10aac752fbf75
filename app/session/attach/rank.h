/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One rank of a run. */
#pragma once

#include "engine/replay/catalog.h"
#include "engine/trace/tape.h"

#include <glib.h>
#include <stdbool.h>

/* One rank of a run. */
typedef struct td_attach_rank {
  int rank;
  guint32 pid;
  guint64 n_begun, n_ended;  /* passes */
  bool in_pass;              /* an outermost pass is under way */
  bool is_post;              /* and the thread that called backward is in post_processing */
  char *doing;               /* (owned) what that thread does, or NULL */
  char *place;               /* (owned) its main thread's line in Python, or NULL */
  char *waits_at;            /* (owned) that thread's line in PyTorch's code for ranks, or NULL */
  gint64 age_ns;             /* of its last event */
  bool is_gone;              /* its process has ended */
  bool is_late;              /* the others wait for it */
  td_tape *tape;             /* (owned if is_gone) */
  const td_catalog *catalog; /* (borrowed) of its replay, or NULL */
} td_attach_rank;
