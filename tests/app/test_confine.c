/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a command that only reads tapes can still do, and what it cannot. */
#include "app/commands/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder; /* of the test */

/* The calls that a confined process has no right to. */
static const struct {
  const char *name;
  int number;
} refused[] = {
#define CALL(name)                                                                                 \
  { #name, SCMP_SYS(name) }
    CALL(execve),
    CALL(execveat),
    CALL(fork),
    CALL(vfork),
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(process_madvise),
    CALL(kcmp),
    CALL(pidfd_open),
    CALL(pidfd_getfd),
    CALL(pidfd_send_signal),
    CALL(kill),
    CALL(tkill),
    CALL(rt_sigqueueinfo),
    CALL(rt_tgsigqueueinfo),
    CALL(setrlimit),
    CALL(setpriority),
    CALL(ioprio_set),
    CALL(sched_setaffinity),
    CALL(sched_setattr),
    CALL(sched_setparam),
    CALL(sched_setscheduler),
    CALL(migrate_pages),
    CALL(move_pages),
    CALL(setpgid),
    CALL(setsid),
    CALL(setns),
    CALL(unshare),
    CALL(socket),
    CALL(socketpair),
    CALL(connect),
    CALL(bind),
    CALL(listen),
    CALL(accept),
    CALL(accept4),
    CALL(sendto),
    CALL(sendmsg),
    CALL(sendmmsg),
    CALL(shmget),
    CALL(shmat),
    CALL(shmdt),
    CALL(shmctl),
    CALL(msgget),
    CALL(msgsnd),
    CALL(msgrcv),
    CALL(msgctl),
    CALL(semget),
    CALL(semop),
    CALL(semtimedop),
    CALL(semctl),
    CALL(mq_open),
    CALL(mq_unlink),
    CALL(mq_timedsend),
    CALL(mq_timedreceive),
    CALL(mq_notify),
    CALL(mq_getsetattr),
    CALL(add_key),
    CALL(request_key),
    CALL(keyctl),
    CALL(inotify_init),
    CALL(inotify_init1),
    CALL(fanotify_init),
    CALL(fanotify_mark),
    CALL(creat),
    CALL(truncate),
    CALL(ftruncate),
    CALL(fallocate),
    CALL(unlink),
    CALL(unlinkat),
    CALL(rename),
    CALL(renameat),
    CALL(renameat2),
    CALL(link),
    CALL(linkat),
    CALL(symlink),
    CALL(symlinkat),
    CALL(mkdir),
    CALL(mkdirat),
    CALL(rmdir),
    CALL(mknod),
    CALL(mknodat),
    CALL(chmod),
    CALL(fchmod),
    CALL(fchmodat),
    CALL(chown),
    CALL(lchown),
    CALL(fchown),
    CALL(fchownat),
    CALL(utime),
    CALL(utimes),
    CALL(futimesat),
    CALL(utimensat),
    CALL(setxattr),
    CALL(lsetxattr),
    CALL(fsetxattr),
    CALL(removexattr),
    CALL(lremovexattr),
    CALL(fremovexattr),
    CALL(name_to_handle_at),
    CALL(open_by_handle_at),
    CALL(io_setup),
    CALL(io_submit),
    CALL(setuid),
    CALL(setgid),
    CALL(setreuid),
    CALL(setregid),
    CALL(setresuid),
    CALL(setresgid),
    CALL(setfsuid),
    CALL(setfsgid),
    CALL(setgroups),
    CALL(capset),
    CALL(personality),
    CALL(mount),
    CALL(umount2),
    CALL(open_tree),
    CALL(move_mount),
    CALL(fsopen),
    CALL(fsconfig),
    CALL(fsmount),
    CALL(fspick),
    CALL(mount_setattr),
    CALL(chroot),
    CALL(pivot_root),
    CALL(swapon),
    CALL(swapoff),
    CALL(quotactl),
    CALL(quotactl_fd),
    CALL(acct),
    CALL(sethostname),
    CALL(setdomainname),
    CALL(settimeofday),
    CALL(clock_settime),
    CALL(adjtimex),
    CALL(clock_adjtime),
    CALL(init_module),
    CALL(finit_module),
    CALL(delete_module),
    CALL(kexec_load),
    CALL(kexec_file_load),
    CALL(reboot),
    CALL(syslog),
    CALL(iopl),
    CALL(ioperm),
    CALL(vhangup),
    CALL(nfsservctl),
    CALL(lookup_dcookie),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(userfaultfd),
    CALL(clone3),
    CALL(openat2),
    CALL(io_uring_setup),
#undef CALL
    {"process_mrelease", 448}};

static gpointer
count(gpointer data) {
  ++*(int *)data;
  return NULL;
}

/* Calls that this kernel or the next one may have, and libseccomp does not know. */
#define FIRST_NEW_CALL 450
#define LAST_NEW_CALL 1023

/* No call that the filter forgets may run: it might change this machine. So a filter of our own
 * comes first, which refuses with an unlikely number. Where two filters refuse, the later one's
 * number counts. */
static bool
disarm_calls(void) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  bool done = filter;
  for (size_t i = 0; done && i < G_N_ELEMENTS(refused); i++)
    done = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTBLK), refused[i].number, 0) == 0;
  for (int call = FIRST_NEW_CALL; done && call <= LAST_NEW_CALL; call++)
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTBLK), call, 0);
  done = done && seccomp_load(filter) == 0;
  if (filter) seccomp_release(filter);
  return done;
}

