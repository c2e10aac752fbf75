/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/ui/model_fixture.h"

#include "tests/fixtures/tape_maker.h"

#include <glib/gstdio.h>

void
td_store_result(GObject *source, GAsyncResult *result, gpointer data) {
  *(GAsyncResult **)data = g_object_ref(result);
}

GAsyncResult *
td_wait_for(GAsyncResult **result) {
  while (!*result)
    g_main_context_iteration(NULL, TRUE);
  return *result;
}

gboolean
td_load_document(TdDocument *document, GError **error) {
  GAsyncResult *result = NULL;
  td_document_load_async(document, NULL, td_store_result, &result);
  gboolean loaded = td_document_load_finish(document, td_wait_for(&result), error);
  g_object_unref(result);
  return loaded;
}

void
td_model_fixture_set_up(td_model_fixture *self, gconstpointer data) {
  td_tape_plan plan = {.n_nodes = 40, .n_threads = 3, .n_passes = 2, .seed = 7, .n_anomalies = 1};
  g_autoptr(GError) error = NULL;
  self->folder = g_dir_make_tmp("test_model_XXXXXX", NULL);
  self->path = g_build_filename(self->folder, "random.tape", NULL);
  g_assert_cmpint(td_tape_make(&plan, self->path, NULL), ==, TD_OK);
  self->document = td_document_new(self->path);
  g_assert_true(td_load_document(self->document, &error));
  g_assert_no_error(error);
  self->playhead = td_playhead_new();
  td_playhead_set_document(self->playhead, self->document);
}

void
td_model_fixture_tear_down(td_model_fixture *self, gconstpointer data) {
  g_object_unref(self->playhead);
  g_object_unref(self->document);
  g_unlink(self->path);
  g_rmdir(self->folder);
  g_free(self->path);
  g_free(self->folder);
}

td_any_event
td_model_fixture_event(td_model_fixture *self, uint64_t seq) {
  td_any_event event;
  td_replay *replay = td_document_get_replay(self->document);
  g_assert_cmpint(td_replay_event(replay, seq, &event, NULL), ==, TD_OK);
  return event;
}
