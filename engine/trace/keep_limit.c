/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/keep_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND UINT64_C(1000000000)
/* Below this a keyframe would be most of the tape. */
#define BYTES_LEAST UINT64_C(1000000)

static const struct {
  const char *name;
  td_keep_limit one;
} units[] = {
    {"steps", {.steps = 1}},
    {"step", {.steps = 1}},
    {"KB", {.bytes = 1000}},
    {"MB", {.bytes = 1000000}},
    {"GB", {.bytes = 1000000000}},
    {"s", {.ns = NS_PER_SECOND}},
    {"min", {.ns = 60 * NS_PER_SECOND}},
    {"h", {.ns = 3600 * NS_PER_SECOND}},
};

static const td_keep_limit *
find_unit(const char *name) {
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(name, units[i].name) == 0) return &units[i].one;
  return NULL;
}

const char *
td_keep_limit_read(const char *words, td_keep_limit *limit) {
  char *end = NULL;
  bool is_number = words && *words >= '0' && *words <= '9' && strlen(words) < TD_KEEP_WORDS_MAX;
  uint64_t number = is_number ? strtoull(words, &end, 10) : 0;
  *limit = (td_keep_limit){0};
  while (number && *end == ' ')
    end++;
  const td_keep_limit *unit = number && number <= UINT32_MAX ? find_unit(end) : NULL;
  if (!unit) return "must be a number and KB, MB, GB, steps, s, min or h";
  if (unit->bytes && number * unit->bytes < BYTES_LEAST) return "must be 1MB or more";
  *limit = (td_keep_limit){number * unit->bytes, number * unit->ns, (uint32_t)number * unit->steps};
  return NULL;
}

bool
td_keep_limit_check(const char *words) {
  td_keep_limit unused;
  const char *trouble = td_keep_limit_read(words, &unused);
  if (trouble) fprintf(stderr, "tapedeck: keep '%s': %s\n", words ? words : "", trouble);
  return !trouble;
}
