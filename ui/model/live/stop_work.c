/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/live/stop_work.h"

#include "ui/model/base/error.h"
#include "ui/model/base/worker.h"

typedef struct Wish {
  char *tape;               /* (owned) */
  td_condition *conditions; /* (owned) [n] */
  uint32_t n;
  uint64_t from;
  gboolean forwards, counts;
  GCancellable *cancellable; /* (owned) or NULL */
  td_stop_hit hit;           /* found */
} Wish;

static void
wish_free(gpointer data) {
  Wish *wish = data;
  for (uint32_t i = 0; i < wish->n; i++)
    td_condition_fini(&wish->conditions[i]);
  g_free(wish->conditions);
  g_clear_object(&wish->cancellable);
  g_free(wish->tape);
  g_free(wish);
}

/* The texts were read before, so they can be read. */
static Wish *
wish_new(const char *tape, const char *const *conditions, GCancellable *cancellable) {
  Wish *wish = g_new0(Wish, 1);
  wish->tape = g_strdup(tape);
  wish->conditions = g_new0(td_condition, g_strv_length((char **)conditions) + 1);
  for (; *conditions; conditions++)
    if (td_condition_parse(*conditions, &wish->conditions[wish->n], NULL) == TD_OK) wish->n++;
  if (cancellable) wish->cancellable = g_object_ref(cancellable);
  return wish;
}

static bool
has_patience(void *data) {
  return !g_cancellable_is_cancelled(((Wish *)data)->cancellable);
}

static td_status
find(td_stop_search *search, Wish *wish, GTask *task, td_error *error) {
  td_status status = td_stop_search_find(search, wish->from, wish->forwards, has_patience, wish,
                                         &wish->hit, error);
  if (status != TD_OK && status != TD_OUT_OF_RANGE) return status;
  td_error_clear(error);
  g_task_return_boolean(task, status == TD_OK);
  return TD_OK;
}

static td_status
count(td_stop_search *search, Wish *wish, GTask *task, td_error *error) {
  uint64_t counts[TD_STOPS_MAX];
  td_status status = td_stop_search_count(search, has_patience, wish, counts, error);
  if (status) return status;
  GArray *result = g_array_new(FALSE, FALSE, sizeof *counts);
  g_array_append_vals(result, counts, MIN(wish->n, TD_STOPS_MAX));
  g_task_return_pointer(task, result, (GDestroyNotify)g_array_unref);
  return TD_OK;
}

static void
work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  Wish *wish = data;
  td_tape *tape = NULL;
  td_error error = {0};
  td_status status = td_tape_open(wish->tape, &tape, &error);
  if (!status) {
    td_stop_search *search = td_stop_search_new(tape, wish->conditions, wish->n);
    status = wish->counts ? count(search, wish, task, &error) : find(search, wish, task, &error);
    td_stop_search_free(search);
    td_tape_close(tape);
  }
  if (!status) return;
  GError *failure = NULL;
  td_error_propagate(&failure, &error);
  g_task_return_error(task, failure);
}

static void
start(Wish *wish, GCancellable *cancellable, GAsyncReadyCallback done, gpointer data) {
  g_autoptr(GTask) task = g_task_new(NULL, cancellable, done, data);
  g_task_set_task_data(task, wish, wish_free);
  td_worker_start(task, work);
}

void
td_stop_work_find_async(const char *tape, const char *const *conditions, uint64_t from,
                        gboolean forwards, GCancellable *cancellable, GAsyncReadyCallback done,
                        gpointer data) {
  Wish *wish = wish_new(tape, conditions, cancellable);
  wish->from = from;
  wish->forwards = forwards;
  start(wish, cancellable, done, data);
}

gboolean
td_stop_work_find_finish(GAsyncResult *result, td_stop_hit *hit, GError **error) {
  gboolean found = g_task_propagate_boolean(G_TASK(result), error);
  if (found) *hit = ((Wish *)g_task_get_task_data(G_TASK(result)))->hit;
  return found;
}

void
td_stop_work_count_async(const char *tape, const char *const *conditions, GCancellable *cancellable,
                         GAsyncReadyCallback done, gpointer data) {
  Wish *wish = wish_new(tape, conditions, cancellable);
  wish->counts = TRUE;
  start(wish, cancellable, done, data);
}

GArray *
td_stop_work_count_finish(GAsyncResult *result, GError **error) {
  return g_task_propagate_pointer(G_TASK(result), error);
}
