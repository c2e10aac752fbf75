/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Allocation. A small allocation aborts if memory runs out. Code that takes a size from input calls
 * td_try_alloc and returns TD_OUT_OF_MEMORY. Any thread. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* td_alloc returns n zeroed elements of `size` bytes, td_realloc a resized block. Both abort on
 * failure, if engine/base/reserve.h does not help. */
void *td_alloc(size_t n, size_t size);
void *td_realloc(void *block, size_t n, size_t size);

/* td_try_alloc is td_alloc for sizes that come from input. It returns NULL on failure or overflow.
 */
void *td_try_alloc(size_t n, size_t size);

/* td_out_of_memory ends the program with a message. For callers that cannot do without a block. */
_Noreturn void td_out_of_memory(void);

/* td_dup_string copies text; td_format prints into a new string. The caller frees. */
char *td_dup_string(const char *text);
char *td_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *td_format_v(const char *format, va_list args);

#define TD_NEW(type) ((type *)td_alloc(1, sizeof(type)))
#define TD_NEW_N(type, n) ((type *)td_alloc((n), sizeof(type)))
#define TD_N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))
#define TD_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TD_MAX(a, b) ((a) > (b) ? (a) : (b))

/* TD_GROW makes room for one more element in a (pointer, n, capacity) triple. */
#define TD_GROW(array, n, capacity)                                                                \
  do {                                                                                             \
    if ((n) == (capacity)) {                                                                       \
      (capacity) = (capacity) ? (capacity)*2 : 8;                                                  \
      (array) = td_realloc((array), (capacity), sizeof *(array));                                  \
    }                                                                                              \
  } while (0)

/* TD_REACH makes an array of n zeroed elements reach to element i, with some more. */
#define TD_REACH(array, n, i)                                                                      \
  do {                                                                                             \
    if ((i) >= (n)) {                                                                              \
      uint32_t more = TD_MAX(TD_MAX(2 * (n), 8u), (i) + 1);                                        \
      (array) = td_realloc((array), more, sizeof *(array));                                        \
      memset((array) + (n), 0, (more - (n)) * sizeof *(array));                                    \
      (n) = more;                                                                                  \
    }                                                                                              \
  } while (0)
