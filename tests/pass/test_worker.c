/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Workers: passes that call passes, over several devices and the thread pool; errors; the end of
 * the threads. What runs when is forced by flags, so that each test has one outcome. */
#include "engine/device/device.h"
#include "engine/device/stream.h"
#include "engine/pass/callbacks.h"
#include "engine/pass/engine_thread.h"
#include "engine/pass/pool.h"
#include "engine/pass/warnings.h"
#include "engine/pass/worker.h"
#include "tests/fixtures/call_nodes.h"

#include <glib.h>

#define SIM_0 ((td_device)0)
#define SIM_1 ((td_device)1)

/* What the nodes of one test tell each other. */
typedef struct story {
  call_node *inner; /* root of a nested pass */
  pthread_mutex_t user_lock;
  pthread_t caller, inner_thread;
  _Atomic bool in_nested, outer_ran, failed, may_go_on, gone_on;
  td_device owner;
  uint32_t depth;
  td_device queue_device;
  td_graph_task *graph_task; /* (owned reference) or NULL */
  td_stream stream;
} story;

static void
story_init(story *self) {
  *self = (story){.caller = pthread_self()};
  pthread_mutex_init(&self->user_lock, NULL);
}

static td_status
call_nested(call_node *self, td_error *error) {
  story *story = self->data;
  atomic_store(&story->in_nested, true);
  td_status status = call_backward(story->inner, error);
  atomic_store(&story->in_nested, false);
  return status;
}

/* What the engine's thread looks like from within a node. */
static td_status
note_worker(call_node *self, td_error *error) {
  story *story = self->data;
  story->inner_thread = pthread_self();
  story->owner = td_graph_task_now()->owner;
  story->depth = td_graph_task_now()->reentrant_depth;
  story->queue_device = td_thread_self.queue->device;
  return TD_OK;
}

/* K-13, K-16: the outer pass's node runs inside the nested one, on the same stack. */
static td_status
run_inside(call_node *self, td_error *error) {
  story *story = self->data;
  g_assert_true(pthread_equal(pthread_self(), story->caller));
  g_assert_true(atomic_load(&story->in_nested));
  g_assert_cmpuint(td_graph_task_now()->reentrant_depth, ==, 0);
  g_assert_cmpuint(td_thread_self.current_depth, ==, 1);
  /* A lock that the waiting node holds: taking it would be the end. */
  g_assert_cmpint(pthread_mutex_trylock(&story->user_lock), ==, EBUSY);
  atomic_store(&story->outer_ran, true);
  return TD_OK;
}

static td_status
wait_for_outer(call_node *self, td_error *error) {
  story *story = self->data;
  g_assert_false(pthread_equal(pthread_self(), story->caller));
  call_wait(&story->outer_ran);
  return TD_OK;
}

static td_status
call_nested_with_lock(call_node *self, td_error *error) {
  story *story = self->data;
  pthread_mutex_lock(&story->user_lock);
  td_status status = call_nested(self, error);
  pthread_mutex_unlock(&story->user_lock);
  return status;
}

static td_status
wait_for_nested(call_node *self, td_error *error) {
  call_wait(&((story *)self->data)->in_nested);
  return TD_OK;
}

static void
test_outer_inside_inner(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL);
  call_node *nests = call_node_new(TD_CPU, 0, call_nested_with_lock, &story);
  call_node *on_device = call_node_new(SIM_0, 1, wait_for_nested, &story);
  call_node *back = call_node_new(TD_CPU, 0, run_inside, &story);
  story.inner = call_node_new(SIM_1, 0, wait_for_outer, &story);
  call_node_connect(on_device, 0, back);
  call_node_connect(root, 0, nests);
  call_node_connect(root, 1, on_device);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_true(atomic_load(&story.outer_ran));
  call_node *nodes[] = {root, nests, on_device, back, story.inner};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

/* K-14, K-15: the pass that a device's node calls belongs to that device's thread and queue, and
 * wakes it when another thread finishes it. */
