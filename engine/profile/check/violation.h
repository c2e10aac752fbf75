/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A broken rule on a tape. */
#pragma once

#include <stdint.h>

/* Borrowed for the call. */
typedef struct td_violation {
  const char *rule; /* "pop-order", "push-once", ... */
  uint64_t seq;     /* of the event that breaks it */
  const char *text;
} td_violation;

typedef void (*td_check_report)(const td_violation *violation, void *data);
