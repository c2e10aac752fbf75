/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The life of a recording in somebody else's program: hello to the hub, the observer, the tape. The
 * tape goes from the first graph task to the end of the process. The child of a fork begins all of
 * it anew. What goes wrong is said in one line; the program runs on.
 *
 * Note [Pauses]
 * Problem: in a step that nobody wants, the probe must cost as little as if it were off. But it
 * must notice when the next wanted step begins, and the tape must stay true: a node on it may die
 * now.
 *
 * Trick: the observer takes its hooks out of everything that a node calls. What remains is called
 * once per pass, or by threads that come and go. Destructors stay watched until no node of the tape
 * is alive. The recorder goes on, so the deaths of those nodes reach the tape.
 *
 * Several threads end steps and passes at once. Each calls follow_locked afterwards, which compares
 * what is wanted with what is. So the order of these calls does not matter. */
#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/base/relocations.h"
#include "engine/control/gate.h"
#include "engine/events/core_waits.h"
#include "engine/events/gil.h"
#include "engine/probe/callers.h"
#include "engine/probe/deadly.h"
#include "engine/probe/hooks.h"
#include "engine/probe/level.h"
#include "engine/probe/markers.h"
#include "engine/probe/numerics.h"
#include "engine/probe/orders.h"
#include "engine/probe/own_time.h"
#include "engine/probe/probe.h"
#include "engine/probe/program.h"
#include "engine/probe/python.h"
#include "engine/probe/scripts.h"
#include "engine/probe/shortage.h"
#include "engine/probe/stacks.h"
#include "engine/probe/steps.h"
#include "engine/trace/keep_limit.h"
#include "engine/trace/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Quick to make for a new thread, and room for what a pass of ten thousand nodes says. */
#define RING_BYTES (4 << 20)

#define THREAD_ID "_ZN2at14RecordFunction15currentThreadIdEv"
#define SEQUENCE_NR "_ZN2at15sequence_number4peekEv"
#define TAKE_SEQUENCE_NR "_ZN2at15sequence_number17get_and_incrementEv"
#define NO_CREATION_HOOKS "_ZN2at4impl17NodeCreationHooks5emptyEv"

/* Held for as long as the hub's answer takes, and for the end of a tape. Taken before probe.mutex,
 * and by no fork: the child makes it new. Guards orders.h. */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

static struct {
  pthread_mutex_t mutex; /* guards all below */
  td_level level;
  td_recorder *recorder; /* (owned) while recording */
  pid_t pid;             /* of the process that all this is about */
  bool wanted;           /* begin a tape at the next graph task */
  bool watches;          /* the observer does not pause */
  bool forked;           /* this is a child: its parent's hub and tape are not its own */
  bool over;
  char *problem; /* (owned) why the tape is not whole, or NULL */
} probe = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool td_probe_from_inside;

static void
note_problem(const char *words) {
  free(probe.problem);
  probe.problem = words ? td_dup_string(words) : NULL;
}

/* The tape cannot be written, or not to its end. */
static void
tell_failure(const char *what, td_error *error) {
  fprintf(stderr, "tapedeck: %s: %s\n", what, td_error_text(error));
  note_problem(td_error_text(error));
  td_error_clear(error);
}

static void
on_exit_cb(int status, void *data) {
  td_probe_end(status);
}

/* Any other thread got its name when it came into the engine: td_probe_name_caller. */
static void
name_main_thread(void) {
  if (gettid() == getpid()) td_emit_name_thread("main", TD_DEVICE_CPU);
}

static void
tell_process(const char *program) {
  const char *base = strrchr(program, '/');
  TD_EMIT(process_new, .process = 0, .pid = (uint32_t)getpid(), .rank = td_program_rank(),
          .name = td_intern(base ? base + 1 : program));
}

/* What a joined tape and its readers call this process and its main thread. */
static void
introduce(const char *program) {
  tell_process(program);
  td_emit_device(TD_DEVICE_CPU, "cpu");
  name_main_thread();
}

/* The child keeps the observer; everything else is its parent's. */
static void
forked_cb(void) {
  pthread_mutex_init(&asking, NULL);
  probe.pid = getpid();
  td_probe_session = td_probe_watching = 0;
  td_steps_forget();
  td_program_note_rank(-1);
  td_deadly_forget();
  if (probe.recorder) td_recorder_abandon(probe.recorder);
  td_orders_abandon();
  probe.recorder = NULL;
  probe.forked = probe.wanted = probe.level.observer != NULL;
}

