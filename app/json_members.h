/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A member of a JSON object in one call. */
#pragma once

#include "engine/base/json.h"

static inline void
td_member_u64(td_json *json, const char *key, uint64_t value) {
  td_json_key(json, key);
  td_json_u64(json, value);
}

static inline void
td_member_id(td_json *json, const char *key, uint32_t id) {
  td_json_key(json, key);
  td_json_id(json, id);
}

static inline void
td_member_string(td_json *json, const char *key, const char *value) {
  td_json_key(json, key);
  td_json_string(json, value);
}

static inline void
td_member_bool(td_json *json, const char *key, bool value) {
  td_json_key(json, key);
  td_json_bool(json, value);
}
