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
#include "engine/control/gate.h"
#include "engine/probe/deadly.h"
#include "engine/probe/hooks.h"
#include "engine/probe/markers.h"
#include "engine/probe/numerics.h"
#include "engine/probe/probe.h"
#include "engine/probe/program.h"
#include "engine/probe/python.h"
#include "engine/probe/stacks.h"
#include "engine/probe/steps.h"
#include "engine/trace/recorder.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t td_probe_session, td_probe_watching;
td_probe_options td_probe_wanted;

/* Quick to make for a new thread, and room for what a pass of ten thousand nodes says. */
#define RING_BYTES (4 << 20)

/* The tests' way without a hub: what its answer would say. The observer may be "hooks". */
#define OBSERVER_VARIABLE "TAPEDECK_OBSERVER"
#define TAPE_VARIABLE "TAPEDECK_TAPE"
#define ANOMALY_VARIABLE "TAPEDECK_ANOMALY"
#define STATS_VARIABLE "TAPEDECK_STATS"
#define STACKS_VARIABLE "TAPEDECK_STACKS"

/* If it is 0, modules and parameters get no names: `bench` measures what the names cost. */
#define NAMES_VARIABLE "TAPEDECK_NAMES"

#define THREAD_ID "_ZN2at14RecordFunction15currentThreadIdEv"
#define SEQUENCE_NR "_ZN2at15sequence_number4peekEv"
#define NO_CREATION_HOOKS "_ZN2at4impl17NodeCreationHooks5emptyEv"

static struct {
  pthread_mutex_t mutex;       /* guards all below */
  const td_observer *observer; /* loaded and attached, or NULL */
  td_link *link;               /* (owned) or NULL: no hub, or it is gone */
  td_line answer;              /* the hub's `record` */
  char *tape;                  /* (owned) path, %p for the pid */
  char *reason;                /* (owned) why this level */
  int level;
  td_recorder *recorder; /* (owned) while recording */
  pid_t pid;             /* of the process that all this is about */
  bool wanted;           /* begin a tape at the next graph task */
  bool watches;          /* the observer does not pause */
  bool forked;           /* this is a child: its parent's hub and tape are not its own */
  bool over;
} probe = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void
complain(const char *what, const td_error *error) {
  fprintf(stderr, "tapedeck: %s: %s\n", what, td_error_text(error));
}

static int
find_torch_cb(struct dl_phdr_info *info, size_t size, void *data) {
  if (!info->dlpi_name || !strstr(info->dlpi_name, "/libtorch_cpu.so")) return 0;
  *(const char **)data = info->dlpi_name;
  return 1;
}

static void
say_hello(td_line_text *hello, const char *program) {
  const char *torch = NULL;
  dl_iterate_phdr(find_torch_cb, &torch);
  td_line_begin(hello, "hello");
  td_line_add_number(hello, "pid", getpid());
  td_line_add(hello, "program", program);
  td_line_add(hello, "torch", torch);
  td_line_add(hello, "rank", getenv("RANK"));
}

/* Asks the hub what is wanted. False where nothing is. */
static bool
ask_hub(const char *path) {
  td_line_text hello;
  td_error error = {0};
  char *program = td_program_name();
  say_hello(&hello, program);
  td_status status = td_link_open(path, &hello, &probe.answer, &probe.link, &error);
  td_line_text_fini(&hello);
  free(program);
  if (status) {
    complain("not recorded", &error);
    td_error_clear(&error);
    return false;
  }
  return td_line_is(&probe.answer, "record");
}

static void
read_steps(void) {
  const char *until = td_line_find(&probe.answer, "until");
  td_steps_options options = {.to = UINT32_MAX,
                              .every = 1,
                              .until_nan = until && strcmp(until, "nan") == 0,
                              .words = td_line_find(&probe.answer, "steps")};
  td_line_find_u32(&probe.answer, "from", &options.from);
  td_line_find_u32(&probe.answer, "to", &options.to);
  td_line_find_u32(&probe.answer, "every", &options.every);
  td_steps_configure(&options);
}

static void
read_answer(void) {
  const char *tape = td_line_find(&probe.answer, "tape");
  td_probe_wanted.stacks = td_line_flag(&probe.answer, "stacks");
  td_numerics_configure(td_line_find(&probe.answer, "anomaly"),
                        td_line_find(&probe.answer, "stats"));
  free(probe.tape);
  probe.tape = tape ? td_dup_string(tape) : NULL;
  read_steps();
}

/* A function of PyTorch's by its mangled name, or NULL. */
static void *
find_in_torch(const char *name) {
  const char *path = NULL;
  dl_iterate_phdr(find_torch_cb, &path);
  void *torch = path ? dlopen(path, RTLD_NOLOAD | RTLD_LAZY) : NULL;
  return torch ? dlsym(torch, name) : NULL;
}

static void
choose_level(int level, const char *reason) {
  probe.level = level;
  free(probe.reason);
  probe.reason = td_dup_string(reason ? reason : "the engine itself is observed");
}

/* Level 2: Python is asked once the thread holds nothing, see td_probe_start_scripts. */
static void
use_hooks(const char *reason) {
  choose_level(2, reason ? reason : "asked for");
  probe.observer = td_hooks_observer();
}

