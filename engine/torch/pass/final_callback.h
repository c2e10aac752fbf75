/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Final callbacks, as a graph task holds them: in the order in which a program queued them. Any
 * thread. */
#pragma once

#include "engine/base/status.h"

#include <pthread.h>

/* Embedded as their first member by whoever makes callbacks. */
typedef struct td_final_callback td_final_callback;
struct td_final_callback {
  td_status (*call)(td_final_callback *callback, td_error *error);
  void (*free)(td_final_callback *callback); /* frees the callback too */
  char *owner;                               /* (owned) a name for profiles, or NULL */
  td_final_callback *next;
};

typedef struct td_final_callback_list {
  pthread_mutex_t mutex;    /* guards what follows */
  td_final_callback *first; /* (owned) callbacks that ran stay */
} td_final_callback_list;

void td_final_callback_list_init(td_final_callback_list *list);
void td_final_callback_list_fini(td_final_callback_list *list);

/* td_final_callback_list_append takes the callback. td_final_callback_list_next returns the
 * callback after this one (NULL: the first), or NULL; other threads may append meanwhile. Borrowed.
 */
void td_final_callback_list_append(td_final_callback_list *list, td_final_callback *callback);
td_final_callback *td_final_callback_list_next(td_final_callback_list *list,
                                               const td_final_callback *callback);
void td_final_callback_free(td_final_callback *callback);
