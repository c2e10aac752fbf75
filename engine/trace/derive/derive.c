/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Note [Derivation]
 * Problem: hooks see the graph, the calls of backward, and on which thread each node begins and
 * ends. Queues, counts and buffers happen between these moments, unseen.
 *
 * What happens there follows by the engine's rules (engine/rules). A node that ended hands its
 * gradients on. Counts fall. A task whose count reaches zero enters the queue of its device. The
 * thread pops the task that it begins next. One moment does not follow: when a thread hands on. It
 * is after the node's end. It is before the thread's next event, and before the begin of a node
 * that needed the gradient.
 *
 * Trick: that moment goes on the tape as late as possible. The thread itself hands on at its next
 * begin or end. Another thread may begin a node earlier that only this gradient can have made
 * ready. Then the events come just before that begin, under the number of the thread that handed
 * on.
 *
 * Some tasks call no hook: the GraphRoot, a node that is only captured, tasks of a pass that
 * failed. They are popped when the queue's order says so, which is just before what hooks see next.
 * If a thread begins a node that waits for more, the rules do not explain the program. The pass is
 * given up with a mark on the tape, and only begins and ends follow. If a thread begins a ready
 * node that is not first, another thread's push came too early on the tape. The seen order stands,
 * with a mark.
 */
#include "engine/trace/derive/derive.h"

#include "engine/base/alloc.h"
#include "engine/trace/derive/progress.h"
#include "engine/trace/merge.h"
#include "engine/trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A stranger's tape may become so many times longer, and so much at least. */
#define TIMES_LONGER 64
#define EVENTS_FREE (1u << 20)
#define PASSES_AT_ONCE 4096 /* more than that, and the map of passes is made anew at times */

/* ---- a node begins ---- */

static td_rpass *
find_pass(const td_derivation *self, uint32_t graph_task) {
  const uint64_t *place = td_number_map_find(&self->passes, graph_task);
  return place ? (td_rpass *)(uintptr_t)*place : NULL;
}

/* A thread that was not seen before works for a pass: on a device, or in the pool. */
static void
adopt(td_derivation *self, td_rthread *thread, const td_rtask *task) {
  td_rqueue *queue = td_rqueue_for(self, thread->id, task);
  queue->server = thread->id;
  if (thread->queue) return;
  thread->queue = queue;
  thread->is_device = queue->device != TD_DEVICE_CPU;
  char *name = thread->is_device ? td_format("pt_autograd_%d", queue->device)
                                 : td_dup_string("pt_autograd_pool");
  uint32_t number = td_derived_text(self, thread->id, name);
  free(name);
  TD_DERIVE(self, thread->id, thread_new, .id = thread->id, .name = number,
            .device = queue->device);
  if (!thread->is_device) TD_DERIVE(self, thread->id, pool_thread_new, .id = thread->id);
}

/* Brings the node to the queue's top by what must have happened unseen. */
static void
bring_up(td_derivation *self, uint32_t thread, const td_rtask *task, td_rqueue *queue) {
  const td_rpass *pass = task->pass;
  while (!pass->lost) {
    if (td_rqueue_first(queue) == task) return;
    if (td_progress_run_silent(self, thread, queue)) continue;
    if (task->pushed || !td_progress_settle_another(self, pass)) return;
  }
}

static void
pop(td_derivation *self, uint32_t thread, const td_rtask *task, td_rqueue *queue) {
  td_rpass *pass = task->pass;
  if (td_rqueue_first(queue) == task) {
    td_rqueue_pop(queue);
  } else if (td_rqueue_take(queue, task)) {
    if (self->queues_known && !pass->disordered) {
      uint32_t text = td_derived_text(self, thread,
                                      "a pop was seen that is not the queue's first: a push by "
                                      "another thread came after it");
      TD_DERIVE(self, thread, mark, .text = text);
    }
    pass->disordered = true;
  } else {
    return td_progress_give_up(self, thread, pass, "a node began that waited for more");
  }
  td_rqueue_derive_pop(self, thread, queue, task);
  td_rpass_unref(self, pass);
}

