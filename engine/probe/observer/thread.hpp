/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the observer knows of queues, graph tasks and threads. It keeps the records of queues and
 * graph tasks for the life of the process, one per address. PyTorch does not use an address again
 * while somebody refers to what was there, even weakly. */
#pragma once

#include "engine/probe/observer/torch.hpp"

#include <c10/util/SmallVector.h>
#include <deque>
#include <mutex>
#include <pthread.h>

namespace tapedeck {

struct Queue {
  ReadyQueue *queue;
  std::weak_ptr<ReadyQueue> keep; /* so that the address stays its own */
  uint32_t id;
  uint32_t last;    /* for stamp (guarded by the queue's mutex) */
  uint32_t session; /* in which the queue entered the tape */
  uint32_t period;  /* of world->period, for n_hidden */
  size_t n_hidden;  /* tasks in it of passes that are not recorded (guarded by its mutex) */
};

/* A graph task; its number changes when another one takes over the address. NULL: that other one is
 * not recorded. */
struct Task {
  GraphTask *graph_task;
  uint32_t id, root; /* root: the node's */
  uint32_t last;     /* for stamp (guarded by the graph task's mutex) */
};

/* Records by address, found without a lock. */
template <class Record> class Registry {
public:
  explicit Registry(td_fork_rank rank) {
    td_probe_guard(mutex.native_handle(), rank);
  }

  Record *find(const void *address) const {
    uint32_t index = td_ids_find(ids, address);
    return index == TD_NONE ? nullptr : at(index);
  }

  /* The record of an address; where there is none, `fill` makes it whole before others find it. */
  template <class Fill> Record *obtain(const void *address, Fill fill) {
    std::lock_guard<std::mutex> lock(mutex);
    Record *found = find(address);
    if (found || n == N_PAGES * PAGE) return found;
    if (n % PAGE == 0) pages[n / PAGE] = new Page{};
    Record *made = pages[n / PAGE]->records[n % PAGE] = new Record{};
    fill(*made);
    td_ids_set(ids, address, n++);
    return made;
  }

  template <class Visit> void each(Visit visit) {
    std::lock_guard<std::mutex> lock(mutex);
    for (uint32_t i = 0; i < n; i++)
      visit(*at(i));
  }

private:
  Record *at(uint32_t index) const {
    return pages[index / PAGE]->records[index % PAGE];
  }

  uint32_t n = 0;                                        /* (guarded by mutex) */
  static constexpr uint32_t N_PAGES = 4096, PAGE = 4096; /* memory ends before them */
  td_ids *ids = td_ids_new();
  struct Page {
    Record *records[PAGE];
  };
  Page *pages[N_PAGES] = {}; /* a page is there before an index leads to it */
  std::mutex mutex;
};

/* One gradient's way in a scatter, foretold when the graph task's lock is taken: see scatter.hpp.
 */
struct Arrival {
  Node *node;
  uint32_t id, output_nr, input_nr, left;
  bool skipped;        /* the pass does not want it: it only counts */
  bool makes_buffer;   /* it is the first */
  bool completes;      /* it is the last: the node is pushed */
  bool added_directly; /* by the node that scatters, before: exposure.hpp */
  td_accumulation mode;
  uint32_t bytes, direct_bytes;
  uint64_t took = 0; /* ns of its sum, if that took long */
};

struct Scatter {
  std::vector<Arrival> arrivals;
  size_t n_told = 0, n_added = 0;
  uint64_t time = TIME_LAST; /* of the next event */
};

enum class Phase { before, applying, applied, scattering, scattered };

/* What the scatter has to know of a gradient that a node hands on. The gradients themselves lie in
 * a vector of the engine's, which a hook may exchange: no pointer into it is kept. */
struct Output {
  bool defined, sparse;
  uint32_t bytes;
};

using Outputs = c10::SmallVector<Output, 4>;

/* A call of evaluate_function; the innermost of a thread is its `evaluation`. */
struct Evaluation {
  Evaluation *outer;
  GraphTask *graph_task;
  Task *task;
  Node *node;
  const struct NodeClass *found; /* the node's class */
  uint32_t id;
  Phase phase;
  bool holds_lock; /* the graph task's, right now */
  bool captured;
  bool node_contended;        /* the thread had to wait for the node's mutex, which it holds */
  Outputs outputs;            /* as they are handed on; empty if unknown */
  struct Exposure *exposures; /* (owned) of the buffers that the node may add to: exposure.hpp */
};

/* A call of Engine::execute. */
struct Call {
  Call *outer;
  bool keep_graph, create_graph, accumulate_grad;
  uint32_t n_roots, n_outputs;
  Task *task; /* once its dependencies are counted */
  Task *outer_task;
  uint32_t outer_node;
};

/* A task at the front of a queue, read under its lock. */
struct Front {
  Node *node;
  GraphTask *graph_task;
  bool is_shutdown, is_expired, has_error;
  uint64_t outstanding;
};

/* What a thread has popped and not evaluated yet. */
struct Popped {
  Node *node;
  uint32_t id;
  Task *task;
  uint64_t outstanding;
  bool pending;
};

struct Thread {
  int inside;               /* calls of the engine that pop or push */
  bool skips;               /* in a pass that is not recorded */
  bool in_pool;             /* a thread of the engine's pool */
  uint32_t told_in_session; /* that it is in the pool */
  Call *call;
  Evaluation *evaluation;
  GraphTask *own; /* whose thread_main runs innermost: alive */
  /* while a known queue is locked: */
  Queue *queue;
  uint32_t queue_period; /* of world->period in which it locked the queue */
  size_t queue_size;
  bool queue_contended, task_contended; /* it had to wait for the lock that it holds */
  Front front;
  bool slept;
  uint64_t waited;
  /* the root that execute_with_graph_task is about to push: */
  Task *root_task;
  uint32_t root;
  Popped popped;
  pthread_mutex_t *done_mutex; /* of the graph task that it worked for last */
  Task *done_task;
  Scatter scatter;
  Task *finishing;            /* whose final callback runs */
  bool reduces;               /* that callback is one of c10d */
  bool waits;                 /* for a collective operation */
  bool hands;                 /* an operation to a process group */
  struct HookList *hook_list; /* that is about to call Python's functions: hooks.hpp */
  /* What was found last; records stay at their addresses. */
  GraphTask *found_graph_task;
  Task *found_task;
  const pthread_mutex_t *found_mutex;
  Queue *found_queue;
  void **found_vtables[16]; /* by a few bits of the address */
  const NodeClass *found_classes[16];
  Node *pushed; /* in a queue since, and so alive, or popped by now */
  uint32_t pushed_id;
};

extern TLS_QUICK Thread *thread_self;

Thread *thread_make();

inline Thread *
thread_now() {
  return LIKELY(thread_self) ? thread_self : thread_make();
}

inline pthread_mutex_t *
native(std::mutex &mutex) {
  return mutex.native_handle();
}

/* Everything that is numbered. */
struct World {
  td_ids *nodes = td_ids_new();
  World() {
    td_probe_guard(mutex.native_handle(), TD_FORK_WORLD);
  }

