/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/deadly.h"

#include "engine/base/alloc.h"
#include "engine/probe/probe.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 2000
#define STATUS_OF_SIGNAL 128
#define STACK_BYTES (64u << 10)

/* Not SIGPROF: a profiler does not start if somebody handles it. Not SIGTRAP: it is a debugger's.
 * Not SIGXFSZ: the recorder itself may be the one whose file is too large. */
static const int deadly[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGSYS,  SIGABRT, SIGINT, SIGTERM,
                             SIGHUP,  SIGQUIT, SIGALRM, SIGPIPE, SIGXCPU, SIGUSR1, SIGUSR2};

static _Atomic(td_recorder *) watched;
static pid_t watching; /* the process of that recorder */

/* One thread ends the tape: the first that comes from a signal or from the program's end. A signal
 * that comes later must not end the process before. */
static _Atomic pid_t ending; /* that thread, or 0 */
static _Atomic bool ended;
static _Atomic int pending; /* a signal that interrupted that thread, or 0 */

static bool
claim(void) {
  pid_t nobody = 0;
  return atomic_compare_exchange_strong(&ending, &nobody, gettid());
}

static void
wait_for_end(void) {
  const struct timespec one_ms = {.tv_nsec = 1000000};
  for (unsigned i = 0; i < PATIENCE_MS && !atomic_load(&ended); i++)
    nanosleep(&one_ms, NULL);
}

/* A fork without handlers (_Fork, clone, vfork) leaves a child that has its parent's memory, but
 * not its parent's tape. */
void
td_probe_die(int number) {
  td_recorder *recorder = atomic_load_explicit(&watched, memory_order_acquire);
  if (watching != getpid() || !recorder) return;
  if (claim()) {
    td_recorder_finish_dying(recorder, STATUS_OF_SIGNAL + number, PATIENCE_MS);
    atomic_store(&ended, true);
  } else if (atomic_load(&ending) != gettid()) {
    wait_for_end();
  }
}

/* A fault comes again on return, with the program as it was. Everything else has to be raised: by
 * the thread that ends the tape once it has done so, if the signal has interrupted that thread. */
static void
deadly_cb(int number, siginfo_t *info, void *context) {
  bool comes_again = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS ||
                                           number == SIGFPE || number == SIGILL);
  bool interrupts = watching == getpid() && atomic_load(&ending) == gettid();
  if (interrupts && !comes_again && !atomic_load(&ended)) {
    atomic_store(&pending, number);
    return;
  }
  if (!interrupts) td_probe_die(number);
  signal(number, SIG_DFL);
  if (!comes_again) raise(number);
}

static void
give_back_cb(void *stack) {
  sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
  munmap(stack, STACK_BYTES);
}

static pthread_key_t stack_key;

static void
make_key_cb(void) {
  pthread_key_create(&stack_key, give_back_cb);
}

void
td_deadly_arm_thread(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  stack_t now;
  pthread_once(&once, make_key_cb);
  if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
  void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return;
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK_BYTES}, NULL);
  pthread_setspecific(stack_key, stack);
}

static void
handle(int number) {
  struct sigaction before;
  struct sigaction own = {.sa_sigaction = deadly_cb,
                          .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_ONSTACK};
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
    sigaction(number, &own, NULL);
}

void
td_deadly_watch(td_recorder *recorder) {
  watching = getpid();
  td_deadly_forget();
  atomic_store_explicit(&watched, recorder, memory_order_release);
  for (size_t i = 0; i < TD_N_ELEMENTS(deadly); i++)
    handle(deadly[i]);
}

void
td_probe_brace(int number) {
  bool is_over = atomic_load(&ended) || !atomic_load_explicit(&watched, memory_order_acquire);
  if (watching != getpid() || is_over) return;
  for (size_t i = 0; i < TD_N_ELEMENTS(deadly); i++)
    if (deadly[i] == number) handle(number);
}

bool
td_deadly_begin_end(void) {
  if (claim()) return true;
  wait_for_end();
  return false;
}

void
td_deadly_end(void) {
  atomic_store_explicit(&watched, NULL, memory_order_release);
  atomic_store(&ended, true);
  int number = atomic_load(&pending);
  if (!number) return;
  signal(number, SIG_DFL);
  raise(number);
}

void
td_deadly_forget(void) {
  atomic_store_explicit(&watched, NULL, memory_order_release);
  atomic_store(&ending, 0);
  atomic_store(&ended, false);
  atomic_store(&pending, 0);
}
