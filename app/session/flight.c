/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/flight.h"

#include "app/common/output_file.h"
#include "app/common/shell_name.h"
#include "app/session/flight_tape.h"

#include <signal.h>
#include <string.h>

#define ROUND_US (G_USEC_PER_SEC / 5)

#define SUFFIX ".tape"

/* What td_flight_dump was asked. */
typedef struct request {
  const char *cause, *words; /* static */
  td_flight_done done;
  void *data;
  char *path; /* (owned) of the last dump, or NULL */
} request;

/* What td_flight_add was told. */
typedef struct addition {
  char *path; /* (owned) */
  td_keep_limit limit;
} addition;

struct td_flight {
  char *tape;  /* (owned) */
  char *words; /* (owned) of the limit that came last, or NULL */
  gint64 every_us;
  const td_announcer *announcer; /* (borrowed) */
  GThread *thread;
  GMutex mutex; /* guards what follows */
  GCond changed;
  GPtrArray *added;    /* (owned) of addition*: what the thread has not seen */
  GPtrArray *requests; /* (owned) of request* */
  GHashTable *running; /* (owned) set of paths whose processes may still write */
  bool is_ending;
  /* The thread's own: */
  GPtrArray *tapes; /* (owned) of td_flight_tape* */
  gint64 next_dump_us;
  guint64 n_steps_gone, n_passes_gone, n_events_gone;
};

/* ---- dumps ---- */

/* NAME.nan.tape, or NAME.nan-2.tape if that exists. */
static char *
name_dump(const td_flight *self, const char *cause) {
  gsize length = strlen(self->tape);
  if (g_str_has_suffix(self->tape, SUFFIX)) length -= strlen(SUFFIX);
  char *name = g_strdup_printf("%.*s.%s" SUFFIX, (int)length, self->tape, cause);
  for (guint again = 2; td_output_is_taken(name); again++) {
    g_free(name);
    name = g_strdup_printf("%.*s.%s-%u" SUFFIX, (int)length, self->tape, cause, again);
  }
  return name;
}

/* Returns the name of the dump, or NULL. */
static char *
dump(td_flight *self, td_flight_tape *tape, const char *cause, const char *words) {
  td_error error = {0};
  g_autofree char *path = name_dump(self, cause);
  bool written = td_flight_tape_dump(tape, path, &error) == TD_OK;
  g_autofree char *name = td_shell_name(path);
  if (written)
    td_announcer_say(self->announcer, "%s: wrote what was kept into %s", words, name);
  else
    td_announcer_say(self->announcer, "%s, but %s was not written: %s", words, name,
                     td_error_text(&error));
  td_error_clear(&error);
  return written ? g_steal_pointer(&path) : NULL;
}

static void
dump_for_causes(td_flight *self, td_flight_tape *tape, bool is_last) {
  const td_flight_cause *cause;
  while ((cause = td_flight_tape_dump_due(tape, g_get_monotonic_time(), is_last)))
    g_free(dump(self, tape, cause->name, cause->words));
}

static gboolean
answer_cb(gpointer data) {
  request *request = data;
  if (request->done) request->done(request->path, request->data);
  g_free(request->path);
  g_free(request);
  return G_SOURCE_REMOVE;
}

static void
serve(td_flight *self, request *request) {
  for (guint i = 0; i < self->tapes->len; i++) {
    td_flight_tape *tape = self->tapes->pdata[i];
    bool is_there = td_flight_tape_is_there(tape);
    char *path = is_there ? dump(self, tape, request->cause, request->words) : NULL;
    if (!path) continue;
    g_free(request->path);
    request->path = path;
  }
  g_idle_add(answer_cb, request);
}

/* ---- the thread ---- */

static void
add(td_flight *self, addition *added) {
  for (guint i = 0; i < self->tapes->len; i++) {
    td_flight_tape *tape = self->tapes->pdata[i];
    if (strcmp(td_flight_tape_get_path(tape), added->path) != 0) continue;
    td_flight_tape_set_limit(tape, &added->limit);
    return;
  }
  g_ptr_array_add(self->tapes, td_flight_tape_new(g_steal_pointer(&added->path), &added->limit,
                                                  self->announcer));
}

static void
addition_free(gpointer data) {
  addition *added = data;
  g_free(added->path);
  g_free(added);
}

static void
take_orders(td_flight *self, GPtrArray *requests) {
  for (guint i = 0; i < self->added->len; i++)
    add(self, self->added->pdata[i]);
  for (guint i = 0; i < self->requests->len; i++)
    g_ptr_array_add(requests, self->requests->pdata[i]);
  g_ptr_array_set_size(self->added, 0);
  g_ptr_array_set_size(self->requests, 0);
}

static void
dump_at_times(td_flight *self, gint64 now) {
  if (!self->every_us || now < self->next_dump_us) return;
  self->next_dump_us = now + self->every_us;
  for (guint i = 0; i < self->tapes->len; i++) {
    td_flight_tape *tape = self->tapes->pdata[i];
    if (td_flight_tape_is_there(tape)) g_free(dump(self, tape, "regular", "time for a dump"));
  }
}

