/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* td_write_at writes all n bytes at an offset of a file. Returns 0 or an errno; then part of the
 * bytes may be written. Any thread. */
int td_write_at(int fd, const void *bytes, size_t n, uint64_t offset);
