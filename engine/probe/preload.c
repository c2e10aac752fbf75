/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The library that `tapedeck record` preloads: small, libc alone, and nothing but a jump in
 * programs that are not recorded. It defines some of PyTorch's functions in front of PyTorch: the
 * one that every node calls when it is made, the engine's entry, and what makes a group of ranks.
 * The first call of one loads libtapedeck-probe.so from the same folder and lets it attach; from
 * then on all jump to the originals. It also defines _exit, which ends the children of Python's
 * multiprocessing, execve, with which a program becomes another, and kill, killpg, pthread_kill and
 * raise, with which it may end itself.
 *
 * PyTorch is loaded with RTLD_LOCAL, so the originals are looked up in its library, not with
 * RTLD_NEXT. */
#include "engine/trace/keep_limit.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define PROBE "libtapedeck-probe.so"
#define SESSION_VARIABLE "TAPEDECK_SESSION"

#define SEQUENCE_NR "_ZN2at15sequence_number17get_and_incrementEv"
#define EXECUTE                                                                                    \
  "_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_"       \
  "EEbbbS7_"

/* Constructors of all process groups: the first before 2.0, the second since then. */
#define OLD_GROUP "_ZN4c10d12ProcessGroupC2Eii"
#define NEW_GROUP "_ZN4c10d7BackendC2Eii"

/* Where the functions jump to. Stored with release after the probe has attached. */
void *td_preload_sequence_nr __attribute__((visibility("hidden")));
void *td_preload_execute __attribute__((visibility("hidden")));
void *td_preload_old_group __attribute__((visibility("hidden")));
void *td_preload_new_group __attribute__((visibility("hidden")));
void td_preload_first_call(void) __attribute__((visibility("hidden")));

/* Tail jumps that touch no argument: registers, stack and the place of the result stay as they
 * are. Before the first call is over, they are saved around td_preload_first_call. */
#if defined(__x86_64__)
#define FORWARD(name, target)                                                                      \
  __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                         \
          "  endbr64\n  mov " target "(%rip), %rax\n  test %rax, %rax\n  je 1f\n  jmp *%rax\n"     \
          "1:\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n"       \
          "  sub $8, %rsp\n  call td_preload_first_call\n  add $8, %rsp\n"                         \
          "  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n"                 \
          "  mov " target "(%rip), %rax\n  jmp *%rax\n.size " name ", . - " name "\n")
#elif defined(__aarch64__)
#define FORWARD(name, target)                                                                      \
  __asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n"                         \
          "  adrp x16, " target "\n  ldr x16, [x16, :lo12:" target "]\n  cbz x16, 1f\n  br x16\n"  \
          "1:\n  stp x29, x30, [sp, #-96]!\n  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n"    \
          "  stp x4, x5, [sp, #48]\n  stp x6, x7, [sp, #64]\n  str x8, [sp, #80]\n"                \
          "  bl td_preload_first_call\n"                                                           \
          "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n  ldp x4, x5, [sp, #48]\n"            \
          "  ldp x6, x7, [sp, #64]\n  ldr x8, [sp, #80]\n  ldp x29, x30, [sp], #96\n"              \
          "  adrp x16, " target "\n  ldr x16, [x16, :lo12:" target "]\n  br x16\n"                 \
          ".size " name ", . - " name "\n")
#endif

FORWARD(SEQUENCE_NR, "td_preload_sequence_nr");
FORWARD(EXECUTE, "td_preload_execute");
FORWARD(OLD_GROUP, "td_preload_old_group");
FORWARD(NEW_GROUP, "td_preload_new_group");

static void (*end_probe)(int status);
static void (*die)(int number), (*brace)(int number);
static void (*start_scripts)(void);
static void (*step)(void);
static void (*leave_mark)(const char *text);
static void (*dump)(void);
static int (*keep)(const char *);
static char kept[TD_KEEP_WORDS_MAX]; /* (guarded by loading) what tapedeck_keep wants, or empty */
static void *execute_itself, *old_group_itself, *new_group_itself;
static void *(*hook_sequence_nr)(void *original);

static int
find_torch_cb(struct dl_phdr_info *info, size_t size, void *data) {
  const char **path = data;
  (void)size;
  if (!info->dlpi_name || !strstr(info->dlpi_name, "/libtorch_cpu.so")) return 0;
  *path = info->dlpi_name;
  return 1;
}

