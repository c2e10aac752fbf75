/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which PyTorch the engine behaves like, where its versions differ: `tapedeck run --semantics`. Set
 * once, before the first pass; read by any thread. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>

typedef struct td_policies {
#define TD_POLICY(name, since, summary) bool name;
#include "engine/torch/graph/semantics.def"
#undef TD_POLICY
} td_policies;

extern td_policies td_policies_now;

/* td_policy(separate_hooks) tells whether a policy of semantics.def is on. */
#define td_policy(name) (td_policies_now.name)

/* td_semantics_set takes "1.11", "2.13" or "2.15" (the default). TD_INVALID for all else. */
td_status td_semantics_set(const char *version, td_error *error);
const char *td_semantics_get(void);