static bool
is_call_refused(const char *name, int number) {
  errno = 0;
  if (syscall(number, -1, -1, -1, -1, -1, -1) == -1 && errno == ENOSYS) return true;
  g_printerr("%s %d is not refused: %s\n", name, number, g_strerror(errno));
  return false;
}

static bool
is_every_call_refused(void) {
  bool all = true;
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
    if (refused[i].number >= 0) /* else another architecture has it */
      all &= is_call_refused(refused[i].name, refused[i].number);
  for (int call = FIRST_NEW_CALL; call <= LAST_NEW_CALL; call++)
    all &= is_call_refused("call", call);
  return all;
}

/* The harmless uses of calls that are refused in part work, and the other ones do not. */
static const char *
find_wrong_part(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "cannot read a limit";
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0 || errno != ENOSYS) return "sets limits";
  if (prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit) == 0 || errno != ENOSYS)
    return "reads limits of others";
  if (fcntl(0, F_GETFD) < 0) return "cannot read flags";
  if (fcntl(0, F_SETOWN, getpid()) == 0 || errno != ENOSYS) return "lets a descriptor send signals";
  if (fcntl(0, F_SETSIG, 0) == 0 || errno != ENOSYS) return "chooses a descriptor's signal";
  if (fcntl(-1, F_SETOWN_EX, NULL) == 0 || errno != ENOSYS) return "lets a descriptor send signals";
  static const unsigned long commands[] = {TIOCSTI,   TIOCLINUX,       FIOSETOWN,
                                           SIOCSPGRP, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR};
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    if (ioctl(-1, commands[i], NULL) == 0 || errno != ENOSYS) return "has a forbidden ioctl";
  if (ioctl(-1, TIOCGWINSZ, NULL) == 0 || errno != EBADF) return "cannot measure the terminal";
  return NULL;
}

/* A word for each right that a confined process should not have, or should have. */
static const char *
find_wrong_right(void) {
  g_autofree char *file = g_build_filename(folder, "file", NULL);
  int n_threads = 0;
  if (open(file, O_RDONLY) < 0) return "cannot read";
  g_thread_join(g_thread_new("reader", count, &n_threads));
  if (n_threads != 1) return "cannot start a thread";
  if (open(file, O_WRONLY) >= 0 || errno != ENOSYS) return "writes";
  if (open(file, O_RDWR) >= 0 || errno != ENOSYS) return "reads and writes";
  if (open(file, O_RDONLY | O_TRUNC) >= 0 || errno != ENOSYS) return "truncates";
  if (open(folder, O_RDONLY | O_TMPFILE, 0600) >= 0 || errno != ENOSYS) return "makes a file";
  if (g_creat("new", 0600) >= 0) return "creates";
  if (g_unlink(file) == 0) return "removes";
  if (g_rename(file, "other") == 0) return "renames";
  if (g_chmod(file, 0777) == 0) return "changes modes";
  if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) return "makes a socket";
  if (kill(getppid(), 0) == 0) return "sends signals";
  if (tgkill(getppid(), getppid(), 0) == 0) return "sends signals to threads";
  if (tgkill(getpid(), gettid(), 0) != 0) return "cannot abort";
  if (ioctl(0, TIOCSTI, "!") == 0 || errno != ENOSYS) return "types into the terminal";
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) return "forks";
  execl("/bin/true", "true", NULL);
  return errno == ENOSYS ? NULL : "starts programs";
}

