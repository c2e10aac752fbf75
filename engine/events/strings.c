/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/strings.h"

#include "engine/base/forks.h"
#include "engine/base/text_table.h"

#include <pthread.h>
#include <string.h>

static struct {
  pthread_mutex_t mutex; /* guards texts */
  td_text_table texts;
} strings = {.mutex = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void
guard_forks(void) {
  td_fork_guard(&strings.mutex, TD_FORK_STRINGS);
}

uint32_t
td_strings_add_locked(const char *text, bool *is_new) {
  uint32_t n_known = strings.texts.n;
  uint32_t id = td_text_table_put(&strings.texts, text, strlen(text));
  *is_new = id > n_known;
  return id;
}

uint32_t
td_strings_n_locked(void) {
  return strings.texts.n + 1;
}

const char *
td_strings_text_locked(uint32_t id) {
  return td_text_table_get(&strings.texts, id);
}

void
td_strings_lock(void) {
  pthread_mutex_lock(&strings.mutex);
}

void
td_strings_unlock(void) {
  pthread_mutex_unlock(&strings.mutex);
}