static void *
find_original(void *torch, const char *name) {
  void *original = torch ? dlsym(torch, name) : NULL;
  if (original) return original;
  fprintf(stderr, "tapedeck: PyTorch calls %s, but libtorch_cpu.so does not have it\n", name);
  abort();
}

/* Only without memory can a library not be opened that is there. Another thread may free some. */
static void *
open_torch(const char *path) {
  void *torch = NULL;
  for (int i = 0; path && !torch && i < 100; i++) {
    if (i > 0) usleep(10000);
    torch = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
  }
  return torch;
}

/* What the probe has forks do, as td_probe_forks of probe.h. */
typedef struct fork_handlers {
  void (*before)(void), (*after)(void), (*after_in_child)(void);
} fork_handlers;

/* Held while libraries are opened. A fork waits for it: the child would inherit a list of libraries
 * that is half changed. Even PyTorch's library, which is there, gets a list of its own. The probe's
 * handlers are called from here: if the probe installed them itself, a fork that has begun would
 * miss them. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static const fork_handlers *handlers; /* (guarded by loading) NULL: no probe yet */

static void
before_fork_cb(void) {
  pthread_mutex_lock(&loading);
  if (handlers) handlers->before();
}

static void
after_fork_cb(void) {
  if (handlers) handlers->after();
  pthread_mutex_unlock(&loading);
}

static void
forked_cb(void) {
  if (handlers) handlers->after_in_child();
  pthread_mutex_unlock(&loading);
}

typedef void (*join_function)(void);

/* The probe lies beside this library. Without it, or when it cannot attach, the program runs on
 * unrecorded; the probe itself has said why. */
static join_function
load_probe(void) {
  Dl_info here;
  char path[4096];
  if (!getenv(SESSION_VARIABLE) || !dladdr((void *)load_probe, &here)) return NULL;
  const char *slash = strrchr(here.dli_fname, '/');
  int folder = slash ? (int)(slash + 1 - here.dli_fname) : 0;
  snprintf(path, sizeof path, "%.*s%s", folder, here.dli_fname, PROBE);
  void *probe = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!probe) {
    fprintf(stderr, "tapedeck: %s\n", dlerror());
    return NULL;
  }
  handlers = dlsym(probe, "td_probe_fork");
  start_scripts = (void (*)(void))dlsym(probe, "td_probe_start_scripts");
  hook_sequence_nr = (void *(*)(void *))dlsym(probe, "td_stacks_hook");
  end_probe = (void (*)(int))dlsym(probe, "td_probe_end");
  die = (void (*)(int))dlsym(probe, "td_probe_die");
  brace = (void (*)(int))dlsym(probe, "td_probe_brace");
  step = (void (*)(void))dlsym(probe, "td_probe_step");
  leave_mark = (void (*)(const char *))dlsym(probe, "td_probe_leave_mark");
  dump = (void (*)(void))dlsym(probe, "td_probe_dump");
  keep = (int (*)(const char *))dlsym(probe, "td_probe_keep");
  return (join_function)dlsym(probe, "td_probe_join");
}

/* For programs, which find them by name: tapedeck.step(), mark(), dump() and keep(). */
EXPORTED void
tapedeck_step(void) {
  if (step) step();
}

EXPORTED void
tapedeck_mark(const char *text) {
  if (leave_mark) leave_mark(text);
}

EXPORTED void
tapedeck_dump(void) {
  if (dump) dump();
}

/* Returns 0, or -1 after it said what is wrong. The probe may not be there yet. */
EXPORTED int
tapedeck_keep(const char *limit) {
  if (!td_keep_limit_check(limit)) return -1;
  pthread_mutex_lock(&loading);
  snprintf(kept, sizeof kept, "%s", limit);
  int (*now)(const char *) = keep;
  pthread_mutex_unlock(&loading);
  return now ? now(limit) : 0;
}

