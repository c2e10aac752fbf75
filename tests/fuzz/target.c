/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/fuzz/target.h"

#include "tests/fuzz/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_SLOTS 8

const char *
td_fuzz_file(unsigned slot, const uint8_t *data, size_t n) {
  static int files[N_SLOTS];
  static char paths[N_SLOTS][32];
  if (!files[slot]) {
    files[slot] = memfd_create("tapedeck-fuzz", MFD_CLOEXEC);
    if (files[slot] < 0) abort();
    snprintf(paths[slot], sizeof paths[slot], "/proc/self/fd/%d", files[slot]);
  }
  if (ftruncate(files[slot], 0) != 0 || pwrite(files[slot], data, n, 0) != (ssize_t)n) abort();
  return paths[slot];
}

const char *
td_fuzz_tape(unsigned slot, const uint8_t *data, size_t n) {
  td_bytes tape = {0};
  td_pack(data, n, &tape);
  const char *path = td_fuzz_file(slot, tape.at, tape.n);
  td_bytes_fini(&tape);
  return path;
}