static void
do_round(td_flight *self, GPtrArray *requests) {
  for (guint i = 0; i < self->tapes->len; i++) {
    td_flight_tape_read(self->tapes->pdata[i], g_get_monotonic_time());
    dump_for_causes(self, self->tapes->pdata[i], false);
  }
  dump_at_times(self, g_get_monotonic_time());
  for (guint i = 0; i < requests->len; i++)
    serve(self, requests->pdata[i]);
  for (guint i = 0; i < self->tapes->len; i++)
    td_flight_tape_cut(self->tapes->pdata[i], g_get_monotonic_time());
}

static bool
still_grows(td_flight *self, const td_flight_tape *tape) {
  g_mutex_lock(&self->mutex);
  bool is_running = g_hash_table_contains(self->running, td_flight_tape_get_path(tape));
  g_mutex_unlock(&self->mutex);
  return is_running && !td_flight_tape_get_news(tape)->is_complete;
}

static void
count_gone(td_flight *self, const td_keeper_news *news) {
  self->n_steps_gone += news->n_steps_gone;
  self->n_passes_gone += news->n_passes_gone;
  self->n_events_gone += news->n_events_gone;
}

/* A process that the command left running writes into this very file. */
static void
finish_tape(td_flight *self, td_flight_tape *tape) {
  td_flight_tape_read(tape, g_get_monotonic_time());
  if (!td_flight_tape_is_there(tape)) return;
  dump_for_causes(self, tape, true);
  if (still_grows(self, tape))
    td_announcer_say(self->announcer,
                     "a process still runs, and its tape keeps everything from now on");
  else
    td_flight_tape_finish(tape, g_get_monotonic_time());
  count_gone(self, td_flight_tape_get_news(tape));
}

static gpointer
thread_main(gpointer data) {
  td_flight *self = data;
  bool is_ending = false;
  while (!is_ending) {
    g_autoptr(GPtrArray) requests = g_ptr_array_new();
    g_mutex_lock(&self->mutex);
    if (!self->is_ending && self->requests->len == 0)
      g_cond_wait_until(&self->changed, &self->mutex, g_get_monotonic_time() + ROUND_US);
    is_ending = self->is_ending;
    take_orders(self, requests);
    g_mutex_unlock(&self->mutex);
    do_round(self, requests);
  }
  for (guint i = 0; i < self->tapes->len; i++)
    finish_tape(self, self->tapes->pdata[i]);
  return NULL;
}

/* ---- the main thread ---- */

/* Signals are for the main thread, which takes them one by one. */
static GThread *
start_thread(td_flight *self) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  GThread *thread = g_thread_new("flight", thread_main, self);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return thread;
}

td_flight *
td_flight_new(const char *tape, gint64 every_us, const td_announcer *announcer) {
  td_flight *self = g_new0(td_flight, 1);
  self->every_us = every_us;
  self->announcer = announcer;
  self->tape = g_strdup(tape);
  self->added = g_ptr_array_new_with_free_func(addition_free);
  self->requests = g_ptr_array_new();
  self->running = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  self->tapes = g_ptr_array_new_with_free_func((GDestroyNotify)td_flight_tape_free);
  self->next_dump_us = g_get_monotonic_time() + every_us;
  g_mutex_init(&self->mutex);
  g_cond_init(&self->changed);
  self->thread = start_thread(self);
  return self;
}

void
td_flight_add(td_flight *self, const char *path, const td_keep_limit *limit, const char *words) {
  addition *added = g_new0(addition, 1);
  *added = (addition){g_strdup(path), *limit};
  g_free(self->words);
  self->words = g_strdup(words);
  g_mutex_lock(&self->mutex);
  g_ptr_array_add(self->added, added);
  g_hash_table_add(self->running, g_strdup(path));
  g_mutex_unlock(&self->mutex);
}

void
td_flight_end_tape(td_flight *self, const char *path) {
  g_mutex_lock(&self->mutex);
  g_hash_table_remove(self->running, path);
  g_mutex_unlock(&self->mutex);
}

void
td_flight_dump(td_flight *self, const char *cause, const char *words, td_flight_done done,
               void *data) {
  request *asked = g_new0(request, 1);
  *asked = (request){.cause = cause, .words = words, .done = done, .data = data};
  g_mutex_lock(&self->mutex);
  g_ptr_array_add(self->requests, asked);
  g_cond_signal(&self->changed);
  g_mutex_unlock(&self->mutex);
}

void
td_flight_finish(td_flight *self) {
  g_mutex_lock(&self->mutex);
  self->is_ending = true;
  g_cond_signal(&self->changed);
  g_mutex_unlock(&self->mutex);
  g_thread_join(self->thread);
  self->thread = NULL;
  if (self->n_events_gone)
    td_announcer_say(self->announcer,
                     "kept the end (%s) and let go of %" G_GUINT64_FORMAT
                     " passes before it (%" G_GUINT64_FORMAT " steps)",
                     self->words, self->n_passes_gone, self->n_steps_gone);
}

void
td_flight_free(td_flight *self) {
  if (!self) return;
  if (self->thread) td_flight_finish(self);
  g_ptr_array_unref(self->added);
  g_ptr_array_unref(self->requests);
  g_hash_table_unref(self->running);
  g_ptr_array_unref(self->tapes);
  g_mutex_clear(&self->mutex);
  g_cond_clear(&self->changed);
  g_free(self->tape);
  g_free(self->words);
  g_free(self);
}