static void
test_nested_on_device(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, call_nested, &story);
  story.inner = call_node_new(TD_CPU, 1, note_worker, &story);
  call_node *last = call_node_new(SIM_1, 0, NULL, NULL);
  call_node_connect(story.inner, 0, last);
  for (int i = 0; i < 20; i++)
    g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_false(pthread_equal(story.inner_thread, story.caller));
  g_assert_cmpint(story.owner, ==, SIM_0);
  g_assert_cmpint(story.queue_device, ==, SIM_0);
  g_assert_cmpuint(story.depth, ==, 1);
  call_node_unref(root);
  call_node_unref(story.inner);
  call_node_unref(last);
}

/* K-19: the only root of a nested pass goes to its device at once. */
static void
test_nested_root_on_device(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 0, call_nested, &story);
  story.inner = call_node_new(SIM_1, 0, note_worker, &story);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_false(pthread_equal(story.inner_thread, story.caller));
  g_assert_cmpint(story.queue_device, ==, SIM_1);
  g_assert_cmpint(story.owner, ==, TD_CPU);
  call_node_unref(root);
  call_node_unref(story.inner);
}

typedef struct tower {
  int left;
  uint32_t deepest, n_wrong;
} tower;

static td_status
nest(call_node *self, td_error *error) {
  tower *tower = self->data;
  uint32_t depth = td_graph_task_now()->reentrant_depth;
  /* The first thread has depths 0 to 60, each of the pool 61 of them. */
  uint32_t expected = depth <= 60 ? depth : (depth - 61) % 61;
  tower->n_wrong += td_thread_self.current_depth != expected || td_thread_self.total_depth != depth;
  tower->deepest = depth;
  if (tower->left-- == 0) return TD_OK;
  call_node *inner = call_node_new(TD_CPU, 0, nest, tower);
  td_status status = call_backward(inner, error);
  call_node_unref(inner);
  return status;
}

static void
assert_tower(int depth) {
  tower tower = {.left = depth};
  call_node *root = call_node_new(TD_CPU, 0, nest, &tower);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_cmpuint(tower.deepest, ==, depth);
  g_assert_cmpuint(tower.n_wrong, ==, 0);
  call_node_unref(root);
}

/* Before anything else went to the pool, or after: how many threads a tower adds. */
static void
test_thresholds(void) {
  uint32_t before = td_pool_size();
  assert_tower(60);
  g_assert_cmpuint(td_pool_size(), ==, before);
  if (before > 0) return;
  assert_tower(61);
  g_assert_cmpuint(td_pool_size(), ==, 1);
  assert_tower(121);
  g_assert_cmpuint(td_pool_size(), <=, 2); /* one may not be idle again yet */
  assert_tower(122);
  g_assert_cmpuint(td_pool_size(), >=, 2);
}

static void
test_very_deep(void) {
  assert_tower(2000);
  assert_tower(8193);
  g_assert_cmpuint(td_pool_size(), >=, 134);
}

static td_graph_task *
graph_task_new(td_ready_queue *queue) {
  td_execute_options options = {.accumulate_grad = true};
  return td_graph_task_new(&options, 61, queue);
}

/* K-11: a pass that has died before a thread of the pool gets to it. */
static void
test_expired_in_pool(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  for (int i = 0; i < 3; i++) {
    td_graph_task *graph_task = graph_task_new(queue);
    td_graph_task *dead = td_graph_task_weak_ref(graph_task);
    td_graph_task_unref(graph_task);
    td_pool_submit(dead);
    td_graph_task_weak_unref(dead);
  }
  assert_tower(61);
  td_ready_queue_unref(queue);
}

/* errors */

static td_status
fail(call_node *self, td_error *error) {
  story *story = self->data;
  if (story) atomic_store(&story->failed, true);
  return td_error_set(error, TD_AUTOGRAD, "Simulate error");
}

static void
assert_fails(call_node *root, const char *text) {
  td_error error = {0};
  g_assert_cmpint(call_backward(root, &error), ==, TD_AUTOGRAD);
  g_assert_cmpstr(td_error_text(&error), ==, text);
  td_error_clear(&error);
}

