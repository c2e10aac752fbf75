/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What libtapedeck-probe.so is to an observer, and an observer to it. The probe is C and knows no
 * PyTorch: it talks with the hub, owns the tape, numbers and emits. An observer is C++. The user's
 * machine compiles it against the headers of the very PyTorch that runs. The observer watches that
 * engine and says what it sees. Read by both compilers. Any thread, unless a function says
 * otherwise. */
#pragma once

#include "engine/base/clock.h"
#include "engine/base/forks.h"
#include "engine/events/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TD_PROBE_API __attribute__((visibility("default")))

/* Nonzero while a tape is recorded: the number of the recording. */
extern TD_PROBE_API uint32_t td_probe_session;

/* td_probe_is_on returns td_probe_session, or 0 while the recording pauses: the program makes steps
 * that nobody wants. Nodes on the tape are freed meanwhile, and the tape says so. */
extern TD_PROBE_API uint32_t td_probe_watching; /* for td_probe_is_on alone */

static inline uint32_t
td_probe_is_on(void) {
  return __atomic_load_n(&td_probe_watching, __ATOMIC_ACQUIRE);
}

/* td_probe_ring returns the calling thread's ring, making it if need be; NULL when nothing is
 * recorded or there is no memory. td_probe_make_room is td_emit_make_room. */
TD_PROBE_API td_ring *td_probe_ring(void);
TD_PROBE_API td_ring *td_probe_make_room(size_t size);

/* The clock's kind, for td_clock_now and td_clock_ordered in an observer. */
extern TD_PROBE_API const bool *const td_probe_has_counter;

/* td_probe_lock_holder is td_lock_holder. */
TD_PROBE_API uint32_t td_probe_lock_holder(const pthread_mutex_t *mutex);

/* td_probe_thread returns the calling thread's id in events. td_probe_name_thread names it. */
TD_PROBE_API uint32_t td_probe_thread(void);
TD_PROBE_API void td_probe_name_thread(const char *name, int32_t device);

/* td_probe_name_caller names the calling thread as Python does: "main", or the name of its
 * threading.Thread; else as the system does. It holds no lock but perhaps the GIL, and takes that.
 */
TD_PROBE_API void td_probe_name_caller(void);

/* td_probe_enter_pass and td_probe_leave_pass: the calling thread works for passes that are
 * recorded, or may be. If it waits for the GIL meanwhile, that is on the tape. */
TD_PROBE_API void td_probe_enter_pass(void);
TD_PROBE_API void td_probe_leave_pass(void);

/* td_probe_begin_core, td_probe_meet_core and td_probe_look_at_core are td_core_begin, td_core_meet
 * and td_core_look: engine/events/core_waits.h. */
TD_PROBE_API void td_probe_begin_core(void);
TD_PROBE_API void td_probe_meet_core(void);
TD_PROBE_API void td_probe_look_at_core(void);
TD_PROBE_API void td_probe_name_device(int32_t device, const char *name);

/* td_probe_alloc returns memory that free() takes. It ends the recording if memory runs out, and
 * the process if the reserve has run out too. */
TD_PROBE_API void *td_probe_alloc(size_t n_bytes);

/* td_probe_intern returns the number of a text. Takes a lock. */
TD_PROBE_API uint32_t td_probe_intern(const char *text);

/* td_probe_intern_callable returns the number of a Python callable's name: callables.h. 0 if
 * `object` is no object of Python, or Python is ending. Takes the GIL; reads no memory that is not
 * there. td_probe_name_hook is for a callable that the calling thread is about to call, with the
 * GIL. */
TD_PROBE_API uint32_t td_probe_intern_callable(const void *object);
TD_PROBE_API uint32_t td_probe_name_hook(void *callable);

/* td_probe_guard is td_fork_guard for a mutex of an observer. */
TD_PROBE_API void td_probe_guard(pthread_mutex_t *mutex, td_fork_rank rank);

/* td_probe_begin begins the recording that the hub has asked for, if it has not begun: called when
 * an engine is entered. Takes a moment the first time, and in the child of a fork. */
TD_PROBE_API void td_probe_begin(void);

/* td_probe_find_rank looks for the rank of this process, if it is not known. A thread that holds no
 * lock but perhaps the GIL, which this takes. */
TD_PROBE_API void td_probe_find_rank(void);

/* td_probe_pass_begin and td_probe_pass_end: around each pass that no node called. `recorded` says
 * whether the pass and all passes inside it belong on the tape. Then the recording has begun, or
 * td_probe_is_on says that it could not. */
typedef struct td_pass_ticket {
  uint32_t generation; /* a child of a fork ignores tickets of its parent */
  bool recorded, is_first;
} td_pass_ticket;

TD_PROBE_API td_pass_ticket td_probe_pass_begin(void);
TD_PROBE_API void td_probe_pass_end(td_pass_ticket ticket);

