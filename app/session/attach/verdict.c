/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Who waits for whom]
 * A thread that waits for a mutex waits for the thread that the mutex names. A thread that waits
 * for the GIL waits for the one that said it has it. Going along these edges either ends at a
 * thread that waits for something else, or comes back: then it is a deadlock. Who has a lock of
 * Python's is noted nowhere, so such a wait is no edge. */
#include "app/session/attach/verdict.h"

#include "ui/geometry/format.h"

#include <stdlib.h>
#include <string.h>

/* Of Python itself, or of an installed package. */
static bool
is_library(const char *line) {
  static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                        "<frozen "};
  for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
    if (strstr(line, folders[i])) return true;
  return false;
}

static const char *
find_line(const td_attach_thread *thread) {
  for (guint i = 0; i < thread->lines->len; i++)
    if (!is_library(thread->lines->pdata[i])) return thread->lines->pdata[i];
  return thread->lines->len ? thread->lines->pdata[0] : NULL;
}

char *
td_attach_place(const td_attach_thread *thread) {
  const char *line = find_line(thread), *end = line ? strrchr(line, ' ') : NULL;
  if (!line) return NULL;
  g_autofree char *place = g_strndup(line, end ? (size_t)(end - line) : strlen(line));
  return g_path_get_basename(place);
}

/* "main at train.py:12", or the name alone. */
static char *
dup_name(const td_attach_thread *thread) {
  g_autofree char *place = td_attach_place(thread);
  return place ? g_strdup_printf("%s at %s", thread->name, place) : g_strdup(thread->name);
}

static const td_attach_thread *
find_holder(const td_attach_threads *threads) {
  for (guint i = 0; i < threads->list->len; i++)
    if (((td_attach_thread *)threads->list->pdata[i])->has_gil) return threads->list->pdata[i];
  return NULL;
}

/* Whom a thread waits for, or NULL. */
static const td_attach_thread *
next_of(const td_attach_threads *threads, const td_attach_thread *thread) {
  if (thread->wait == TD_WAIT_gil) return find_holder(threads);
  return thread->owner ? td_attach_threads_find(threads, thread->owner) : NULL;
}

/* ---- a circle ---- */

static const td_attach_thread *
find_circle(const td_attach_threads *threads) {
  for (guint i = 0; i < threads->list->len; i++) {
    const td_attach_thread *begin = threads->list->pdata[i], *now = next_of(threads, begin);
    for (guint n = 0; now && now != begin && n < threads->list->len; n++)
      now = next_of(threads, now);
    if (now == begin) return begin;
  }
  return NULL;
}

static char *
tell_circle(const td_attach_threads *threads) {
  const td_attach_thread *begin = find_circle(threads), *now = begin;
  if (!begin) return NULL;
  GString *text = g_string_new("Deadlock: ");
  for (guint n = 0; now && (n == 0 || now != begin); n++) {
    const td_attach_thread *next = next_of(threads, now);
    g_autofree char *name = dup_name(now);
    g_string_append_printf(text, "%s%s waits for %s, which %s has", n == 0 ? "" : "; ", name,
                           now->wait == TD_WAIT_gil ? "the GIL" : "a lock",
                           next == now || !next ? "it" : next->name);
    now = next;
  }
  return g_string_free(g_string_append_c(text, '.'), FALSE);
}

/* ---- a thread that keeps the GIL ---- */

static guint
count_waits(const td_attach_threads *threads, td_attach_wait wait) {
  guint n = 0;
  for (guint i = 0; i < threads->list->len; i++)
    n += ((td_attach_thread *)threads->list->pdata[i])->wait == wait;
  return n;
}

static char *
tell_holder(const td_attach_threads *threads) {
  const td_attach_thread *holder = find_holder(threads);
  guint n = count_waits(threads, TD_WAIT_gil);
  if (threads->is_held)
    return g_strdup("One of its threads holds the GIL and does not give it back. The others wait "
                    "for it.");
  if (!holder || holder->wait == TD_N_ATTACH_WAITS || n == 0) return NULL;
  g_autofree char *place = td_attach_place(holder), *keeps = NULL;
  keeps = place ? g_strdup_printf("%s keeps the GIL at %s", holder->name, place)
                : g_strdup_printf("%s keeps the GIL", holder->name);
  g_autofree char *others = td_format_many(n, "other thread waits", "other threads wait");
  return g_strdup_printf("%s while it waits for %s. %s for the GIL.", keeps,
                         td_attach_wait_words(holder->wait), others);
}

/* ---- passes inside passes that wait for each other ---- */

#define STILL_NS (2 * G_GINT64_CONSTANT(1000000000))