static bool
has_only_its_rights(void) {
  td_confine_to_reading();
  const char *wrong = find_wrong_part();
  if (!wrong) wrong = find_wrong_right();
  if (wrong) g_printerr("a confined process %s\n", wrong);
  return !wrong;
}

/* What Landlock does, without the filter of calls. */
static const char *
find_wrong_file_right(void) {
  g_autofree char *file = g_build_filename(folder, "file", NULL);
  int opened = open(file, O_RDWR);
  if (!td_confine_files()) return "has no Landlock";
  if (ftruncate(opened, 6) != 0 || pwrite(opened, "a", 1, 0) != 1) return "cannot fill a file";
  if (open(file, O_RDONLY) < 0) return "cannot read";
  if (open(file, O_WRONLY) >= 0 || errno != EACCES) return "writes";
  if (open(file, O_RDONLY | O_TRUNC) >= 0 || errno != EACCES) return "truncates";
  if (g_unlink(file) == 0 || errno != EACCES) return "removes";
  g_autofree char *made = g_build_filename(folder, "made", NULL);
  if (g_creat(made, 0600) >= 0 || errno != EACCES) return "creates";
  if (g_mkdir(made, 0700) == 0 || errno != EACCES) return "makes folders";
  if (symlink("file", made) == 0 || errno != EACCES) return "makes links";
  execl("/bin/true", "true", NULL);
  return errno == EACCES ? NULL : "starts programs";
}

static bool
has_only_its_file_rights(void) {
  const char *wrong = find_wrong_file_right();
  if (wrong) g_printerr("a process confined to its files %s\n", wrong);
  return !wrong;
}

/* Who fills a file may change its length, and do nothing else that a reader may not. */
static const char *
find_wrong_filling(void) {
  g_autofree char *file = g_build_filename(folder, "file", NULL);
  int opened = open(file, O_RDWR);
  td_confine_to_filling();
  if (ftruncate(opened, 6) != 0 || flock(opened, LOCK_EX) != 0) return "cannot fill a file";
  if (posix_fallocate(opened, 0, 6) != 0) return "cannot make room in a file";
  return find_wrong_right();
}

static bool
has_only_rights_to_fill(void) {
  const char *wrong = find_wrong_filling();
  if (wrong) g_printerr("a process confined to filling %s\n", wrong);
  return !wrong;
}

static bool
is_refused_all(void) {
  if (!disarm_calls()) return false;
  td_confine_to_reading();
  return is_every_call_refused();
}

static bool
is_true_in_child(bool (*check)(void)) {
  pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Skips the test if not. */
static bool
can_confine(void) {
#if defined(__SANITIZE_ADDRESS__)
  g_test_skip("the address sanitizer needs the rights");
  return false;
#endif
  if (prctl(PR_GET_SECCOMP) >= 0) return true;
  g_test_skip("the kernel has no seccomp");
  return false;
}

static void
test_calls(void) {
  if (can_confine()) g_assert_true(is_true_in_child(is_refused_all));
}

static void
test_rights(void) {
  if (!can_confine()) return;
  g_assert_true(is_true_in_child(has_only_its_rights));
  g_autofree char *file = g_build_filename(folder, "file", NULL), *text = NULL;
  g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, "a tape");
}

static void
test_filling(void) {
  if (can_confine()) g_assert_true(is_true_in_child(has_only_rights_to_fill));
}

static bool
has_landlock(void) {
  return td_confine_files();
}

static void
test_files(void) {
  if (!is_true_in_child(has_landlock))
    g_test_skip("the kernel has no Landlock");
  else
    g_assert_true(is_true_in_child(has_only_its_file_rights));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *made = g_dir_make_tmp("tapedeck-test-XXXXXX", NULL);
  g_autofree char *file = g_build_filename(made, "file", NULL);
  folder = made;
  g_file_set_contents(file, "a tape", -1, NULL);
  g_test_add_func("/app/confine/calls", test_calls);
  g_test_add_func("/app/confine/rights", test_rights);
  g_test_add_func("/app/confine/filling", test_filling);
  g_test_add_func("/app/confine/files", test_files);
  int status = g_test_run();
  g_unlink(file);
  g_rmdir(made);
  return status;
}