__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_guard(&probe.mutex, TD_FORK_PROBE);
  td_fork_reset(forked_cb);
}

/* Has the observer pause or go on, as the steps want it. */
static void
follow_locked(void) {
  bool watches = td_steps_wants_watching();
  if (!probe.level.observer) return;
  if (probe.recorder && td_steps_wants_this()) td_steps_tell_left_out();
  if (watches && !probe.watches && probe.level.observer->resume) probe.level.observer->resume();
  uint32_t session = watches && probe.recorder ? td_probe_session : 0;
  __atomic_store_n(&td_probe_watching, session, __ATOMIC_RELEASE);
  td_gil_pause(!session);
  td_shortage_settle();
  if (!watches && probe.watches && probe.level.observer->pause) probe.level.observer->pause();
  probe.watches = watches;
}

static void
follow_steps(void) {
  if (!td_steps_are_chosen()) return;
  pthread_mutex_lock(&probe.mutex);
  follow_locked();
  pthread_mutex_unlock(&probe.mutex);
}

static void
obey_locked(const td_orders *orders) {
  if (orders) td_level_choose(&probe.level, orders);
  probe.wanted = probe.watches = probe.level.observer != NULL;
  if (!probe.wanted) return;
  td_own_start();
  follow_locked();
  on_exit(on_exit_cb, NULL);
}

/* The child of a fork comes here again if its parent had not finished. */
void
td_probe_join(void) {
  pthread_mutex_lock(&asking);
  td_shortage_watch();
  const td_orders *orders = probe.level.observer ? NULL : td_orders_ask();
  pthread_mutex_lock(&probe.mutex);
  probe.pid = getpid();
  if (!probe.level.observer) obey_locked(orders);
  pthread_mutex_unlock(&probe.mutex);
  pthread_mutex_unlock(&asking);
}

/* ---- from inside: the program loads the probe, and wants tapes one after the other ---- */

/* So ends the child of a fork in Python. */
static _Noreturn void
end_process(int status) {
  td_probe_end(status);
  for (;;)
    syscall(SYS_exit_group, status);
}

/* A program that becomes another ends its tape. The child of a vfork comes by here too. */
static int
become(const char *path, char *const argv[], char *const environment[]) {
  int before = errno;
  if (access(path, X_OK) == 0) td_probe_end(0);
  errno = before;
  return (int)syscall(SYS_execve, path, argv, environment);
}

static int
become_here(const char *path, char *const argv[]) {
  return become(path, argv, environ);
}

#define OF_PYTHON(name, hook)                                                                      \
  {"", name, (void *)(hook), false, true}, {                                                       \
    "libpython", name, (void *)(hook), false, true                                                 \
  }

/* What preload.c does where a program is preloaded, as far as it can be done later. */
static void
stand_in_for_preload(void) {
  td_probe_from_inside = true;
  void *original = td_program_find_in_torch(TAKE_SEQUENCE_NR);
  const td_relocation list[] = {OF_PYTHON("_exit", end_process),
                                OF_PYTHON("execve", become),
                                OF_PYTHON("execv", become_here),
                                {original ? "libtorch" : NULL, TAKE_SEQUENCE_NR,
                                 original ? td_stacks_hook(original) : NULL, false},
                                {0}};
  size_t n;
  td_fork_watch();
  td_relocations_forget(td_relocations_point(list, &n));
}

/* The observer of an earlier tape is still there. In a child of a fork that tape may be its own
 * part of its parent's recording. */
static void
want_again_locked(bool is_wanted) {
  td_steps_forget();
  td_stacks_want(td_probe_wanted.stacks);
  td_orders_keep_from_now(""); /* of the tape before */
  probe.forked = probe.over = false;
  probe.wanted = is_wanted;
  td_own_start();
  note_problem(NULL);
  if (is_wanted) follow_locked();
}