/* The task stays where it is as long as the pass lives. */
static void
begin_task(td_derivation *self, td_rthread *thread, td_rpass *pass, td_rtask *task) {
  adopt(self, thread, task);
  if (!pass->lost) {
    td_rqueue *queue = td_rqueue_for(self, thread->id, task);
    bring_up(self, thread->id, task, queue);
    if (!pass->lost) pop(self, thread->id, task, queue);
  }
  task->begun = true;
  if (!pass->lost) td_progress_capture(self, thread->id, pass, task);
  td_rthread_note_running(thread, pass, task->node);
}

static void
begin_node(td_derivation *self, td_rthread *thread, const td_event_node_begin *event) {
  td_rpass *pass = find_pass(self, event->graph_task);
  td_progress_settle(self, thread);
  if (!pass) return;
  if (!pass->known) td_progress_give_up(self, thread->id, pass, "its call is not on the tape");
  td_rtask *task = td_rpass_find(pass, event->node);
  if (task)
    begin_task(self, thread, pass, task);
  else
    td_progress_give_up(self, thread->id, pass, "a node began that is not in its graph");
}

/* ---- a node ends ---- */

/* The node's entry leaves the thread, with those of inner nodes that did not end. */
static bool
take_running(td_rthread *thread, uint32_t node, td_running *ended) {
  size_t at = thread->n_running;
  while (at > 0 && thread->running[at - 1].node->id != node)
    at--;
  if (at == 0) return false;
  *ended = thread->running[at - 1];
  while (thread->n_running >= at)
    thread->running[--thread->n_running].pass->n_working--;
  return true;
}

static void
end_node(td_derivation *self, td_rthread *thread, const td_event_node_end *event) {
  td_running ended;
  bool has_begun = take_running(thread, event->node, &ended);
  if (has_begun) td_progress_settle(self, thread);
  td_derived_copy(self, &event->event);
  if (has_begun) td_rthread_note_ended(thread, ended);
}

/* ---- a pass ends ---- */

/* All that is left happened unseen, on whoever serves the queue. */
static void
finish(td_derivation *self, uint32_t thread, td_rpass *pass) {
  for (bool more = true; more && !pass->lost;) {
    more = td_progress_settle_another(self, pass);
    for (size_t i = 0; !more && !pass->lost && i < self->n_queues; i++) {
      td_rqueue *queue = self->queues[i];
      const td_rtask *first = td_rqueue_first(queue);
      if (!first || first->pass != pass) continue;
      uint32_t server = queue->server != TD_NONE ? queue->server : thread;
      more = td_progress_run_silent(self, server, queue);
    }
  }
  if (!pass->lost && pass->outstanding > 0)
    td_progress_give_up(self, thread, pass, "it ended well with tasks outstanding");
}

/* Nothing of a pass that is over goes on: what began will not end, what ended hands nothing on. */
static void
abandon(td_derivation *self, td_rpass *pass) {
  for (uint32_t t = 0; t < self->n_threads && pass->n_working > 0; t++) {
    td_rthread *thread = self->threads[t];
    if (!thread) continue;
    size_t n = 0;
    for (size_t i = 0; i < thread->n_running; i++)
      if (thread->running[i].pass != pass) thread->running[n++] = thread->running[i];
    pass->n_working -= (uint32_t)(thread->n_running - n);
    thread->n_running = n;
    if (thread->ended.pass == pass) td_rpass_unref(self, td_rthread_take_ended(thread).pass);
  }
}

/* The owner sleeps until the thread that did the last task wakes it. */
static void
wake_owner(td_derivation *self, uint32_t thread, const td_rpass *pass, const td_rthread *last) {
  const td_rqueue *queue = pass->queue;
  if (!last || !self->queues_known || pass->lost) return;
  TD_DERIVE(self, last->id, queue_wake, .queue = queue->id, .graph_task = pass->graph_task,
            .size = (uint32_t)queue->tasks.n + 1);
  TD_DERIVE(self, thread, queue_pop, .queue = queue->id, .node = TD_NONE,
            .graph_task = pass->graph_task, .size = (uint32_t)queue->tasks.n, .waited = 0);
  TD_DERIVE(self, thread, outstanding, .graph_task = pass->graph_task, .value = 0);
}