/* J-10: the owner sleeps while a device fails. */
static void
test_error_on_device(void) {
  call_node *root = call_node_new(SIM_0, 0, fail, NULL),
            *fine = call_node_new(SIM_0, 0, NULL, NULL);
  for (int i = 0; i < 20; i++)
    assert_fails(root, "Simulate error");
  g_assert_cmpint(call_backward(fine, NULL), ==, TD_OK);
  call_node_unref(root);
  call_node_unref(fine);
}

static td_status
hold_graph_task(call_node *self, td_error *error) {
  story *story = self->data;
  story->graph_task = td_graph_task_now();
  g_assert_true(td_graph_task_try_ref(story->graph_task));
  return TD_OK;
}

static td_status
wait_for_error(call_node *self, td_error *error) {
  story *story = self->data;
  call_wait(&story->graph_task->has_error);
  return TD_OK;
}

static td_status
must_not_run(call_node *self, td_error *error) {
  g_assert_not_reached();
}

/* But for the dummy that was to wake the caller, where it had left already. */
static uint64_t
tasks_left(td_graph_task *graph_task) {
  uint64_t n_dummies = td_ready_queue_size(td_thread_self.queue);
  return atomic_load(&graph_task->outstanding) - n_dummies;
}

/* J-11: what another device has queued is skipped and counted down. */
static void
test_skipped_on_other_device(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 3, hold_graph_task, &story);
  call_node *later = call_node_new(SIM_1, 0, must_not_run, NULL);
  call_node *waits = call_node_new(SIM_1, 0, wait_for_error, &story);
  call_node *fails = call_node_new(SIM_0, 0, fail, &story);
  call_node_connect(root, 0, waits);
  call_node_connect(root, 1, later);
  call_node_connect(root, 2, fails);
  assert_fails(root, "Simulate error");
  for (int i = 0; i < 20000 && tasks_left(story.graph_task); i++)
    g_usleep(1000);
  g_assert_cmpuint(tasks_left(story.graph_task), ==, 0);
  td_graph_task_unref(story.graph_task);
  call_node *nodes[] = {root, later, waits, fails};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

static td_status
wait_for_leave(call_node *self, td_error *error) {
  story *story = self->data;
  call_wait(&story->may_go_on);
  return TD_OK;
}

static td_status
note_gone_on(call_node *self, td_error *error) {
  td_status status = call_nested(self, error);
  atomic_store(&((story *)self->data)->gone_on, true);
  return status;
}

static td_status
fail_in_nested(call_node *self, td_error *error) {
  call_wait(&((story *)self->data)->in_nested);
  return fail(self, error);
}

/* J-14: the outer pass fails on the CPU while a device still runs a nested one. */
static void
test_parent_fails_first(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL);
  call_node *nests = call_node_new(SIM_0, 1, note_gone_on, &story);
  call_node *below = call_node_new(TD_CPU, 0, must_not_run, NULL);
  call_node *fails = call_node_new(TD_CPU, 0, fail_in_nested, &story);
  story.inner = call_node_new(SIM_0, 0, wait_for_leave, &story);
  call_node_connect(nests, 0, below);
  call_node_connect(root, 0, nests);
  call_node_connect(root, 1, fails);
  assert_fails(root, "Simulate error");
  atomic_store(&story.may_go_on, true);
  call_wait(&story.gone_on);
  call_node *fine = call_node_new(SIM_0, 0, NULL, NULL);
  g_assert_cmpint(call_backward(fine, NULL), ==, TD_OK);
  call_node *nodes[] = {root, nests, below, fails, story.inner, fine};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

/* J-16: the result stands once it is settled. */
static void
test_late_error(void) {
  td_ready_queue *queue = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = graph_task_new(queue);
  td_graph_task_complete(graph_task);
  g_assert_true(td_graph_task_is_done(graph_task));
  call_node *node = call_node_new(TD_CPU, 0, NULL, NULL);
  td_error error = {0};
  td_status status = td_error_set(&error, TD_AUTOGRAD, "too late");
  td_graph_task_fail(graph_task, status, &error);
  g_assert_null(error.message);
  g_assert_cmpint(graph_task->result, ==, TD_OK);
  td_graph_task_complete(graph_task);
  g_assert_cmpint(graph_task->result, ==, TD_OK);
  call_node_unref(node);
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(queue);
}

