/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/final_callback.h"

#include <stdlib.h>

void
td_final_callback_free(td_final_callback *callback) {
  free(callback->owner);
  callback->free(callback);
}

void
td_final_callback_list_init(td_final_callback_list *list) {
  pthread_mutex_init(&list->mutex, NULL);
}

void
td_final_callback_list_fini(td_final_callback_list *list) {
  while (list->first) {
    td_final_callback *callback = list->first;
    list->first = callback->next;
    td_final_callback_free(callback);
  }
  pthread_mutex_destroy(&list->mutex);
}

void
td_final_callback_list_append(td_final_callback_list *list, td_final_callback *callback) {
  callback->next = NULL;
  pthread_mutex_lock(&list->mutex);
  td_final_callback **link = &list->first;
  while (*link)
    link = &(*link)->next;
  *link = callback;
  pthread_mutex_unlock(&list->mutex);
}

td_final_callback *
td_final_callback_list_next(td_final_callback_list *list, const td_final_callback *callback) {
  pthread_mutex_lock(&list->mutex);
  td_final_callback *next = callback ? callback->next : list->first;
  pthread_mutex_unlock(&list->mutex);
  return next;
}