int
td_probe_start(const char *program) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  td_program_call(program);
  pthread_once(&once, stand_in_for_preload);
  if (!probe.level.observer) {
    td_probe_join();
  } else {
    td_probe_end(0);
    pthread_mutex_lock(&asking);
    bool is_wanted = td_orders_ask_again();
    pthread_mutex_lock(&probe.mutex);
    want_again_locked(is_wanted);
    pthread_mutex_unlock(&probe.mutex);
    pthread_mutex_unlock(&asking);
  }
  td_probe_start_scripts();
  pthread_mutex_lock(&probe.mutex);
  bool goes = probe.wanted || probe.recorder; /* another thread may have made the first pass */
  int level = goes ? probe.level.number : -1;
  pthread_mutex_unlock(&probe.mutex);
  return level;
}

/* Nothing is wanted from now on. What a pass under way still calls goes when that pass is over. */
void
td_probe_stop(void) {
  const td_steps_options none = {.to = 0, .every = 1, .words = "none"};
  td_probe_end(0);
  td_steps_configure(&none);
  follow_steps();
}

static void
stop_wanting(const char *why) {
  fprintf(stderr, "tapedeck: not recorded: %s\n", why);
  pthread_mutex_lock(&probe.mutex);
  probe.wanted = false;
  pthread_mutex_unlock(&probe.mutex);
}

/* Without names a tape is whole, and says that it has none. */
static void
start_names(void) {
  void *no_hooks = probe.level.number == 2 ? td_program_find_in_torch(NO_CREATION_HOOKS) : NULL;
  const char *trouble = td_stacks_start((uint64_t(*)(void))td_program_find_in_torch(THREAD_ID),
                                        (bool (*)(void))no_hooks, td_probe_wanted.stacks);
  if (trouble && td_probe_wanted.stacks) fprintf(stderr, "tapedeck: no stacks: %s\n", trouble);
}

/* This thread may make a step without ever coming into the engine. */
static void
mark_cb(uint32_t marker) {
  if (td_recording() && !td_emit_ring) td_probe_name_caller();
  if (td_steps_mark(marker)) follow_steps();
}

/* The process may have joined its group after the recording began: then its process is told again.
 */
static void
note_rank_cb(int32_t rank) {
  if (rank == td_program_rank()) return;
  td_program_note_rank(rank);
  if (!td_recording()) return;
  if (!td_emit_ring) td_probe_name_caller();
  char *program = td_program_name();
  tell_process(program);
  free(program);
}

void
td_probe_find_rank(void) {
  if (!td_program_has_group_rank()) td_markers_find_rank();
}

static void
start_scripts(void) {
  static const td_hooks_listener listener = {td_probe_begin, td_probe_pass_begin,
                                             td_probe_pass_end};
  char *trouble = NULL;
  if (probe.level.number == 2)
    trouble = td_hooks_start((uint64_t(*)(void))td_program_find_in_torch(SEQUENCE_NR), &listener);
  if (trouble) stop_wanting(trouble);
  free(trouble);
  td_markers_start(probe.level.observer, mark_cb, note_rank_cb, td_probe_begin);
  if (td_probe_wanted.names || td_probe_wanted.stacks) start_names();
  if (probe.level.number == 1) td_callers_watch_gil();
}

/* The first thread that comes by does it. Not in td_probe_join: whoever attaches has others wait
 * for it in pthread_once, perhaps with the GIL. */
void
td_probe_start_scripts(void) {
  if (!probe.level.observer || !td_scripts_begin()) return;
  start_scripts();
  td_scripts_end();
}

static void
start_recorder(void) {
  td_error error = {0};
  char *path = td_orders_tape(), *program = td_program_name();
  td_recorder_options options = {
      .engine = "pytorch",
      .version = probe.level.observer->version,
      .source = program,
      .policy = td_orders_policy(),
      .ring_bytes = RING_BYTES,
      .keep = td_orders_keep(),
      .raw = probe.level.number == 2,
  };
  if (td_recorder_start(path, false, &options, &probe.recorder, &error)) {
    tell_failure("not recorded", &error);
  } else {
    TD_EMIT(probe_level, .level = (uint32_t)probe.level.number,
            .reason = td_intern(probe.level.reason));
    td_gil_tell();
    if (probe.level.number == 1) td_core_tell();
    td_deadly_watch(probe.recorder);
    td_deadly_arm_thread();
    introduce(program);
    td_numerics_begin();
    td_steps_tell_left_out();
    probe.level.observer->begin();
    td_stacks_tell();
    __atomic_store_n(&td_probe_session, td_emit_session(), __ATOMIC_RELEASE);
    td_orders_open_gate(probe.recorder, td_probe_flush);
    td_orders_report_tape(path, probe.level.number);
    td_orders_start_keeping(probe.recorder);
  }
  free(path);
  free(program);
}

