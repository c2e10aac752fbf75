/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/semantics.h"

#include <string.h>

static const struct {
  const char *name;
  int number;
} versions[] = {{"2.15", 215}, {"2.13", 213}, {"1.11", 111}};

#define TD_POLICY(name, since, summary) .name = true,
td_policies td_policies_now = {
#include "engine/torch/graph/semantics.def"
};
#undef TD_POLICY

static const char *version_now = "2.15";

static td_policies
policies_of(int version) {
#define TD_POLICY(name, since, summary) .name = version >= (since),
  return (td_policies){
#include "engine/torch/graph/semantics.def"
  };
#undef TD_POLICY
}

td_status
td_semantics_set(const char *version, td_error *error) {
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    if (strcmp(version, versions[i].name) != 0) continue;
    td_policies_now = policies_of(versions[i].number);
    version_now = versions[i].name;
    return TD_OK;
  }
  return td_error_set(error, TD_INVALID, "semantics '%s': must be 2.15, 2.13 or 1.11", version);
}

const char *
td_semantics_get(void) {
  return version_now;
}