/* The device thread that still has to hand on, if any: it did the last task. */
static const td_rthread *
last_on_a_device(const td_derivation *self, const td_rthread *caller, const td_rpass *pass) {
  for (uint32_t i = 0; i < self->n_threads && pass->n_working > 0; i++) {
    const td_rthread *thread = self->threads[i];
    if (thread && thread->ended.pass == pass && thread != caller && thread->is_device)
      return thread;
  }
  return NULL;
}

static void
end_well(td_derivation *self, td_rthread *thread, td_rpass *pass) {
  td_progress_settle(self, thread);
  if (!pass->known) td_progress_give_up(self, thread->id, pass, "its call is not on the tape");
  const td_rthread *last = last_on_a_device(self, thread, pass);
  finish(self, thread->id, pass);
  wake_owner(self, thread->id, pass, last);
}

static void
forget(td_derivation *self, td_rpass *pass) {
  abandon(self, pass);
  *td_number_map_find(&self->passes, pass->graph_task) = 0;
  pass->over = true;
  if (pass->refs > 1) td_rqueues_expire(self, pass);
  td_rpass_unref(self, pass);
}

static void
end_pass(td_derivation *self, td_rthread *thread, const td_event_graph_task_end *event) {
  td_rpass *pass = find_pass(self, event->graph_task);
  if (pass && event->status == TD_task_status_ok) end_well(self, thread, pass);
  td_derived_copy(self, &event->event);
  if (pass) forget(self, pass);
}

/* ---- a pass begins ---- */

static void
begin_pass(td_derivation *self, td_rthread *thread, const td_event_graph_task_begin *event) {
  td_progress_settle(self, thread);
  td_rpass *before = find_pass(self, event->graph_task);
  if (before) forget(self, before); /* a tape that lies */
  if (!thread->queue) thread->queue = td_rqueue_new(self, thread->id, TD_DEVICE_CPU, thread->id);
  td_rpass *pass = td_rpass_new(event);
  pass->queue = thread->queue;
  *td_number_map_put(&self->passes, event->graph_task) = (uintptr_t)pass;
  if (self->passes.n > 2 * PASSES_AT_ONCE) td_number_map_forget_zeros(&self->passes);
  td_derived_copy(self, &event->event);
}

static void
add_root(td_derivation *self, td_rthread *thread, const td_event_root_gradient *event) {
  td_rpass *pass = find_pass(self, event->graph_task);
  if (pass && td_rpass_add_root(pass, event)) td_progress_begin(self, thread->id, pass);
}

static void
add_output(td_derivation *self, td_rthread *thread, const td_event_wanted_output *event) {
  td_rpass *pass = find_pass(self, event->graph_task);
  if (pass && td_rpass_add_output(pass, event)) td_progress_begin(self, thread->id, pass);
}

/* ---- events of a raw tape ---- */

/* Edges stand right behind their node. If some are lost there, nobody knows of it. */
static void
lose_events(td_derivation *self, td_rthread *thread) {
  td_rnode *last = thread->last_node != TD_NONE ? td_rnode_find(self, thread->last_node) : NULL;
  if (last) last->is_partial = true;
  for (uint32_t i = 0; i < self->passes.n; i++) {
    td_rpass *pass = (td_rpass *)(uintptr_t)self->passes.entries[i].value;
    if (pass) td_progress_give_up(self, thread->id, pass, "events are missing here");
  }
}

static void
add_node(td_derivation *self, td_rthread *thread, const td_event_node_new *event) {
  td_rnode_add(self, event);
  thread->last_node = event->node;
}

static void
take(td_derivation *self, td_rthread *thread, const td_any_event *event) {
  if (event->event.kind != TD_EVENT_edge_new && event->event.kind != TD_EVENT_dropped)
    thread->last_node = TD_NONE;
  switch (event->event.kind) {
  case TD_EVENT_root_gradient:
    return add_root(self, thread, &event->root_gradient);
  case TD_EVENT_wanted_output:
    return add_output(self, thread, &event->wanted_output);
  case TD_EVENT_node_gradient:
    return td_rthread_add_gradient(thread, &event->node_gradient);
  case TD_EVENT_node_end:
    return end_node(self, thread, &event->node_end);
  case TD_EVENT_graph_task_begin:
    return begin_pass(self, thread, &event->graph_task_begin);
  case TD_EVENT_graph_task_end:
    return end_pass(self, thread, &event->graph_task_end);
  case TD_EVENT_node_begin:
    begin_node(self, thread, &event->node_begin);
    break;
  case TD_EVENT_node_new:
    add_node(self, thread, &event->node_new);
    break;
  case TD_EVENT_edge_new:
    td_rnode_add_edge(self, &event->edge_new);
    break;
  case TD_EVENT_node_free:
    td_rnode_drop(self, event->node_free.node);
    break;
  case TD_EVENT_dropped:
    lose_events(self, thread);
    break;
  }
  td_derived_copy(self, &event->event);
}

