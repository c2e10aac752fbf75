/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/source_place.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Files of PyTorch, below its folder `torch`. A folder of one's own may have that name too, so
 * these are precise where a person would choose the same names. */
static const char *const pytorch_files[] = {
    "_",
    "autograd/__init__.py",
    "autograd/_",
    "autograd/anomaly_mode.py",
    "autograd/forward_ad.py",
    "autograd/function.py",
    "autograd/functional.py",
    "autograd/grad",
    "autograd/graph.py",
    "distributed/",
    "distributions/",
    "functional.py",
    "fx/",
    "jit/",
    "nn/functional.py",
    "nn/init.py",
    "nn/modules/",
    "nn/parallel/",
    "nn/parameter.py",
    "nn/utils/",
    "optim/_",
    "optim/lr_scheduler.py",
    "optim/optimizer.py",
    "overrides.py",
    "utils/_",
    "utils/checkpoint.py",
    "utils/data/_",
    "utils/data/dataloader.py",
    "utils/hooks.py",
};

/* `tail` is what follows "torch/" in a path. */
static bool
is_of_pytorch(const char *tail) {
  for (size_t i = 0; i < TD_N_ELEMENTS(pytorch_files); i++)
    if (strncmp(tail, pytorch_files[i], strlen(pytorch_files[i])) == 0) return true;
  return false;
}

/* Installed packages, what has no file, and PyTorch or Tapedeck's package in a checkout. */
bool
td_source_is_library(const char *file) {
  static const char *const parts[] = {"/site-packages/", "/dist-packages/",
                                      "/engine/torch/python/torch/", "/engine/python/tapedeck/"};
  if (*file == '<') return true;
  for (size_t i = 0; i < TD_N_ELEMENTS(parts); i++)
    if (strstr(file, parts[i])) return true;
  for (const char *at = strstr(file, "torch/"); at; at = strstr(at + 1, "torch/"))
    if ((at == file || at[-1] == '/') && is_of_pytorch(at + strlen("torch/"))) return true;
  return false;
}

/* One line of a stack. */
typedef struct place {
  char *file; /* (owned) or NULL */
  unsigned long line;
} place;

static place
make_place(const char *file, const char *end, const char *number) {
  return (place){td_format("%.*s", (int)(end - file), file), strtoul(number, NULL, 10)};
}

static bool
is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/* File "net.py", line 9, in forward */
static place
read_traceback(const char *text) {
  static const char begin[] = "File \"", between[] = "\", line ";
  const char *end = strstr(text, between);
  if (strncmp(text, begin, strlen(begin)) != 0 || !end) return (place){0};
  return make_place(text + strlen(begin), end, end + strlen(between));
}

/* net.py(9): forward, or net.py:9 forward: the number stands behind `mark` and before one of
 * `after`. The file's name may hold the mark. */
static place
read_marked(const char *text, char mark, const char *after) {
  for (const char *at = strchr(text, mark); at; at = strchr(at + 1, mark)) {
    const char *end = at + 1;
    while (is_digit(*end))
      end++;
    if (at > text && end > at + 1 && strchr(after, *end)) return make_place(text, at, at + 1);
  }
  return (place){0};
}

/* *innermost_last: this form of stack begins at the outermost line. */
static place
read_line(const char *text, bool *innermost_last) {
  text += strspn(text, " \t");
  place found = read_traceback(text);
  if (!found.file) {
    found = read_marked(text, '(', ")");
    if (found.file) return found;
    found = read_marked(text, ':', ": ");
  }
  *innermost_last |= found.file != NULL;
  return found;
}

/* The innermost line that is no library's, else the innermost one. */
static size_t
choose(const place *places, size_t n, bool innermost_last) {
  for (size_t i = 0; i < n; i++) {
    size_t at = innermost_last ? n - 1 - i : i;
    if (!td_source_is_library(places[at].file)) return at;
  }
  return innermost_last ? n - 1 : 0;
}

static char *
find_place(const char *stack, bool whole) {
  place *places = NULL;
  size_t n = 0, capacity = 0;
  bool innermost_last = false;
  char *result = NULL, *copy = td_dup_string(stack ? stack : ""), *rest = NULL;
  for (char *text = strtok_r(copy, "\n", &rest); text; text = strtok_r(NULL, "\n", &rest)) {
    place found = read_line(text, &innermost_last);
    if (!found.file) continue;
    TD_GROW(places, n, capacity);
    places[n++] = found;
  }
  if (n > 0) {
    const place *own = &places[choose(places, n, innermost_last)];
    const char *slash = strrchr(own->file, '/');
    result = td_format("%s:%lu", slash && !whole ? slash + 1 : own->file, own->line);
  }
  for (size_t i = 0; i < n; i++)
    free(places[i].file);
  free(places);
  free(copy);
  return result;
}

char *
td_source_place(const char *stack) {
  return find_place(stack, false);
}

char *
td_source_place_whole(const char *stack) {
  return find_place(stack, true);
}