static td_status
change_edge(call_node *self, td_error *error) {
  call_node_connect(self, 0, self->data);
  return TD_OK;
}

/* B-14, B-15: graphs that are changed between the count and the run. */
static void
test_dependency_not_found(void) {
  call_node *stranger = call_node_new(TD_CPU, 0, NULL, NULL);
  call_node *root = call_node_new(TD_CPU, 1, change_edge, stranger);
  call_node *known = call_node_new(TD_CPU, 0, NULL, NULL);
  call_node_connect(root, 0, known);
  call_node_unref(known);
  assert_fails(root, "dependency not found for CallBackward");
  call_node_unref(root);
  call_node_unref(stranger);
}

static void
test_not_all_gradients(void) {
  call_node *root = call_node_new(TD_CPU, 2, change_edge, NULL);
  call_node *waits = call_node_new(TD_CPU, 0, must_not_run, NULL);
  call_node_connect(root, 0, waits);
  call_node_connect(root, 1, waits);
  assert_fails(root, "could not compute gradients for some functions");
  call_node_unref(root);
  call_node_unref(waits);
}

/* B-16: counting edges breadth first gives what the engine's walk gives. */
static void
test_counts_breadth_first(void) {
  enum { N = 60 };
  call_node *nodes[N];
  GRand *random = g_rand_new_with_seed(4);
  for (int i = 0; i < N; i++) {
    nodes[i] = call_node_new(TD_CPU, 3, NULL, NULL);
    for (uint32_t k = 0; k < 3 && i > 0; k++)
      call_node_connect(nodes[i], k, nodes[g_rand_int_range(random, 0, i)]);
  }
  uint32_t counts[N] = {0};
  g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL), seen = g_hash_table_new(NULL, NULL);
  for (int i = 0; i < N; i++)
    g_hash_table_insert(numbers, nodes[i], GINT_TO_POINTER(i));
  g_autoptr(GQueue) queue = g_queue_new();
  g_queue_push_tail(queue, nodes[N - 1]);
  for (call_node *node; (node = g_queue_pop_head(queue));)
    for (uint32_t k = 0; k < 3 && node->node.next_edges[k].node; k++) {
      td_node *next = node->node.next_edges[k].node;
      counts[GPOINTER_TO_INT(g_hash_table_lookup(numbers, next))]++;
      if (g_hash_table_add(seen, next)) g_queue_push_tail(queue, next);
    }
  td_ready_queue *cpu = td_ready_queue_new(TD_CPU);
  td_graph_task *graph_task = graph_task_new(cpu);
  td_graph_task_compute_dependencies(graph_task, &nodes[N - 1]->node, 0);
  for (int i = 0; i < N; i++) {
    const td_node_entry *entry = td_node_table_find(&graph_task->nodes, &nodes[i]->node);
    g_assert_cmpuint(entry ? entry->dependencies : 0, ==, counts[i]);
  }
  td_graph_task_unref(graph_task);
  td_ready_queue_unref(cpu);
  for (int i = 0; i < N; i++)
    call_node_unref(nodes[i]);
  g_rand_free(random);
}

/* E-19: a node without outputs leaves its pass's lock alone. The first leaf keeps it until the
 * second runs. */
static td_status
take_lock(call_node *self, td_error *error) {
  pthread_mutex_lock(&td_graph_task_now()->lock.mutex);
  return TD_OK;
}

static td_status
give_lock(call_node *self, td_error *error) {
  pthread_mutex_unlock(&td_graph_task_now()->lock.mutex);
  return TD_OK;
}

static void
test_leaf_needs_no_lock(void) {
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL);
  call_node *second = call_node_new(TD_CPU, 0, give_lock, NULL);
  call_node *first = call_node_new(TD_CPU, 0, take_lock, NULL);
  call_node_connect(root, 0, first);
  call_node_connect(root, 1, second);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  call_node_unref(root);
  call_node_unref(first);
  call_node_unref(second);
}

/* E-18: a node is told before its function that it will be released, if it will. */
typedef struct told_node {
  td_node node;
  char order[8];
} told_node;

static void
note(td_node *node, char what) {
  char *order = ((told_node *)node)->order;
  order[strlen(order)] = what;
}