/* ---- what the whole tape says ---- */

typedef struct survey {
  uint64_t n_events;
  uint32_t next_string;  /* a number that no text has */
  uint32_t queue_push;   /* the number of that word */
  bool no_pushes;        /* such events are absent */
  td_number_map leading; /* (owned) of texts that begin with a digit: 1 + their first number */
  uint64_t version;      /* the first number of PyTorch's */
} survey;

static void
look_at_text(survey *self, const td_event_string *event) {
  static const char word[] = "queue_push";
  const char *text = (const char *)(event + 1);
  uint64_t number = 0;
  if (event->id < TD_NONE - 1) self->next_string = TD_MAX(self->next_string, event->id + 1);
  if (event->length == sizeof word - 1 && memcmp(text, word, event->length) == 0)
    self->queue_push = event->id;
  for (uint32_t i = 0; i < event->length && text[i] >= '0' && text[i] <= '9' && i < 9; i++)
    number = number * 10 + (uint64_t)(text[i] - '0');
  if (event->length && text[0] >= '0' && text[0] <= '9')
    *td_number_map_put(&self->leading, event->id) = number + 1;
}

static void
look_at(survey *self, const td_any_event *event) {
  const uint64_t *number;
  self->n_events++;
  switch (event->event.kind) {
  case TD_EVENT_string:
    look_at_text(self, &event->string);
    break;
  case TD_EVENT_session_begin:
    number = td_number_map_find(&self->leading, event->session_begin.version);
    self->version = number ? *number - 1 : 0;
    break;
  case TD_EVENT_known:
    if (self->queue_push && event->known.kind == self->queue_push)
      self->no_pushes = event->known.how == TD_knowledge_absent;
    break;
  }
}

static survey
survey_all(td_directory *directory) {
  survey found = {.next_string = 1};
  td_merge merge;
  const td_event *event;
  td_merge_init(&merge, directory);
  td_merge_start(&merge);
  while ((event = td_merge_next(&merge)))
    look_at(&found, (const void *)event);
  td_merge_fini(&merge);
  td_number_map_fini(&found.leading);
  return found;
}

/* ---- a tape becomes another ---- */

static td_derivation *
derivation_new(const td_directory *directory, const survey *survey, td_maker *maker) {
  td_derivation *self = TD_NEW(td_derivation);
  uint64_t most = survey->n_events * TIMES_LONGER + EVENTS_FREE;
  *self = (td_derivation){.maker = maker,
                          .n_left = directory->trusted ? UINT64_MAX : most,
                          .next_string = survey->next_string,
                          .threads = TD_NEW_N(td_rthread *, directory->n_threads),
                          .n_threads = directory->n_threads,
                          .queues_known = !survey->no_pushes,
                          .sums_in_place = survey->version >= 2,
                          .is_damaged = !td_directory_is_sound(directory)};
  return self;
}

static void
derivation_free(td_derivation *self) {
  td_rthreads_fini(self);
  for (uint32_t i = 0; i < self->passes.n; i++) {
    td_rpass *pass = (td_rpass *)(uintptr_t)self->passes.entries[i].value;
    if (pass) td_rpass_unref(self, pass);
  }
  td_rqueues_fini(self);
  td_number_map_fini(&self->passes);
  td_rnodes_fini(self);
  free(self);
}

static void
derive_all(td_directory *directory, const survey *survey, td_maker *maker) {
  td_derivation *self = derivation_new(directory, survey, maker);
  td_merge merge;
  const td_event *event;
  td_merge_init(&merge, directory);
  td_merge_start(&merge);
  while ((event = td_merge_next(&merge))) {
    self->now = event->time;
    take(self, td_rthread_of(self, event->thread), (const void *)event);
  }
  td_merge_fini(&merge);
  derivation_free(self);
}

