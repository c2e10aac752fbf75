/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A document of a random tape, with a playhead, for tests of the model. Main thread. */
#pragma once

#include "ui/model/playhead/playhead.h"

/* For g_test_add. The tape has 40 nodes, three threads, two passes and an anomaly. */
typedef struct td_model_fixture {
  char *folder, *path;
  TdDocument *document;
  TdPlayhead *playhead;
} td_model_fixture;

void td_model_fixture_set_up(td_model_fixture *self, gconstpointer data);
void td_model_fixture_tear_down(td_model_fixture *self, gconstpointer data);

/* td_model_fixture_event returns an event of the tape. */
td_any_event td_model_fixture_event(td_model_fixture *self, uint64_t seq);

/* td_store_result is a GAsyncReadyCallback for td_wait_for, which runs the main loop until the
 * result is there. The caller unrefs it. */
void td_store_result(GObject *source, GAsyncResult *result, gpointer data);
GAsyncResult *td_wait_for(GAsyncResult **result);

/* td_load_document loads a document, and runs the main loop until it is loaded. */
gboolean td_load_document(TdDocument *document, GError **error);
