/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

/* Landlock's third version, which older headers do not know. */
#define HAS_TRUNCATE 3
#define ACCESS_FS_TRUNCATE (1ULL << 14)

/* What a reader may need, whatever the arguments. The C library, GLib and the compression library
 * are counted in, and so are threads, time, memory and an abort. */
static const int allowed[] = {
    /* descriptors that are open, and names of files */
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(preadv2),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(dup),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(fadvise64),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(pselect6),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(memfd_create), /* a tape that follows from a raw one: no file of anybody's */
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise), /* threads and signals of this process */
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(membarrier),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group), /* time */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(getrusage),
    /* who and where this process is */
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(getgroups),
    SCMP_SYS(getrlimit),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrandom),
};

/* What a process needs besides, if it fills files that are open. */
static const int filling[] = {SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(flock)};

static void
allow(scmp_filter_ctx filter, int call) {
  seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
}

/* Allows the call if the bits of this argument that the mask has are these. */
static void
allow_if(scmp_filter_ctx filter, int call, unsigned argument, scmp_datum_t mask,
         scmp_datum_t bits) {
  seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                   SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, bits));
}

/* These calls have a use that does harm too. O_TMPFILE makes a file, so its flag counts. The
 * second argument of ioctl and fcntl has 32 bits. */
static void
allow_partly(scmp_filter_ctx filter) {
  const scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  allow_if(filter, SCMP_SYS(open), 1, writing, O_RDONLY);
  allow_if(filter, SCMP_SYS(openat), 2, writing, O_RDONLY);
  allow_if(filter, SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD);
  allow_if(filter, SCMP_SYS(tgkill), 0, UINT32_MAX, (scmp_datum_t)getpid());
  allow_if(filter, SCMP_SYS(prctl), 0, UINT32_MAX, PR_SET_NAME);
  seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0_32(SCMP_CMP_EQ, 0),
                   SCMP_A2(SCMP_CMP_EQ, 0));
  const scmp_datum_t commands[] = {TCGETS, TIOCGWINSZ, FIONREAD};
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    allow_if(filter, SCMP_SYS(ioctl), 1, UINT32_MAX, commands[i]);
  const scmp_datum_t flags[] = {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC};
  for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
    allow_if(filter, SCMP_SYS(fcntl), 1, UINT32_MAX, flags[i]);
}

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* The kernel answers to any other call as an older kernel would. So the C library takes an older
 * call instead, whose arguments a filter can see: clone for clone3, openat for openat2. */
static void
confine(bool fills) {
  if (IS_SANITIZED) return;
  (void)td_confine_files(); /* the filter refuses the calls as well */
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
  if (!filter) return;
  for (size_t i = 0; i < G_N_ELEMENTS(allowed); i++)
    allow(filter, allowed[i]);
  for (size_t i = 0; fills && i < G_N_ELEMENTS(filling); i++)
    allow(filter, filling[i]);
  allow_partly(filter);
  seccomp_load(filter);
  seccomp_release(filter);
}

void
td_confine_to_reading(void) {
  confine(false);
}

void
td_confine_to_filling(void) {
  confine(true);
}

/* A descriptor that was open before keeps its rights. What is not named in the ruleset may go on:
 * reading. */
bool
td_confine_files(void) {
#ifdef LANDLOCK_CREATE_RULESET_VERSION
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  struct landlock_ruleset_attr refused = {
      .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                           LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                           LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                           LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                           LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                           LANDLOCK_ACCESS_FS_MAKE_SYM};
  if (version >= HAS_TRUNCATE) refused.handled_access_fs |= ACCESS_FS_TRUNCATE;
  int rules = (int)syscall(SYS_landlock_create_ruleset, &refused, sizeof refused, 0);
  bool done = rules >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  if (rules >= 0) close(rules);
  return done;
#else
  return false;
#endif
}
