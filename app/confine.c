/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What no reader needs. The first list has all calls that a program can be without; the kernel
 * answers EPERM to them. */
static const int refused[] = {
    /* programs, processes and signals */
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise),
    SCMP_SYS(kcmp), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(setrlimit), SCMP_SYS(setpriority), SCMP_SYS(ioprio_set), SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_setattr), SCMP_SYS(sched_setparam), SCMP_SYS(sched_setscheduler),
    SCMP_SYS(migrate_pages), SCMP_SYS(move_pages), SCMP_SYS(setpgid), SCMP_SYS(setsid),
    SCMP_SYS(setns), SCMP_SYS(unshare),
    /* the network, and other ways to other processes */
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
    SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg),
    SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmdt), SCMP_SYS(shmctl), SCMP_SYS(msgget),
    SCMP_SYS(msgsnd), SCMP_SYS(msgrcv), SCMP_SYS(msgctl), SCMP_SYS(semget), SCMP_SYS(semop),
    SCMP_SYS(semtimedop), SCMP_SYS(semctl), SCMP_SYS(mq_open), SCMP_SYS(mq_unlink),
    SCMP_SYS(mq_timedsend), SCMP_SYS(mq_timedreceive), SCMP_SYS(mq_notify), SCMP_SYS(mq_getsetattr),
    SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl), SCMP_SYS(memfd_create),
    SCMP_SYS(inotify_init), SCMP_SYS(inotify_init1), SCMP_SYS(fanotify_init),
    SCMP_SYS(fanotify_mark),
    /* files */
    SCMP_SYS(creat), SCMP_SYS(truncate), SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(unlink),
    SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(link),
    SCMP_SYS(linkat), SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir), SCMP_SYS(mknod), SCMP_SYS(mknodat), SCMP_SYS(chmod), SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(lchown), SCMP_SYS(fchown), SCMP_SYS(fchownat),
    SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(futimesat), SCMP_SYS(utimensat), SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr), SCMP_SYS(name_to_handle_at), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(io_setup), SCMP_SYS(io_submit),
    /* the user */
    SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
    SCMP_SYS(setresgid), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(setgroups),
    SCMP_SYS(capset), SCMP_SYS(personality),
    /* the machine */
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr),
    SCMP_SYS(chroot), SCMP_SYS(pivot_root), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(quotactl),
    SCMP_SYS(quotactl_fd), SCMP_SYS(acct), SCMP_SYS(sethostname), SCMP_SYS(setdomainname),
    SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex), SCMP_SYS(clock_adjtime),
    SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(reboot), SCMP_SYS(syslog), SCMP_SYS(iopl), SCMP_SYS(ioperm),
    SCMP_SYS(vhangup), SCMP_SYS(nfsservctl), SCMP_SYS(lookup_dcookie), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
    /* Older libseccomps do not know these names: process_mrelease, fchmodat2, setxattrat,
     * removexattrat, open_tree_attr, file_setattr. The numbers are the same everywhere. */
    448, 452, 463, 466, 467, 469};

/* Their arguments are in memory, where a filter cannot look. ENOSYS makes the C library use the
 * older calls instead. */
static const int unknown[] = {SCMP_SYS(clone3), SCMP_SYS(openat2), SCMP_SYS(io_uring_setup)};

/* A file may be opened for reading alone. */
static void
refuse_writing(scmp_filter_ctx filter, int call, unsigned argument) {
  const scmp_datum_t modes[][2] = {
      {O_ACCMODE, O_WRONLY}, {O_ACCMODE, O_RDWR}, {O_CREAT, O_CREAT}, {O_TRUNC, O_TRUNC}};
  for (size_t i = 0; i < G_N_ELEMENTS(modes); i++)
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), call, 1,
                     SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, modes[i][0], modes[i][1]));
}

/* The second argument of ioctl and fcntl has 32 bits. */
static void
refuse_command(scmp_filter_ctx filter, int call, scmp_datum_t command) {
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1,
                   SCMP_CMP(1, SCMP_CMP_MASKED_EQ, UINT32_MAX, command));
}

/* These calls have a harmless use too: a thread, an abort, the limit of open files, the size of the
 * terminal. Who types into the terminal makes the shell run what was typed. The owner of a
 * descriptor gets signals. */
static void
refuse_partly(scmp_filter_ctx filter) {
  refuse_writing(filter, SCMP_SYS(open), 1);
  refuse_writing(filter, SCMP_SYS(openat), 2);
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                   SCMP_CMP(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
                   SCMP_CMP(0, SCMP_CMP_NE, (scmp_datum_t)getpid()));
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1,
                   SCMP_CMP(0, SCMP_CMP_NE, 0));
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1,
                   SCMP_CMP(2, SCMP_CMP_NE, 0));
  const scmp_datum_t commands[] = {TIOCSTI,   TIOCLINUX,       FIOSETOWN,
                                   SIOCSPGRP, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR};
  for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
    refuse_command(filter, SCMP_SYS(ioctl), commands[i]);
  const scmp_datum_t owners[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};
  for (size_t i = 0; i < G_N_ELEMENTS(owners); i++)
    refuse_command(filter, SCMP_SYS(fcntl), owners[i]);
}

static void
refuse(scmp_filter_ctx filter) {
  for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
  for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++)
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), unknown[i], 0);
  refuse_partly(filter);
}

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

void
td_confine_to_reading(void) {
  if (IS_SANITIZED) return;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (!filter) return;
  refuse(filter);
  seccomp_load(filter);
  seccomp_release(filter);
}