/* td_probe_poll is where a live target can be stopped: no lock held that others want, nor the GIL.
 * Worth calling where td_probe_may_stop says so. That an `error` or an `anomaly` was emitted is a
 * reason to stop at the thread's next poll. */
TD_PROBE_API void td_probe_poll(td_event_kind kind, uint32_t node, uint32_t graph_task,
                                const char *name);
extern TD_PROBE_API const bool *const td_probe_gate;

/* td_probe_note_error is td_gate_note for a node that failed. */
TD_PROBE_API void td_probe_note_error(uint32_t node);

static inline bool
td_probe_may_stop(void) {
  return __builtin_expect(__atomic_load_n(td_probe_gate, __ATOMIC_RELAXED), 0);
}

/* What the hub wants to be recorded beyond what an engine does, and numerics.h. Constant while
 * recording. */
typedef struct td_probe_options {
  bool names;  /* of modules and parameters */
  bool stacks; /* where in the forward pass nodes were made */
} td_probe_options;
extern TD_PROBE_API td_probe_options td_probe_wanted;

/* Whether td_probe_start loaded the probe, and not preload.c: groups of ranks may be there already.
 */
extern TD_PROBE_API bool td_probe_from_inside;

/* What an observer's library exports as `td_observer_get`. */
typedef struct td_observer {
  const char *version;  /* of PyTorch, for the tape */
  bool (*attach)(void); /* begins to watch; false if there is nothing to watch */
  void (*detach)(void); /* stops: nothing is left in the program's way */
  void (*begin)(void);  /* a recording begins: forget all ids, say how events are known */
  void (*pause)(void);  /* no recorded pass is under way: get out of the way; NULL: nothing to do */
  void (*resume)(void); /* what pause did is undone */
  /* Of a living at::TensorImpl, with the GIL; NULL: nobody can tell. find_leaf returns the node of
   * the tape that stores its gradient now, or TD_NONE. find_unreached returns the name of the node
   * that made it, an interned string, and where; 0 if a pass has reached that node, or if another
   * node leads there. is_zero reads a tensor of the CPU; it returns false if it cannot. */
  uint32_t (*find_leaf)(const void *tensor);
  uint32_t (*find_unreached)(const void *tensor, uint32_t *stack);
  bool (*is_zero)(const void *tensor);
} td_observer;

TD_PROBE_API const td_observer *td_observer_get(void);

/* For preload.c. td_probe_join says hello to the hub and loads what the hub answers, once per
 * process. td_probe_end ends the tape with the program's status. td_probe_die does so if a signal
 * is about to end the program. If another thread ends the tape already, both wait until that thread
 * is done, for 2 seconds at most. If the calling thread itself ends it, td_probe_die does nothing.
 * td_probe_brace: the program sends itself a signal, and may have put back the default before.
 * td_probe_die and td_probe_brace are async-signal-safe. */
TD_PROBE_API void td_probe_join(void);

/* td_probe_fork is for preload.c too: td_fork_before, td_fork_after and td_fork_after_in_child. */
typedef struct td_probe_forks {
  void (*before)(void), (*after)(void), (*after_in_child)(void);
} td_probe_forks;
extern TD_PROBE_API const td_probe_forks td_probe_fork;

/* td_probe_start_scripts runs the probe's Python programs, if the hub wants them. Each thread that
 * comes by calls it after td_probe_join. The first thread holds no lock but perhaps the GIL.
 * Other threads wait for the first, unless they hold the GIL. Then they go on as if nothing were
 * recorded.
 */
TD_PROBE_API void td_probe_start_scripts(void);

/* For a program that loads the probe itself, without preload.c. td_probe_start asks the hub of
 * TAPEDECK_SESSION and has the next pass begin a tape. `program` is what tapes call the process;
 * NULL: its script. It returns the level, or -1 after it said what is wrong. td_probe_stop ends
 * that tape. Then td_probe_start may come again, with another hub; the level stays. One thread at a
 * time, which does not hold the GIL. */
TD_PROBE_API int td_probe_start(const char *program);
TD_PROBE_API void td_probe_stop(void);

/* td_probe_step: the program says that a training step is over. td_probe_leave_mark puts a text on
 * the tape. */
TD_PROBE_API void td_probe_step(void);
TD_PROBE_API void td_probe_leave_mark(const char *text);

/* td_probe_dump: the program wants a tape of what a flight recorder has kept. */
TD_PROBE_API void td_probe_dump(void);

/* td_probe_flush brings what was emitted into the tape's file, if no other thread begins or ends
 * the tape at this moment. */
TD_PROBE_API void td_probe_flush(void);

/* td_probe_keep: the program wants a flight recorder from now on, or from the first pass on. The
 * limit is one that td_keep_limit_read takes. Returns 0, or -1 after it said why not. */
TD_PROBE_API int td_probe_keep(const char *limit);
TD_PROBE_API void td_probe_end(int status);
TD_PROBE_API void td_probe_die(int number);
TD_PROBE_API void td_probe_brace(int number);

#ifdef __cplusplus
}
#endif