static void
load_observer(const char *path) {
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
  const td_observer *(*get)(void) =
      library ? (const td_observer *(*)(void))dlsym(library, "td_observer_get") : NULL;
  if (!get) {
    fprintf(stderr, "tapedeck: not recorded: %s\n", path ? dlerror() : "no observer was named");
    return;
  }
  probe.observer = get();
  choose_level(1, NULL);
  if (probe.observer->attach()) return;
  fprintf(stderr, "tapedeck: not recorded: nothing of PyTorch's engine was found to watch\n");
  probe.observer = NULL;
}

static void
on_exit_cb(int status, void *data) {
  td_probe_end(status);
}

/* -1 where torchrun did not give the process a rank. */
static int32_t
own_rank(void) {
  char *end;
  const char *text = getenv("RANK");
  long rank = text && *text ? strtol(text, &end, 10) : -1;
  return rank >= 0 && rank < INT32_MAX && !*end ? (int32_t)rank : -1;
}

/* What a joined tape and its readers call this process and this thread. */
static void
introduce(const char *program) {
  char name[16] = "";
  const char *base = strrchr(program, '/');
  TD_EMIT(process_new, .process = 0, .pid = (uint32_t)getpid(), .rank = own_rank(),
          .name = td_intern(base ? base + 1 : program));
  pthread_getname_np(pthread_self(), name, sizeof name);
  td_emit_device(TD_DEVICE_CPU, "cpu");
  td_emit_name_thread(gettid() == getpid() ? "main" : name, TD_DEVICE_CPU);
}

/* The child keeps the observer; everything else is its parent's. */
static void
forked_cb(void) {
  pthread_mutex_init(&probe.mutex, NULL);
  probe.pid = getpid();
  td_probe_session = td_probe_watching = 0;
  td_steps_forget();
  td_deadly_forget();
  if (probe.recorder) td_recorder_abandon(probe.recorder);
  if (probe.link) td_link_abandon(probe.link);
  probe.recorder = NULL;
  probe.link = NULL;
  probe.forked = probe.wanted = probe.observer != NULL;
}

/* Another thread may fork while this one waits for the hub: the child attaches for itself. */
static void
watch_forks(void) {
  static bool is_watching;
  if (!is_watching) pthread_atfork(NULL, NULL, forked_cb);
  is_watching = true;
}

/* Has the observer pause or go on, as the steps want it. */
static void
follow_locked(void) {
  bool watches = td_steps_wants_watching();
  if (!probe.observer) return;
  if (probe.recorder && td_steps_wants_this()) td_steps_tell_left_out();
  if (watches && !probe.watches && probe.observer->resume) probe.observer->resume();
  uint32_t session = watches && probe.recorder ? td_probe_session : 0;
  __atomic_store_n(&td_probe_watching, session, __ATOMIC_RELEASE);
  if (!watches && probe.watches && probe.observer->pause) probe.observer->pause();
  probe.watches = watches;
}

static void
follow_steps(void) {
  if (!td_steps_are_chosen()) return;
  pthread_mutex_lock(&probe.mutex);
  follow_locked();
  pthread_mutex_unlock(&probe.mutex);
}

void
td_probe_attach(void) {
  watch_forks();
  pthread_mutex_lock(&probe.mutex);
  const char *observer = getenv(OBSERVER_VARIABLE), *tape = getenv(TAPE_VARIABLE);
  const char *names = getenv(NAMES_VARIABLE);
  probe.pid = getpid();
  td_probe_wanted.names = !names || strcmp(names, "0") != 0;
  if (observer && tape) {
    probe.tape = td_dup_string(tape);
    td_numerics_configure(getenv(ANOMALY_VARIABLE), getenv(STATS_VARIABLE));
    td_probe_wanted.stacks = getenv(STACKS_VARIABLE) != NULL;
    strcmp(observer, "hooks") == 0 ? use_hooks(NULL) : load_observer(observer);
  } else if (ask_hub(getenv(TD_LINK_VARIABLE))) {
    const char *level = td_line_find(&probe.answer, "level");
    read_answer();
    level &&strcmp(level, "2") == 0 ? use_hooks(td_line_find(&probe.answer, "reason"))
                                    : load_observer(td_line_find(&probe.answer, "observer"));
  }
  probe.wanted = probe.watches = probe.observer != NULL;
  if (probe.wanted) {
    follow_locked();
    on_exit(on_exit_cb, NULL);
  }
  pthread_mutex_unlock(&probe.mutex);
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
  void *no_hooks = probe.level == 2 ? find_in_torch(NO_CREATION_HOOKS) : NULL;
  const char *trouble = td_stacks_start((uint64_t(*)(void))find_in_torch(THREAD_ID),
                                        (bool (*)(void))no_hooks, td_probe_wanted.stacks);
  if (trouble && td_probe_wanted.stacks) fprintf(stderr, "tapedeck: no stacks: %s\n", trouble);
}

static void
mark_cb(uint32_t marker) {
  if (td_steps_mark(marker)) follow_steps();
}

