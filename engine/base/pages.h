/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory straight from the system. malloc has locks. While a deadly signal is handled, a thread of
 * the program may hold one and wait for the recorder. So what the recorder needs until its end lies
 * in pages. The functions abort without memory, as td_alloc. Any thread; no state. */
#pragma once

#include <stddef.h>

/* td_pages_new returns zeroed memory. td_pages_grow makes it larger, at another place if it must;
 * what was there stays, and the rest is zeroed. `n_bytes` is what was wanted when the memory was
 * made. */
void *td_pages_new(size_t n_bytes);
void *td_pages_grow(void *pages, size_t n_bytes, size_t wanted);
void td_pages_free(void *pages, size_t n_bytes);