static td_status
check_readable(const td_directory *directory, td_error *error) {
  if (directory->out_of_memory) return td_error_set(error, TD_OUT_OF_MEMORY, "out of memory");
  return directory->unreadable ? td_directory_tell_unreadable(directory, error) : TD_OK;
}

/* Owns the descriptor. */
static td_status
derive_into(int fd, td_directory *directory, bool is_whole, td_error *error) {
  td_writer *writer;
  survey survey = survey_all(directory);
  td_status status = check_readable(directory, error);
  if (status) close(fd);
  if (!status) status = td_writer_open_derived(fd, &directory->header, &writer, error);
  if (status) return status;
  td_maker *maker = td_maker_new(writer);
  derive_all(directory, &survey, maker);
  status = is_whole ? td_maker_close(maker, error) : td_maker_cut(maker, error);
  return status ? status : check_readable(directory, error);
}

/* What is wrong with the raw tape is wrong with what follows from it. */
static void
hand_down(td_directory *derived, td_directory *raw) {
  free(derived->damage);
  derived->damage = raw->damage;
  raw->damage = NULL;
  derived->cut_off = raw->cut_off;
  derived->trusted = raw->trusted;
  derived->n_file_bytes = raw->n_file_bytes;
}

td_status
td_derive(td_directory *directory, td_error *error) {
  td_directory derived;
  if (!(directory->header.flags & TD_TAPE_RAW)) return TD_OK;
  int fd = memfd_create("tapedeck", MFD_CLOEXEC), copy = fd < 0 ? -1 : dup(fd);
  td_status status =
      copy < 0 ? td_error_set(error, TD_OUT_OF_MEMORY, "no memory for a tape: %s", strerror(errno))
               : derive_into(copy, directory, directory->complete, error);
  if (!status) {
    status = td_directory_open_memory(fd, &derived, error);
    fd = -1; /* the directory's */
  }
  if (fd >= 0) close(fd);
  if (!status) hand_down(&derived, directory);
  td_directory_close(directory);
  if (!status) *directory = derived;
  return status;
}

static td_status
check_sound(const td_directory *directory, td_error *error) {
  if (td_directory_is_sound(directory)) return TD_OK;
  return td_error_set(error, TD_DAMAGED, "%s", directory->damage);
}

static td_status
create_file(const char *path, int *fd, td_error *error) {
  unlink(path);
  *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return *fd >= 0 ? TD_OK : td_error_set(error, TD_IO, "%s", strerror(errno));
}

td_status
td_derive_file(const char *from, const char *to, bool is_whole, td_error *error) {
  td_directory directory;
  int fd = -1;
  td_status status = td_directory_open_own(from, &directory, error);
  if (status) return status;
  if (!(directory.header.flags & TD_TAPE_RAW))
    status = td_error_set(error, TD_UNSUPPORTED, "it is no raw tape");
  if (!status) status = check_sound(&directory, error);
  if (!status) status = create_file(to, &fd, error);
  if (!status) status = derive_into(fd, &directory, is_whole, error);
  if (!status) status = check_sound(&directory, error);
  if (status && fd >= 0) unlink(to);
  td_directory_close(&directory);
  return status;
}

bool
td_derive_is_raw(const char *path) {
  td_tape_header header;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  ssize_t n = read(fd, &header, sizeof header);
  close(fd);
  return n == sizeof header && memcmp(header.magic, TD_TAPE_MAGIC, sizeof header.magic) == 0 &&
         (header.flags & TD_TAPE_RAW);
}

static bool
is_ended(const char *path) {
  td_directory directory;
  if (td_directory_open_own(path, &directory, NULL)) return false;
  bool is_complete = directory.complete;
  td_directory_close(&directory);
  return is_complete;
}

/* Whoever has the raw tape open keeps it. */
td_status
td_derive_in_place(const char *path, td_error *error) {
  if (!td_derive_is_raw(path)) return TD_OK;
  char *part = td_format("%s.derived", path);
  td_status status = td_derive_file(path, part, is_ended(path), error);
  if (!status && rename(part, path) != 0) {
    status = td_error_set(error, TD_IO, "%s", strerror(errno));
    unlink(part);
  }
  free(part);
  return status;
}