static td_status
told_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  note(node, 'a');
  return TD_OK;
}

static void
told_will_release(td_node *node) {
  note(node, 'w');
}

static void
told_release(td_node *node) {
  note(node, 'r');
}

static const td_node_class told_class = {.name = "Told",
                                         .apply = told_apply,
                                         .will_release_variables = told_will_release,
                                         .release_variables = told_release};

static void
test_told_of_release(void) {
  told_node *told = (told_node *)td_node_new_raw(&told_class, sizeof *told, 0, 1);
  td_tensor *one = td_tensor_new_scalar(TD_FLOAT32, TD_CPU, 1);
  td_node_add_metadata(&told->node, one);
  for (int keep = 1; keep >= 0; keep--) {
    td_execute_options options = {.keep_graph = keep, .accumulate_grad = true};
    td_edge root = {&told->node, 0};
    g_assert_cmpint(td_engine_execute(td_engine_default(), &root, &one, 1, &options, NULL, NULL),
                    ==, TD_OK);
  }
  g_assert_cmpstr(told->order, ==, "awar");
  td_tensor_unref(one);
  td_node_unref(&told->node);
}

static void
free_callback(td_final_callback *callback) {
  free(callback);
}

/* I-08: the thread that ran the last node has the caller's streams in a callback. */
typedef struct stream_callback {
  td_final_callback callback;
  story *story;
} stream_callback;

static td_status
note_stream(td_final_callback *callback, td_error *error) {
  story *story = ((stream_callback *)callback)->story;
  g_assert_false(pthread_equal(pthread_self(), story->caller));
  story->stream = td_stream_current(SIM_0);
  return TD_OK;
}

static td_status
queue_note_stream(call_node *self, td_error *error) {
  stream_callback *callback = g_new0(stream_callback, 1);
  callback->callback = (td_final_callback){.call = note_stream, .free = free_callback};
  callback->story = self->data;
  return td_final_callback_queue(&callback->callback, error);
}

static void
test_streams_of_callbacks(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, queue_note_stream, &story);
  td_stream before = td_stream_current(SIM_0), own = td_stream_new(SIM_0);
  td_stream_set_current(own);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  td_stream_set_current(before);
  g_assert_true(td_stream_equal(story.stream, own));
  call_node_unref(root);
}

/* J-18: warnings of nodes, wherever they ran, reach the caller's thread once, before the result. */
static struct {
  int n;
  pthread_t thread;
  bool fails;
} warned;

static td_status
warned_cb(const char *text, td_error *error) {
  g_assert_cmpstr(text, ==, "mind the gap");
  warned.n++;
  warned.thread = pthread_self();
  return warned.fails ? td_error_set(error, TD_FOREIGN, "as an error") : TD_OK;
}

static td_status
warn(call_node *self, td_error *error) {
  g_assert_cmpint(warned.n, ==, 0);
  td_warn(&self->node, "mind the gap");
  return TD_OK;
}

static void
assert_warned(call_node *root, td_status wanted, const char *text) {
  td_error error = {0};
  warned.n = 0;
  g_assert_cmpint(call_backward(root, &error), ==, wanted);
  g_assert_cmpstr(error.message, ==, text);
  g_assert_cmpint(warned.n, ==, 1);
  g_assert_true(pthread_equal(warned.thread, pthread_self()));
  td_error_clear(&error);
}

static void
test_warnings(void) {
  story story;
  story_init(&story);
  td_warning_set_handler(warned_cb);
  call_node *nests = call_node_new(SIM_1, 0, call_nested, &story);
  call_node *root = call_node_new(TD_CPU, 2, NULL, NULL),
            *fails = call_node_new(TD_CPU, 0, fail, NULL);
  story.inner = call_node_new(SIM_0, 0, warn, NULL);
  assert_warned(story.inner, TD_OK, NULL);
  assert_warned(nests, TD_OK, NULL);
  warned.fails = true;
  assert_warned(nests, TD_FOREIGN, "as an error");
  /* The pass's own error counts more. */
  call_node *warns = call_node_new(TD_CPU, 0, warn, NULL);
  call_node_connect(root, 0, fails);
  call_node_connect(root, 1, warns);
  assert_warned(root, TD_AUTOGRAD, "Simulate error");
  call_node *nodes[] = {nests, root, fails, story.inner, warns};
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    call_node_unref(nodes[i]);
}

