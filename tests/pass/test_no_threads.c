/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The system refuses a thread: the pass fails with the system's words, and the next one works. */
#include "engine/torch/device/device.h"
#include "engine/torch/pass/pool.h"
#include "tests/fixtures/call_nodes.h"

#include <dlfcn.h>
#include <glib.h>

static _Atomic int calls_until_refusal = -1; /* below 0: none is refused */

/* Stands before the C library's function. */
__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
               void *data) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
  if (atomic_load(&calls_until_refusal) >= 0 && atomic_fetch_sub(&calls_until_refusal, 1) == 0)
    return EAGAIN;
  return real(thread, attributes, run, data);
}

static void
assert_refused(call_node *root) {
  td_error error = {0};
  g_assert_cmpint(call_backward(root, &error), ==, TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==, "Resource temporarily unavailable");
  td_error_clear(&error);
}

static td_status
count_device_threads(call_node *self, td_error *error) {
  *(unsigned *)self->data = call_threads("pt_autograd_");
  return TD_OK;
}

/* The first of two device threads, or the second. */
static void
test_device_threads(void) {
  unsigned n = 0;
  call_node *root = call_node_new(TD_CPU, 0, count_device_threads, &n);
  for (int nth = 0; nth < 2; nth++) {
    atomic_store(&calls_until_refusal, nth);
    assert_refused(root);
    g_assert_cmpuint(n, ==, 0);
  }
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_cmpuint(n, ==, 2);
  call_node_unref(root);
}

static td_status
nest(call_node *self, td_error *error) {
  int *left = self->data;
  if ((*left)-- == 0) return TD_OK;
  call_node *inner = call_node_new(TD_CPU, 0, nest, left);
  td_status status = call_backward(inner, error);
  call_node_unref(inner);
  return status;
}

static call_node *
tower_new(int *left, int depth) {
  *left = depth;
  return call_node_new(TD_CPU, 0, nest, left);
}

/* The first thread of the pool, or the second. */
static void
test_pool(void) {
  int left;
  for (int nth = 0; nth < 2; nth++) {
    call_node *root = tower_new(&left, 61 * (nth + 1));
    atomic_store(&calls_until_refusal, nth - (int)td_pool_size());
    assert_refused(root);
    call_node_unref(root);
    root = tower_new(&left, 61 * (nth + 1));
    atomic_store(&calls_until_refusal, -1);
    g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
    call_node_unref(root);
  }
  g_assert_cmpuint(td_pool_size(), >=, 2); /* the first may not have been idle yet */
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_test_add_func("/engine/no-threads/devices", test_device_threads);
  g_test_add_func("/engine/no-threads/pool", test_pool);
  return g_test_run();
}
