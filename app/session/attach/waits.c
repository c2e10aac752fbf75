/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/session/attach/waits.h"

#include <stdbool.h>
#include <string.h>

#define RUNS_PYTHON "PyEval_EvalFrameDefault"
#define RUNS_PASS "torch::autograd::Engine::execute "

typedef enum between { ANY, ONE_LIBRARY } between;

typedef struct row {
  td_attach_wait wait;
  const char *inner, *outer;
  between between;
} row;

static const row rows[] = {
#define TD_WAIT(kind, inner, outer, library) {TD_WAIT_##kind, inner, outer, library},
#include "app/session/attach/waits.def"
#undef TD_WAIT
};

static const struct {
  const char *name, *words;
} kinds[] = {
#define TD_WAIT_KIND(name, words) {#name, words},
#include "app/session/attach/wait_kinds.def"
#undef TD_WAIT_KIND
};

const char *
td_attach_wait_name(td_attach_wait wait) {
  return wait < TD_N_ATTACH_WAITS ? kinds[wait].name : NULL;
}

const char *
td_attach_wait_words(td_attach_wait wait) {
  return wait < TD_N_ATTACH_WAITS ? kinds[wait].words : NULL;
}

/* ---- frames ---- */

typedef struct frame {
  char *name;          /* (owned) without decoration */
  const char *library; /* (borrowed) */
} frame;

static char *
plain_name(const char *text, size_t length) {
  static const char *const before[] = {"GI_", "libc_", "new_", "old_"};
  while (length > 0 && *text == '_')
    text++, length--;
  for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
    size_t n = strlen(before[i]);
    if (length <= n || strncmp(text, before[i], n) != 0) continue;
    text += n, length -= n;
    while (length > 0 && *text == '_')
      text++, length--;
  }
  if (length > 2 && strncmp(text + length - 2, "64", 2) == 0) length -= 2;
  return g_strndup(text, length);
}

/* Up to the first that runs Python's code, and that one. Freed with free_frames. */
static frame *
read_frames(const GPtrArray *frames, guint *n) {
  frame *made = g_new0(frame, frames->len + 1);
  for (*n = 0; *n < frames->len;) {
    const char *text = frames->pdata[*n], *space = strrchr(text, ' ');
    made[*n] = (frame){.name = plain_name(text, space ? (size_t)(space - text) : strlen(text)),
                       .library = space ? space + 1 : ""};
    if (strcmp(made[(*n)++].name, RUNS_PYTHON) == 0) break;
  }
  return made;
}

static void
free_frames(frame *frames, guint n) {
  for (guint i = 0; i < n; i++)
    g_free(frames[i].name);
  g_free(frames);
}

/* The C library's own frames, such as those of a wait, may lie further in. */
static bool
is_one_library(const frame *frames, guint inner, guint outer) {
  guint first = inner;
  while (first < outer && strcmp(frames[first].library, frames[inner].library) == 0)
    first++;
  for (guint i = first; i <= outer; i++)
    if (strcmp(frames[i].library, frames[outer].library) != 0) return false;
  return true;
}

static bool
matches_from(const row *row, const frame *frames, guint n, guint inner) {
  if (!*row->outer) return true;
  for (guint i = inner + 1; i < n; i++)
    if (g_pattern_match_simple(row->outer, frames[i].name))
      return row->between == ANY || is_one_library(frames, inner, i);
  return false;
}

/* A library's own threads come from the C library. */
static bool
is_in_library(const frame *frames, guint n, const char *pattern, bool is_own) {
  guint at = 0;
  while (at < n && g_pattern_match_simple(pattern, frames[at].library))
    at++;
  return at > 0 && at < n && g_str_has_prefix(frames[at].library, "libc.") == is_own;
}

static bool
matches(const row *row, const frame *frames, guint n) {
  if (*row->inner == '@' || *row->inner == '~')
    return is_in_library(frames, n, row->inner + 1, *row->inner == '~');
  for (guint i = 0; i < n; i++)
    if (g_pattern_match_simple(row->inner, frames[i].name) && matches_from(row, frames, n, i))
      return true;
  return false;
}

td_attach_wait
td_attach_wait_of(const GPtrArray *frames) {
  guint n;
  frame *read = read_frames(frames, &n);
  td_attach_wait found = TD_N_ATTACH_WAITS;
  for (size_t i = 0; i < G_N_ELEMENTS(rows) && found == TD_N_ATTACH_WAITS; i++)
    if (matches(&rows[i], read, n)) found = rows[i].wait;
  free_frames(read, n);
  return found;
}

uint32_t
td_attach_wait_depth(const GPtrArray *frames) {
  uint32_t depth = 0;
  for (guint i = 0; i < frames->len; i++)
    depth += g_str_has_prefix(frames->pdata[i], RUNS_PASS);
  return depth;
}
