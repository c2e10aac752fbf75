/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The labels of nodes: one thread gives them while another announces the nodes. */
#include "engine/replay/replay.h"
#include "engine/torch/graph/accumulate_grad.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/tensor/factories.h"
#include "engine/trace/recorder.h"
#include "tests/fixtures/assert_ok.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define N_NODES 2000

typedef struct shared {
  td_node *nodes[N_NODES]; /* (owned) */
} shared;

static gpointer
set_labels(gpointer data) {
  shared *s = data;
  for (int i = 0; i < N_NODES; i++) {
    td_node_set_label(s->nodes[i], "a first name");
    td_node_set_label(s->nodes[i], "a second name, which is longer");
  }
  return NULL;
}

static gpointer
announce(gpointer data) {
  shared *s = data;
  for (int i = 0; i < N_NODES; i++)
    td_node_announce(s->nodes[i]);
  return NULL;
}

static void
run_both(shared *s) {
  GThread *threads[] = {g_thread_new("label", set_labels, s),
                        g_thread_new("announce", announce, s)};
  for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
    g_thread_join(threads[i]);
}

static void
check_labels(const char *path) {
  td_replay *replay;
  td_error error = {0};
  assert_ok(td_replay_open(path, NULL, NULL, &replay, &error), &error);
  const td_catalog *catalog = td_replay_catalog(replay);
  g_assert_cmpuint(catalog->n_nodes, ==, N_NODES);
  for (uint32_t i = 0; i < catalog->n_nodes; i++)
    g_assert_cmpstr(catalog->node_rows[i].label, ==, "a second name, which is longer");
  td_replay_close(replay);
}

/* Whoever comes second emits the label: none is missing on the tape. */
static void
test_threads(void) {
  shared s;
  td_error error = {0};
  td_recorder *recorder;
  td_recorder_options options = {.engine = "tapedeck", .version = "test", .source = "node_label"};
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "tapedeck-test-XXXXXX", NULL);
  close(g_mkstemp(path));
  td_tensor *leaf = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  assert_ok(td_set_requires_grad(leaf, true, &error), &error);
  for (int i = 0; i < N_NODES; i++)
    s.nodes[i] = td_accumulate_grad_new(leaf);
  assert_ok(td_recorder_start(path, true, &options, &recorder, &error), &error);
  run_both(&s);
  assert_ok(td_recorder_stop(recorder, 0, &error), &error);
  for (int i = 0; i < N_NODES; i++)
    td_node_unref(s.nodes[i]);
  td_tensor_unref(leaf);
  check_labels(path);
  g_unlink(path);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/engine/labels/threads", test_threads);
  return g_test_run();
}
