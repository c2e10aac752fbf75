/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/attach_threads.h"

#include <stdio.h>
#include <string.h>

#define FUNCTIONS 8 /* of a stack in C */

/* "waits for a lock that thread 12 has". Empty: nothing is known. */
static char *
dup_activity(const td_attach_threads *threads, const td_attach_thread *thread) {
  const char *gil = thread->has_gil ? "has the GIL, " : "";
  const td_attach_thread *owner = td_attach_threads_find(threads, thread->owner);
  if (!thread->is_seen) return g_strdup(thread->doing ? thread->doing : "");
  g_autofree char *words = td_attach_thread_words(thread);
  if (owner) return g_strdup_printf("%s%s that %s has", gil, words, owner->name);
  return g_strconcat(gil, words, NULL);
}

/* Functions whose names nobody knows say nothing. */
static void
print_functions(const td_attach_thread *thread) {
  guint n = 0;
  for (guint i = 0; i < thread->frames->len && n < FUNCTIONS; i++) {
    const char *text = thread->frames->pdata[i];
    if (*text == '?') continue;
    printf("    in C: %.*s\n", (int)strcspn(text, " "), text);
    n++;
  }
}

static void
print_thread(const td_attach_threads *threads, const td_attach_thread *thread) {
  g_autofree char *activity = dup_activity(threads, thread);
  printf("  %s%s%s\n", thread->name, *activity ? ": " : "", activity);
  for (guint i = 0; i < thread->lines->len; i++)
    printf("    %s\n", (const char *)thread->lines->pdata[i]);
  if (thread->lines->len == 0) print_functions(thread);
}

static bool
is_idle(const td_attach_thread *thread) {
  return thread->wait == TD_WAIT_pool && thread->lines->len == 0;
}

void
td_attach_print(const td_attach_threads *threads) {
  guint n_idle = 0;
  for (guint i = 0; i < threads->list->len; i++) {
    const td_attach_thread *thread = threads->list->pdata[i];
    if (is_idle(thread))
      n_idle++;
    else
      print_thread(threads, thread);
  }
  if (n_idle)
    printf("  %u more thread%s wait%s for work in pools\n", n_idle, n_idle == 1 ? "" : "s",
           n_idle == 1 ? "s" : "");
  if (threads->problem) printf("  The lines in Python are unknown: %s.\n", threads->problem);
}
