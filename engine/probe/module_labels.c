/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/module_labels.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"
#include "engine/events/emit.h"
#include "engine/events/strings.h"
#include "engine/probe/module_items.h"

#include <stdlib.h>
#include <string.h>

/* By at::TensorImpl. Guarded by the GIL; `labels` are found without it. */
static td_ids *labels;
static td_ids *modules;
static td_number_map givers; /* addresses of modules; 0: none */

static void *
giver_of(const void *impl) {
  const uint64_t *giver = td_number_map_find(&givers, (uint64_t)(uintptr_t)impl);
  return giver ? (void *)(uintptr_t)*giver : NULL;
}

static void
set_giver(const void *impl, void *module) {
  *td_number_map_put(&givers, (uint64_t)(uintptr_t)impl) = (uint64_t)(uintptr_t)module;
}

void *
td_module_label_take(const void *impl) {
  void *giver = giver_of(impl);
  if (!giver) return NULL;
  td_ids_set(labels, impl, TD_NONE);
  set_giver(impl, NULL);
  return giver;
}

typedef struct search {
  const void *wanted;
  bool found;
} search;

static void
look_for_impl(const char *name, const void *impl, void *data) {
  search *self = data;
  self->found = self->found || impl == self->wanted;
}

/* Whether a module lives and has a parameter still: another one may live where it was. */
static bool
has_it_still(const td_python *python, void *module, const void *impl) {
  search search = {impl, false};
  if (td_ids_find(modules, module) == TD_NONE) return false;
  td_module_each_parameter(python, module, true, look_for_impl, &search);
  return search.found;
}

static char *
dup_label(uint32_t label) {
  td_strings_lock();
  char *text = td_dup_string(td_strings_text_locked(label));
  td_strings_unlock();
  return text;
}

static bool
is_among(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *at = names; (at = strstr(at, name)); at += length)
    if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' ')) return true;
  return false;
}

void
td_module_label_give(const td_python *python, void *module, const void *impl, const char *name) {
  uint32_t before = td_ids_find(labels, impl);
  void *giver = giver_of(impl);
  if (before == TD_NONE || !giver || !has_it_still(python, giver, impl)) {
    td_ids_set(labels, impl, td_intern(name));
    set_giver(impl, module);
    return;
  }
  char *names = dup_label(before);
  char *both = is_among(names, name) ? NULL : td_format("%s = %s", names, name);
  if (both) td_ids_set(labels, impl, td_intern(both));
  free(both);
  free(names);
}

uint32_t
td_module_label_find(const void *impl) {
  uint32_t found = impl && labels ? td_ids_find(labels, impl) : TD_NONE;
  return found == TD_NONE ? 0 : found;
}

void
td_module_labels_start(td_ids *of_modules) {
  labels = td_ids_new();
  modules = of_modules;
}
