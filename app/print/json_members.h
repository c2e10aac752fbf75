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

/* td_member_text writes null for a text that is NULL or empty. */
static inline void
td_member_text(td_json *json, const char *key, const char *text) {
  td_member_string(json, key, text && *text ? text : NULL);
}

/* td_member_known writes null for a number that nobody knows. */
static inline void
td_member_known(td_json *json, const char *key, uint64_t value, bool is_known) {
  td_json_key(json, key);
  if (is_known)
    td_json_u64(json, value);
  else
    td_json_null(json);
}

/* td_member_found writes null for UINT64_MAX. */
static inline void
td_member_found(td_json *json, const char *key, uint64_t value) {
  td_member_known(json, key, value, value != UINT64_MAX);
}
