/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/info_absent.h"

#include "app/print/json_members.h"
#include "engine/profile/knowledge.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* The kinds that are absent for the reason that `first` has; nothing if an earlier kind has it too.
 */
static void
print_with(const td_tape_info *info, uint32_t level, uint32_t first) {
  const char *reason = td_knowledge_absence(info, level, first);
  g_autoptr(GString) text = g_string_new(NULL);
  for (uint32_t kind = 0; reason && kind < TD_EVENT_LIMIT; kind++) {
    const char *other = td_knowledge_absence(info, level, kind);
    if (!other || strcmp(other, reason) != 0) continue;
    if (kind < first) return;
    g_string_append_printf(text, "%s%s", text->len ? ", " : "", td_event_type_get(kind)->name);
  }
  if (reason) printf("%-12s %s: %s\n", "absent", text->str, reason);
}

void
td_info_print_absent(const td_tape_info *info, uint32_t level) {
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
    print_with(info, level, kind);
}

void
td_info_absent_json(td_json *json, const td_tape_info *info, uint32_t level) {
  td_json_key(json, "absent");
  td_json_begin_object(json);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    const char *reason = td_knowledge_absence(info, level, kind);
    if (reason) td_member_string(json, td_event_type_get(kind)->name, reason);
  }
  td_json_end_object(json);
}
