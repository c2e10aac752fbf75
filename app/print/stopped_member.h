/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The member `recorder_stopped` of what commands print with --json. */
#pragma once

#include "app/print/json_members.h"
#include "engine/events/event_type.h"

/* td_member_stopped writes the words of td_catalog.recorder_stopped. */
static inline void
td_member_stopped(td_json *json, uint32_t stopped) {
  td_json_key(json, "recorder_stopped");
  td_json_begin_array(json);
  for (uint32_t work = 0; work < 32; work++)
    if (stopped >> work & 1) td_json_string(json, td_enum_word(TD_FIELD_ENUM_recorder_work, work));
  td_json_end_array(json);
}