/* gdb sees that a thread waits for a lock. A tape shows only that nothing happens any more. */
static bool
is_nested(const td_attach_threads *threads, const td_attach_thread *thread) {
  bool waits = thread->is_seen ? thread->wait == TD_WAIT_lock : threads->still_ns >= STILL_NS;
  return waits && thread->depth >= 2;
}

static char *
dup_still(const td_attach_threads *threads) {
  char *age = td_format_ns((double)threads->still_ns);
  char *text = g_strdup_printf("have done nothing for %s", age);
  free(age);
  return text;
}

static char *
tell_nested(const td_attach_threads *threads) {
  g_autoptr(GString) who = g_string_new(NULL);
  g_autofree char *still = NULL;
  guint n = 0;
  for (guint i = 0; i < threads->list->len; i++) {
    const td_attach_thread *thread = threads->list->pdata[i];
    if (!is_nested(threads, thread)) continue;
    g_autofree char *name = dup_name(thread);
    g_string_append_printf(who, "%s%s", n++ ? ", " : "", name);
    if (!thread->is_seen && !still) still = dup_still(threads);
  }
  if (n < 2) return NULL;
  return g_strdup_printf("%u threads %s, each in a backward pass inside another one: %s. If each "
                         "has what another wants, this is a deadlock. Python does not note who has "
                         "a lock.",
                         n, still ? still : "wait for locks", who->str);
}

/* ---- a team of threads that a fork left behind ---- */

static char *
tell_lost_team(const td_attach_threads *threads) {
  const td_attach_thread *thread = threads->list->len == 1 ? threads->list->pdata[0] : NULL;
  if (!thread || thread->wait != TD_WAIT_team || thread->motion != TD_MOTION_SLEEPS) return NULL;
  g_autofree char *name = dup_name(thread);
  return g_strdup_printf("%s waits for %s, but the process has no other thread. A fork copies none "
                         "of them: the process that forked had used OpenMP before.",
                         name, td_attach_wait_words(TD_WAIT_team));
}

/* ---- a program that is recorded ---- */

/* The thread that is in most passes inside each other, or the main thread. */
static const td_attach_thread *
find_worker(const td_attach_threads *threads) {
  const td_attach_thread *found = threads->list->len ? threads->list->pdata[0] : NULL;
  for (guint i = 1; i < threads->list->len; i++) {
    const td_attach_thread *thread = threads->list->pdata[i];
    if (thread->depth > found->depth) found = thread;
  }
  return found;
}

/* Its tape tells what it does, and how long nothing came. */
static char *
tell_still(const td_attach_threads *threads) {
  const td_attach_thread *worker = find_worker(threads);
  if (!worker || worker->is_seen || threads->still_ns < STILL_NS) return NULL;
  g_autofree char *place = td_attach_place(worker);
  char *age = td_format_ns((double)threads->still_ns), *text = NULL;
  if (worker->doing && place)
    text = g_strdup_printf("%s %s, at %s. No event has come for %s.", worker->name, worker->doing,
                           place, age);
  else if (place)
    text = g_strdup_printf("%s is at %s. No event has come for %s.", worker->name, place, age);
  else if (worker->doing)
    text = g_strdup_printf("%s %s. No event has come for %s.", worker->name, worker->doing, age);
  free(age);
  return text;
}

/* ---- the main thread ---- */

static char *
tell_main(const td_attach_threads *threads) {
  if (threads->list->len == 0) return NULL;
  const td_attach_thread *thread = threads->list->pdata[0];
  if (!thread->is_seen) return NULL;
  g_autofree char *place = td_attach_place(thread), *words = td_attach_thread_words(thread);
  const td_attach_thread *next = next_of(threads, thread);
  const char *name = thread->name, *rest = words + strcspn(words, ";"); /* what is not known */
  int n = (int)(rest - words);
  if (place && next)
    return g_strdup_printf("%s %s at %s; %s has it.", name, words, place, next->name);
  if (next) return g_strdup_printf("%s %s; %s has it.", name, words, next->name);
  return place ? g_strdup_printf("%s %.*s at %s%s.", name, n, words, place, rest)
               : g_strdup_printf("%s %s.", name, words);
}

char *
td_attach_verdict(const td_attach_threads *threads) {
  static char *(*const tellers[])(const td_attach_threads *) = {
      tell_circle, tell_holder, tell_nested, tell_lost_team, tell_still, tell_main};
  char *sentence = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(tellers) && !sentence; i++)
    sentence = tellers[i](threads);
  if (sentence) *sentence = g_ascii_toupper(*sentence);
  return sentence;
}
