/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What targets share. A target is one file fuzz_<name>.c with libFuzzer's function. It may crash
 * (abort, a signal, a sanitizer), hang, or take too much memory only if the program has a defect.
 * What it allocates it frees. One thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* td_fuzz_tape packs an unpacked tape (see tests/fuzz/pack.h) into a file in memory and returns the
 * file's path, valid until the next call with this slot, 0 to 7. */
const char *td_fuzz_tape(unsigned slot, const uint8_t *data, size_t n);

/* td_fuzz_file is td_fuzz_tape for bytes that are written as they are. */
const char *td_fuzz_file(unsigned slot, const uint8_t *data, size_t n);
