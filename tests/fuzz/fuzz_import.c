/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The import of a profiler's trace, in pieces whose size the first byte says. The tape that comes
 * of it is whole, and keeps all rules. */
#include "engine/exchange/import.h"
#include "engine/profile/check/check.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static void
report_cb(const td_violation *violation, void *data) {
}

static void
check_tape(const char *path) {
  td_error error = {0};
  td_tape *tape;
  uint64_t n_violations;
  if (td_tape_open(path, &tape, &error)) abort();
  if (td_tape_info_get(tape)->damage || !td_tape_info_get(tape)->complete) abort();
  if (td_check_run(tape, report_cb, NULL, &n_violations, &error) || n_violations > 0) abort();
  td_tape_close(tape);
}

static void
feed(td_import *import, const uint8_t *data, size_t n) {
  size_t piece = n ? 1 + (size_t)data[0] * 16 : 1;
  for (size_t at = 1; at < n; at += piece) {
    size_t length = n - at < piece ? n - at : piece;
    unsigned char *copy = malloc(length);
    if (!copy) abort();
    memcpy(copy, data + at, length);
    bool goes_on = td_import_feed(import, copy, length);
    free(copy);
    if (!goes_on) return;
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  td_import *import = td_import_new("/tmp");
  td_import_report report;
  td_error error = {0};
  const char *path = td_fuzz_file(0, NULL, 0);
  feed(import, data, n);
  if (td_import_write(import, path, true, "fuzz", &report, &error) == TD_OK) check_tape(path);
  td_import_free(import);
  td_error_clear(&error);
  return 0;
}