static void
start_scripts(void) {
  char *trouble = NULL;
  if (probe.level == 2) trouble = td_hooks_start((uint64_t(*)(void))find_in_torch(SEQUENCE_NR));
  if (trouble) stop_wanting(trouble);
  free(trouble);
  td_markers_start(mark_cb);
  if (td_probe_wanted.names || td_probe_wanted.stacks) start_names();
}

/* The first thread that comes by does it. Not in td_probe_attach: whoever attaches has others wait
 * for it in pthread_once, perhaps with the GIL. */
void
td_probe_start_scripts(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  static enum { NOT_YET, UNDER_WAY, DONE } state;
  if (!probe.observer) return;
  pthread_mutex_lock(&mutex);
  bool is_first = state == NOT_YET;
  if (is_first) state = UNDER_WAY;
  while (!is_first && state == UNDER_WAY && !td_python_is_held())
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  if (!is_first) return;
  start_scripts();
  pthread_mutex_lock(&mutex);
  state = DONE;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static char *
tape_path(void) {
  const char *place = strstr(probe.tape, "%p");
  if (!place) return td_dup_string(probe.tape);
  return td_format("%.*s%d%s", (int)(place - probe.tape), probe.tape, (int)getpid(), place + 2);
}

static void
report_tape(const char *path) {
  td_line_text message;
  if (!probe.link) return;
  td_line_begin(&message, "tape");
  td_line_add(&message, "path", path);
  td_line_add_number(&message, "level", probe.level);
  td_link_report(probe.link, &message);
  td_line_text_fini(&message);
}

static void
flush_cb(void *recorder) {
  td_recorder_flush(recorder);
}

static void
open_gate(void) {
  td_error error = {0};
  if (!probe.link) return;
  if (td_gate_open(probe.link, &probe.answer, flush_cb, probe.recorder, &error))
    complain("not live", &error);
  td_error_clear(&error);
}

static void
start_recorder(void) {
  td_error error = {0};
  const char *policy = td_line_find(&probe.answer, "policy");
  char *path = tape_path(), *program = td_program_name();
  td_recorder_options options = {
      .engine = "pytorch",
      .version = probe.observer->version,
      .source = program,
      .policy = policy && strcmp(policy, "drop") == 0 ? TD_RING_DROP : TD_RING_BLOCK,
      .ring_bytes = RING_BYTES,
  };
  if (td_recorder_start(path, true, &options, &probe.recorder, &error)) {
    complain("not recorded", &error);
    td_error_clear(&error);
  } else {
    TD_EMIT(probe_level, .level = (uint32_t)probe.level, .reason = td_intern(probe.reason));
    td_deadly_watch(probe.recorder);
    introduce(program);
    td_numerics_forget();
    td_steps_tell_left_out();
    probe.observer->begin();
    td_stacks_tell();
    __atomic_store_n(&td_probe_session, td_emit_session(), __ATOMIC_RELEASE);
    report_tape(path);
    open_gate();
  }
  free(path);
  free(program);
}

/* A child of a fork has its parent's observer, and asks the hub for a tape of its own. */
static bool
ask_again(void) {
  const char *hub = getenv(TD_LINK_VARIABLE);
  probe.forked = false;
  if (getenv(OBSERVER_VARIABLE) || !hub) return true;
  td_line_fini(&probe.answer);
  if (!ask_hub(hub)) return false;
  read_answer();
  return true;
}

void
td_probe_begin(void) {
  if (td_probe_is_on() && !td_steps_are_chosen()) return;
  pthread_mutex_lock(&probe.mutex);
  bool begins = probe.wanted && !probe.over && td_steps_wants_watching();
  if (begins && (!probe.forked || ask_again())) start_recorder();
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

static void
report_over(int status, bool whole) {
  td_line_text message;
  uint32_t n_steps, n_passes;
  bool nan_came;
  td_line_begin(&message, "over");
  td_line_add_number(&message, "status", status);
  td_line_add(&message, "whole", whole ? "1" : "0");
  td_steps_counts(&n_steps, &n_passes, &nan_came);
  td_line_add_number(&message, "steps", n_steps);
  td_line_add_number(&message, "passes", n_passes);
  td_line_add(&message, "nan", nan_came ? "1" : "0");
  td_link_report(probe.link, &message);
  td_line_text_fini(&message);
}

/* The child of a vfork that ends with _exit has this memory, but is not this process. */
void
td_probe_end(int status) {
  if (probe.pid != getpid()) return;
  bool whole = true;
  pthread_mutex_lock(&probe.mutex);
  td_recorder *recorder = probe.recorder;
  probe.recorder = NULL;
  probe.over = true;
  if (recorder) td_steps_tell_left_out();
  __atomic_store_n(&td_probe_watching, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&td_probe_session, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&probe.mutex);
  if (recorder) {
    td_error error = {0};
    td_gate_close();
    td_deadly_forget();
    whole = td_recorder_stop(recorder, status, &error) == TD_OK;
    if (!whole) complain("the tape is not whole", &error);
    td_error_clear(&error);
  }
  if (!probe.link) return;
  report_over(status, whole);
  td_link_close(probe.link);
  probe.link = NULL;
}
