/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/program.h"

#include "engine/base/alloc.h"
#include "engine/base/libraries.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
is_python(const char *program) {
  const char *slash = strrchr(program, '/');
  return strncmp(slash ? slash + 1 : program, "python", 6) == 0;
}

/* Python reads the letters of a word such as -um one by one. These four take the rest of the word,
 * or the next word if there is no rest. */
static const char *
find_argument_letter(const char *word) {
  return *word == '-' && word[1] != '-' ? strpbrk(word, "cmWX") : NULL;
}

/* What Python runs: a script, a module, or -c; the words are those after its own name. */
static const char *
find_script(const char *word, const char *end) {
  for (; word < end; word += strlen(word) + 1) {
    const char *letter = find_argument_letter(word);
    if (!letter && *word != '-') return word;
    if (!letter) continue;
    if (*letter == 'c') return "-c";
    if (!letter[1]) word += strlen(word) + 1;
    if (*letter == 'm') return letter[1] ? letter + 1 : word < end ? word : NULL;
  }
  return NULL;
}

/* If `tapedeck run --beside` starts a script through one of its own. */
#define PROGRAM_VARIABLE "TAPEDECK_PROGRAM"

static char *own_name; /* (owned) that the program gave itself, or NULL; stays */

void
td_program_call(const char *name) {
  if (!own_name && name) own_name = td_dup_string(name);
}

char *
td_program_name(void) {
  const char *given = own_name ? own_name : getenv(PROGRAM_VARIABLE);
  if (given) return td_dup_string(given);
  char words[4096];
  FILE *file = fopen("/proc/self/cmdline", "re");
  size_t n = file ? fread(words, 1, sizeof words - 1, file) : 0;
  if (file) fclose(file);
  words[n] = '\0';
  const char *script = is_python(words) ? find_script(words + strlen(words) + 1, words + n) : NULL;
  const char *name = script ? script : words;
  return td_dup_string(*name ? name : "?");
}

static int
find_torch_cb(struct dl_phdr_info *info, size_t size, void *data) {
  if (!info->dlpi_name || !strstr(info->dlpi_name, "/libtorch_cpu.so")) return 0;
  *(const char **)data = info->dlpi_name;
  return 1;
}

const char *
td_program_torch(void) {
  const char *path = NULL;
  td_libraries_walk(find_torch_cb, &path);
  return path;
}

void *
td_program_find_in_torch(const char *name) {
  const char *path = td_program_torch();
  void *torch = path ? td_libraries_find(path) : NULL;
  return torch ? dlsym(torch, name) : NULL;
}

static _Atomic int32_t own_rank = -1; /* by its process group */

void
td_program_note_rank(int32_t rank) {
  atomic_store_explicit(&own_rank, rank, memory_order_relaxed);
}

bool
td_program_has_group_rank(void) {
  return atomic_load_explicit(&own_rank, memory_order_relaxed) >= 0;
}

int32_t
td_program_rank(void) {
  char *end;
  int32_t known = atomic_load_explicit(&own_rank, memory_order_relaxed);
  if (known >= 0) return known;
  const char *text = getenv("RANK");
  long rank = text && *text ? strtol(text, &end, 10) : -1;
  return rank >= 0 && rank < INT32_MAX && !*end ? (int32_t)rank : -1;
}