static bool
begins_locked(void) {
  return probe.wanted && !probe.over && !td_shortage_came() && td_steps_wants_watching();
}

/* What the hub wants of this child of a fork. Hooks that a thread of the parent had not finished
 * are of no use. */
static bool
ask_for_child(void) {
  bool has_hooks = probe.level.number != 2 || !td_scripts_are_cut();
  if (!has_hooks)
    fprintf(stderr, "tapedeck: not recorded: the program forked while the hooks were starting\n");
  return has_hooks && td_orders_ask_again();
}

/* One thread asks. Others that begin wait for it, and forks do not. */
static void
ask_again(void) {
  pthread_mutex_lock(&asking);
  pthread_mutex_lock(&probe.mutex);
  bool asks = probe.forked && begins_locked();
  pthread_mutex_unlock(&probe.mutex);
  bool is_wanted = asks && ask_for_child();
  pthread_mutex_lock(&probe.mutex);
  if (asks) probe.forked = false;
  if (asks && !is_wanted) probe.wanted = false;
  pthread_mutex_unlock(&probe.mutex);
  pthread_mutex_unlock(&asking);
}

void
td_probe_begin(void) {
  if (td_probe_is_on() && !td_steps_are_chosen()) return;
  if (probe.forked) ask_again();
  pthread_mutex_lock(&probe.mutex);
  bool begins = begins_locked() && !probe.forked;
  if (begins) start_recorder();
  if (begins) probe.wanted = false;
  follow_locked();
  pthread_mutex_unlock(&probe.mutex);
}

td_pass_ticket
td_probe_pass_begin(void) {
  td_pass_ticket ticket = td_steps_pass_begin();
  if (ticket.is_first && td_steps_are_chosen() && !td_markers_expect_optimizer())
    td_steps_count_passes();
  if (ticket.recorded) td_probe_begin();
  return ticket;
}

void
td_probe_pass_end(td_pass_ticket ticket) {
  if (td_steps_pass_end(ticket) || ticket.recorded) follow_steps();
}

void
td_probe_step(void) {
  mark_cb(TD_MARKER_PROGRAM);
}

void
td_probe_leave_mark(const char *text) {
  TD_EMIT(mark, .text = td_intern(text));
}

/* The mutex keeps the recorder from ending meanwhile. */
void
td_probe_dump(void) {
  pthread_mutex_lock(&probe.mutex);
  if (probe.recorder) td_orders_ask_for_dump(probe.recorder);
  pthread_mutex_unlock(&probe.mutex);
}

void
td_probe_flush(void) {
  if (pthread_mutex_trylock(&probe.mutex) != 0) return;
  if (probe.recorder) td_recorder_flush(probe.recorder);
  pthread_mutex_unlock(&probe.mutex);
}

int
td_probe_keep(const char *limit) {
  if (!td_keep_limit_check(limit)) return -1;
  pthread_mutex_lock(&probe.mutex);
  td_orders_keep_from_now(limit);
  int failed = probe.recorder && !td_orders_start_keeping(probe.recorder);
  pthread_mutex_unlock(&probe.mutex);
  return -failed;
}

/* The child of a vfork that ends with _exit has this memory, but is not this process. */
void
td_probe_end(int status) {
  if (probe.pid != getpid()) return;
  if (!td_emit_ring) name_main_thread();
  pthread_mutex_lock(&asking);
  pthread_mutex_lock(&probe.mutex);
  td_recorder *recorder = probe.recorder;
  probe.recorder = NULL;
  probe.over = true;
  if (recorder) td_steps_tell_left_out();
  __atomic_store_n(&td_probe_watching, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&td_probe_session, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&probe.mutex);
  if (td_shortage_came()) note_problem("the memory of the program ran out");
  bool is_ours = recorder && td_deadly_begin_end();
  if (is_ours) {
    td_error error = {0};
    td_gate_close();
    if (td_recorder_stop(recorder, status, &error)) tell_failure("the tape is not whole", &error);
  }
  if (is_ours || !recorder) td_orders_report_over(status, probe.problem);
  pthread_mutex_unlock(&asking);
  if (is_ours) td_deadly_end();
}