  Registry<Queue> queues{TD_FORK_RECORDS}; /* by the address of the mutex */
  std::atomic<uint64_t> queue_bits{0};     /* of all queues: see may_be_queue */
  Registry<Task> tasks{TD_FORK_RECORDS};
  std::mutex mutex;                 /* guards announcing, and what follows */
  std::atomic<uint32_t> n_nodes{0}; /* written under the mutex */
  std::atomic<uint32_t> n_tasks{0};
  std::atomic<uint32_t> n_queues{0};
  std::atomic<uint32_t> period{0}; /* changes when the observer goes on after a pause */
};

extern World *world; /* never freed: threads outlive main */

/* The record of a graph task that is recorded, or NULL. */
inline Task *
recorded_task(const GraphTask *graph_task) {
  Task *found = graph_task ? world->tasks.find(graph_task) : nullptr;
  return found && found->graph_task ? found : nullptr;
}

inline Task *
find_task(Thread *thread, GraphTask *graph_task) {
  Task *found = thread->found_task;
  if (UNLIKELY(graph_task != thread->found_graph_task)) {
    found = graph_task ? world->tasks.find(graph_task) : nullptr;
    if (!found) return nullptr;
    thread->found_graph_task = graph_task;
    thread->found_task = found;
  }
  return found && found->graph_task ? found : nullptr;
}

inline uint64_t
queue_bit(const pthread_mutex_t *mutex) {
  return uint64_t{1} << (reinterpret_cast<uintptr_t>(mutex) * 0x9e3779b97f4a7c15u >> 58);
}

/* Most mutexes belong to no queue, and there are few queues. So most need not be looked up. */
inline bool
may_be_queue(const pthread_mutex_t *mutex) {
  return world->queue_bits.load(std::memory_order_acquire) & queue_bit(mutex);
}

inline Queue *
find_queue(Thread *thread, const pthread_mutex_t *mutex) {
  if (LIKELY(mutex == thread->found_mutex)) return thread->found_queue;
  if (LIKELY(!may_be_queue(mutex))) return nullptr;
  Queue *found = world->queues.find(mutex);
  if (!found) return nullptr;
  thread->found_mutex = mutex;
  return thread->found_queue = found;
}

} // namespace tapedeck