/* L-14, L-15 */

/* Two devices and the caller finish at once, over and over. */
static void
test_double_completion(void) {
  call_node *root = call_node_new(TD_CPU, 3, NULL, NULL);
  for (uint32_t i = 0; i < 3; i++) {
    call_node *leaf = call_node_new((td_device)i - 1, 0, NULL, NULL);
    call_node_connect(root, i, leaf);
    call_node_unref(leaf);
  }
  for (int i = 0; i < 1000; i++)
    g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  call_node_unref(root);
}

static td_status
push_dummy(call_node *self, td_error *error) {
  td_graph_task *graph_task = td_graph_task_now();
  td_ready_queue_push(td_thread_self.queue,
                      (td_node_task){.graph_task = td_graph_task_weak_ref(graph_task)},
                      TD_push_reason_root);
  return TD_OK;
}

/* One of a pass that is over, and one of the present pass. */
static void
test_stray_dummies(void) {
  call_node *root = call_node_new(TD_CPU, 1, push_dummy, NULL),
            *leaf = call_node_new(TD_CPU, 0, push_dummy, NULL);
  call_node_connect(root, 0, leaf);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  td_graph_task *gone = graph_task_new(td_thread_self.queue);
  td_ready_queue_push(td_thread_self.queue,
                      (td_node_task){.graph_task = td_graph_task_weak_ref(gone)},
                      TD_push_reason_root);
  td_graph_task_unref(gone);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_cmpuint(td_ready_queue_size(td_thread_self.queue), ==, 0);
  call_node_unref(root);
  call_node_unref(leaf);
}

/* L-16 */

static td_status
look_at_locks(td_final_callback *callback, td_error *error) {
  td_graph_task *graph_task = td_graph_task_now();
  g_assert_null(td_node_now());
  g_assert_cmpint(pthread_mutex_trylock(&graph_task->lock.mutex), ==, EBUSY);
  g_assert_cmpint(pthread_mutex_trylock(&graph_task->notes_mutex), ==, 0);
  pthread_mutex_unlock(&graph_task->notes_mutex);
  return TD_OK;
}

static td_status
queue_look(call_node *self, td_error *error) {
  td_final_callback *callback = g_new0(td_final_callback, 1);
  *callback = (td_final_callback){.call = look_at_locks, .free = free_callback};
  return td_final_callback_queue(callback, error);
}

static void
test_locks_of_callbacks(void) {
  call_node *root = call_node_new(TD_CPU, 0, queue_look, NULL);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  call_node_unref(root);
}

/* L-09 to L-11 */

static td_status
count_device_threads(call_node *self, td_error *error) {
  *(unsigned *)self->data = call_threads("pt_autograd_0") + call_threads("pt_autograd_1");
  return TD_OK;
}

static void
test_start_barrier(void) {
  unsigned n = 0;
  call_node *root = call_node_new(TD_CPU, 0, count_device_threads, &n);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_cmpuint(n, ==, 2);
  call_node_unref(root);
}

/* A thread's entry may outlive it by a moment. */
static unsigned
device_threads_after_stop(unsigned wanted) {
  unsigned n = 3;
  for (int i = 0; i < 2000 && n > wanted; i++) {
    n = call_threads("pt_autograd_0") + call_threads("pt_autograd_1");
    if (n > wanted) g_usleep(1000);
  }
  return n;
}