static void
join_once_cb(void) {
  const char *path = NULL;
  pthread_mutex_lock(&loading);
  dl_iterate_phdr(find_torch_cb, &path);
  void *torch = open_torch(path);
  void *sequence_nr = find_original(torch, SEQUENCE_NR);
  execute_itself = find_original(torch, EXECUTE);
  old_group_itself = dlsym(torch, OLD_GROUP); /* or NULL: then nobody calls it */
  new_group_itself = dlsym(torch, NEW_GROUP);
  join_function attach = load_probe();
  if (keep && *kept) keep(kept);
  pthread_mutex_unlock(&loading);
  if (attach) attach();
  if (hook_sequence_nr) sequence_nr = hook_sequence_nr(sequence_nr);
  __atomic_store_n(&td_preload_sequence_nr, sequence_nr, __ATOMIC_RELEASE);
}

/* Nodes are made while the scripts start, by the scripts too; passes wait for it. */
void
td_preload_first_call(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, join_once_cb);
  if (start_scripts) start_scripts();
  __atomic_store_n(&td_preload_execute, execute_itself, __ATOMIC_RELEASE);
  __atomic_store_n(&td_preload_old_group, old_group_itself, __ATOMIC_RELEASE);
  __atomic_store_n(&td_preload_new_group, new_group_itself, __ATOMIC_RELEASE);
}

static pid_t own_pid;
static int (*pthread_kill_itself)(pthread_t thread, int number);

static void
find_pthread_kill(void) {
  pthread_kill_itself = (int (*)(pthread_t, int))dlsym(RTLD_NEXT, "pthread_kill");
}

__attribute__((constructor)) static void
begin_cb(void) {
  own_pid = getpid();
  find_pthread_kill();
  pthread_atfork(before_fork_cb, after_fork_cb, forked_cb);
}

/* A process that ends may have loaded PyTorch and never have called either function. The hub must
 * know, or it would say that there was no PyTorch. The child of a fork leaves that to its parent.
 */
static void
tell_loaded(void) {
  static const char line[] = "loaded\n";
  const char *hub = getenv(SESSION_VARIABLE), *torch = NULL;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int before = errno;
  if (!hub || end_probe || getpid() != own_pid || strlen(hub) >= sizeof address.sun_path) return;
  dl_iterate_phdr(find_torch_cb, &torch);
  int hub_socket = torch ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
  memcpy(address.sun_path, hub, strlen(hub));
  if (hub_socket >= 0 && connect(hub_socket, (const void *)&address, sizeof address) == 0)
    send(hub_socket, line, sizeof line - 1, MSG_NOSIGNAL);
  if (hub_socket >= 0) close(hub_socket);
  errno = before;
}

__attribute__((destructor)) static void
end_cb(void) {
  tell_loaded();
}

/* What ends without the handlers of exit() ends its tape here. */
EXPORTED void
_exit(int status) {
  if (end_probe) end_probe(status);
  tell_loaded();
  for (;;)
    syscall(SYS_exit_group, status);
}

EXPORTED void _Exit(int status) __attribute__((alias("_exit")));

/* A program that becomes another ends its tape, if it can: where the file is not there, it is
 * likely to look elsewhere and to go on. The child of a vfork comes by here too; td_probe_end knows
 * its process. */
EXPORTED int
execve(const char *path, char *const argv[], char *const environment[]) {
  int before = errno;
  if (end_probe && access(path, X_OK) == 0) end_probe(0);
  tell_loaded();
  errno = before;
  return (int)syscall(SYS_execve, path, argv, environment);
}

EXPORTED int
execv(const char *path, char *const argv[]) {
  return execve(path, argv, environ);
}

/* A program that is about to end by a signal has often put back the default before. */
static void
expect_signal(int number) {
  int before = errno;
  if (number == SIGKILL && die) die(number);
  if (number != SIGKILL && brace) brace(number);
  errno = before;
}

/* Python ends so after Ctrl+C. 0 and negative numbers stand for groups of processes. */
EXPORTED int
kill(pid_t pid, int number) {
  if (pid == getpid() || pid == 0 || pid == -getpgrp()) expect_signal(number);
  return (int)syscall(SYS_kill, pid, number);
}

EXPORTED int
killpg(pid_t group, int number) {
  if (group >= 0) return kill(-group, number);
  errno = EINVAL;
  return -1;
}

EXPORTED int
pthread_kill(pthread_t thread, int number) {
  if (!pthread_kill_itself) find_pthread_kill(); /* another library's constructor calls */
  expect_signal(number);
  return pthread_kill_itself(thread, number);
}

EXPORTED int
raise(int number) {
  expect_signal(number);
  return (int)syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
}
