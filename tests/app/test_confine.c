/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a command that only reads tapes can still do, and what it cannot. */
#include "app/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder; /* of the test */

static gpointer
count(gpointer data) {
  ++*(int *)data;
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
  if (open(file, O_WRONLY) >= 0 || errno != EACCES) return "writes";
  if (open(file, O_RDWR) >= 0 || errno != EACCES) return "reads and writes";
  if (open(file, O_RDONLY | O_TRUNC) >= 0 || errno != EACCES) return "truncates";
  if (g_creat("new", 0600) >= 0) return "creates";
  if (g_unlink(file) == 0) return "removes";
  if (g_rename(file, "other") == 0) return "renames";
  if (g_chmod(file, 0777) == 0) return "changes modes";
  if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) return "makes a socket";
  if (kill(getppid(), 0) == 0) return "sends signals";
  if (tgkill(getppid(), getppid(), 0) == 0) return "sends signals to threads";
  if (tgkill(getpid(), gettid(), 0) != 0) return "cannot abort";
  if (ioctl(0, TIOCSTI, "!") == 0 || errno != EPERM) return "types into the terminal";
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) return "forks";
  execl("/bin/true", "true", NULL);
  return errno == EPERM ? NULL : "starts programs";
}

static void
test_rights(void) {
  if (prctl(PR_GET_SECCOMP) < 0) {
    g_test_skip("the kernel has no seccomp");
    return;
  }
#if defined(__SANITIZE_ADDRESS__)
  g_test_skip("the address sanitizer needs the rights");
  return;
#endif
  pid_t child = fork();
  if (child == 0) {
    td_confine_to_reading();
    const char *wrong = find_wrong_right();
    if (wrong) g_printerr("a confined process %s\n", wrong);
    _exit(wrong ? 1 : 0);
  }
  int status;
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  g_autofree char *file = g_build_filename(folder, "file", NULL), *text = NULL;
  g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
  g_assert_cmpstr(text, ==, "a tape");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *made = g_dir_make_tmp("tapedeck-test-XXXXXX", NULL);
  g_autofree char *file = g_build_filename(made, "file", NULL);
  folder = made;
  g_file_set_contents(file, "a tape", -1, NULL);
  g_test_add_func("/app/confine/rights", test_rights);
  int status = g_test_run();
  g_unlink(file);
  g_rmdir(made);
  return status;
}