static void
in_child(void (*test)(void)) {
  if (g_test_subprocess()) return test();
  g_test_trap_subprocess(NULL, 60 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void
stop_when_idle(void) {
  test_start_barrier();
  td_engine_stop();
  g_assert_cmpuint(device_threads_after_stop(0), ==, 0);
  td_engine_stop();
  /* What comes later runs where it is called. */
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, note_worker, &story);
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  g_assert_true(pthread_equal(story.inner_thread, story.caller));
  call_node_unref(root);
}

static void
test_stop(void) {
  in_child(stop_when_idle);
}

static void
stop_without_waiting(void) {
  test_start_barrier();
  g_setenv("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0", TRUE);
  td_engine_stop();
  g_usleep(20000);
  g_assert_cmpuint(device_threads_after_stop(2), ==, 2);
}

static void
test_stop_limit_zero(void) {
  in_child(stop_without_waiting);
}

static td_status
announce_and_wait(call_node *self, td_error *error) {
  story *story = self->data;
  atomic_store(&story->in_nested, true);
  call_wait(&story->may_go_on);
  return TD_OK;
}

static void *
backward_cb(void *root) {
  g_assert_cmpint(call_backward(root, NULL), ==, TD_OK);
  return NULL;
}

/* A device that works on is waited for as long as the limit says. */
static void
stop_while_busy(void) {
  story story;
  story_init(&story);
  call_node *root = call_node_new(SIM_0, 0, announce_and_wait, &story);
  GThread *thread = g_thread_new("caller", backward_cb, root);
  call_wait(&story.in_nested);
  g_setenv("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0.2", TRUE);
  gint64 begin = g_get_monotonic_time();
  td_engine_stop();
  gint64 took = g_get_monotonic_time() - begin;
  g_assert_cmpint(took, >=, 190000);
  g_assert_cmpint(took, <, 5000000);
  g_assert_cmpuint(device_threads_after_stop(1), ==, 1);
  atomic_store(&story.may_go_on, true);
  g_thread_join(thread);
  g_assert_cmpuint(device_threads_after_stop(0), ==, 0);
  call_node_unref(root);
}

static void
test_stop_limit(void) {
  in_child(stop_while_busy);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(td_device_setup("cpu,sim:2", NULL), ==, TD_OK);
  g_test_add_func("/engine/worker/start-barrier/L-09", test_start_barrier);
  g_test_add_func("/engine/worker/outer-inside-inner/K-13", test_outer_inside_inner);
  g_test_add_func("/engine/worker/lock-around-nested/K-16", test_outer_inside_inner);
  g_test_add_func("/engine/worker/nested-on-device/K-14", test_nested_on_device);
  g_test_add_func("/engine/worker/nested-on-device/queue/K-15", test_nested_on_device);
  g_test_add_func("/engine/worker/nested-root-on-device/K-19", test_nested_root_on_device);
  g_test_add_func("/engine/worker/thresholds/K-03", test_thresholds);
  g_test_add_func("/engine/worker/expired-in-pool/K-11", test_expired_in_pool);
  g_test_add_func("/engine/worker/very-deep/K-12", test_very_deep);
  g_test_add_func("/engine/worker/error-on-device/J-10", test_error_on_device);
  g_test_add_func("/engine/worker/skipped-on-other-device/J-11", test_skipped_on_other_device);
  g_test_add_func("/engine/worker/parent-fails-first/J-14", test_parent_fails_first);
  g_test_add_func("/engine/worker/late-error/J-16", test_late_error);
  g_test_add_func("/engine/worker/dependency-not-found/B-14", test_dependency_not_found);
  g_test_add_func("/engine/worker/not-all-gradients/B-15", test_not_all_gradients);
  g_test_add_func("/engine/worker/counts-breadth-first/B-16", test_counts_breadth_first);
  g_test_add_func("/engine/worker/leaf-needs-no-lock/E-19", test_leaf_needs_no_lock);
  g_test_add_func("/engine/worker/told-of-release/E-18", test_told_of_release);
  g_test_add_func("/engine/worker/streams-of-callbacks/I-08", test_streams_of_callbacks);
  g_test_add_func("/engine/worker/warnings/J-18", test_warnings);
  g_test_add_func("/engine/worker/double-completion/L-14", test_double_completion);
  g_test_add_func("/engine/worker/stray-dummies/L-15", test_stray_dummies);
  g_test_add_func("/engine/worker/locks-of-callbacks/L-16", test_locks_of_callbacks);
  g_test_add_func("/engine/worker/stop/L-11", test_stop);
  g_test_add_func("/engine/worker/stop-limit-zero/L-10", test_stop_limit_zero);
  g_test_add_func("/engine/worker/stop-limit/L-10", test_stop_limit);
  return g_test_run();
}
