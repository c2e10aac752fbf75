/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a flight recorder keeps, in the user's words. It needs libc alone: the library that `record`
 * preloads reads these words too. Any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The longest words, with their end. */
#define TD_KEEP_WORDS_MAX 64

/* What stays. 0: no limit of that kind. An eighth more may stay, because each cut costs.
 *
 * `bytes` are on the disk; while a keyframe is written, that much again of the keyframe. If what
 * lives takes more than half of them, the newest events have half as much room nevertheless: half
 * of `bytes`, or of what lives. */
typedef struct td_keep_limit {
  uint64_t bytes;
  uint64_t ns;
  uint32_t steps; /* that are over; passes if the program counts no steps */
} td_keep_limit;

/* td_keep_limit_read reads "200MB", "50steps" or "10 min". It returns NULL, or what is wrong with
 * the words: "must be ...". Then *limit is all 0. */
const char *td_keep_limit_read(const char *words, td_keep_limit *limit);

/* td_keep_limit_check returns whether these words are a limit. If not, it says why on standard
 * error. */
bool td_keep_limit_check(const char *words);
