/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * replay FILE or FOLDER...: calls a target with each file, where no fuzzer is linked. A target that
 * never crashed may have no folder of its own. A file may take 10 seconds and, without a sanitizer,
 * 2 GiB. */
#include "tests/fuzz/target.h"

#include <ftw.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECONDS_MAX 10
#define BYTES_MAX (UINT64_C(2) << 30)

static unsigned n_files;

static int
run_file(const char *path, const struct stat *info, int type, struct FTW *walk) {
  if (type != FTW_F) return 0;
  g_autofree char *bytes = NULL;
  gsize n;
  if (!g_file_get_contents(path, &bytes, &n, NULL)) return 1;
  fprintf(stderr, "%s\n", path); /* the last line names what crashed */
  /* A copy of exactly this size: the sanitizer sees a byte too far. */
  g_autofree uint8_t *data = g_memdup2(bytes, n);
  alarm(SECONDS_MAX);
  LLVMFuzzerTestOneInput(data ? data : (const uint8_t *)"", n);
  alarm(0);
  n_files++;
  return 0;
}

int
main(int argc, char **argv) {
#ifndef __SANITIZE_ADDRESS__
  setrlimit(RLIMIT_AS, &(struct rlimit){BYTES_MAX, BYTES_MAX});
#endif
  for (int i = 1; i < argc; i++)
    if (access(argv[i], F_OK) == 0 && nftw(argv[i], run_file, 16, FTW_PHYS) != 0) {
      fprintf(stderr, "replay: %s cannot be read\n", argv[i]);
      return 2;
    }
  printf("%u files\n", n_files);
  return n_files ? 0 : 2;
}
