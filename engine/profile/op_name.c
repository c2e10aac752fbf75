/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/op_name.h"

#include "engine/base/hash.h"

#include <stdbool.h>
#include <string.h>

#define QUALIFIER "torch::autograd::"

/* The part of a name that counts. */
typedef struct stem {
  const char *text;
  size_t n;
} stem;

/* What PyTorch 1.13 calls one way and 2.13 another, in the same place of the same graph. */
static const struct {
  const char *then, *now;
} renamed[] = {{"ReshapeAliasBackward", "ViewBackward"},
               {"NormBackward", "LinalgVectorNormBackward"}};

static stem
today(stem stem) {
  for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
    if (strlen(renamed[i].then) == stem.n && memcmp(renamed[i].then, stem.text, stem.n) == 0)
      return (struct stem){renamed[i].now, strlen(renamed[i].now)};
  return stem;
}

static bool
ends_with(stem stem, const char *suffix) {
  size_t n = strlen(suffix);
  return stem.n >= n && memcmp(stem.text + stem.n - n, suffix, n) == 0;
}

static stem
stem_of(const char *name) {
  if (strncmp(name, QUALIFIER, strlen(QUALIFIER)) == 0) name += strlen(QUALIFIER);
  stem whole = {name, strlen(name)}, stem = whole;
  while (stem.n && stem.text[stem.n - 1] >= '0' && stem.text[stem.n - 1] <= '9')
    stem.n--;
  if (ends_with(stem, "Backwards")) stem.n--;
  return ends_with(stem, "Backward") ? today(stem) : whole;
}

uint64_t
td_op_name_hash(const char *name) {
  stem stem = stem_of(name);
  return td_hash_bytes(TD_HASH_SEED, stem.text, stem.n);
}
