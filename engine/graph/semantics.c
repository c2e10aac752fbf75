/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/graph/semantics.h"

#include <string.h>

#define TD_POLICY(name, summary) .name = true,
static const td_policies policies_2_13 = {
#include "engine/graph/semantics.def"
};
td_policies td_policies_now = {
#include "engine/graph/semantics.def"
};
#undef TD_POLICY

static const char *version_now = "2.13";

td_status
td_semantics_set(const char *version, td_error *error) {
  if (strcmp(version, "2.13") == 0) {
    td_policies_now = policies_2_13;
    version_now = "2.13";
    return TD_OK;
  }
  if (strcmp(version, "1.11") == 0) {
    td_policies_now = (td_policies){0};
    version_now = "1.11";
    return TD_OK;
  }
  return td_error_set(error, TD_INVALID, "semantics '%s': must be 2.13 or 1.11", version);
}

const char *
td_semantics_get(void) {
  return version_now;
}
