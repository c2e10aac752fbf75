/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a thread waits for, read off the functions on its stack. waits.def is the table. No state;
 * any thread. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum td_attach_wait {
#define TD_WAIT_KIND(name, words) TD_WAIT_##name,
#include "app/session/attach/wait_kinds.def"
#undef TD_WAIT_KIND
  TD_N_ATTACH_WAITS /* it waits for nothing that the table knows */
} td_attach_wait;

/* td_attach_wait_name returns "gil", "ready_queue", ... for --json; td_attach_wait_words what
 * stands after "waits for". NULL for TD_N_ATTACH_WAITS. */
const char *td_attach_wait_name(td_attach_wait wait);
const char *td_attach_wait_words(td_attach_wait wait);

/* td_attach_wait_of classifies a stack. Frames are "FUNCTION LIBRARY", the innermost first. */
td_attach_wait td_attach_wait_of(const GPtrArray *frames);

/* td_attach_wait_depth counts the backward passes on a stack: one inside another makes two. */
uint32_t td_attach_wait_depth(const GPtrArray *frames);
