/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/idle_print.h"

#include "app/json_members.h"
#include "engine/base/line.h"
#include "ui/geometry/format.h"

#include <glib.h>

#define SHOWN 40 /* threads, for people */

/* ---- JSON ---- */

static void
write_thread(td_json *json, const td_idle *idle, const td_idle_thread *thread) {
  td_json_begin_object(json);
  td_member_string(json, "thread", thread->name);
  td_json_key(json, "device");
  if (thread->device && *thread->device)
    td_json_string(json, thread->device);
  else
    td_json_null(json);
  td_json_key(json, "parts");
  td_json_begin_object(json);
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    td_member_u64(json, td_idle_part_name((td_idle_part)part), thread->parts[part]);
  td_json_end_object(json);
  td_json_key(json, "waited_for");
  td_json_begin_object(json);
  for (int i = 0; i < TD_IDLE_DEVICES; i++)
    if (idle->devices[i] && thread->waited_for[i])
      td_member_u64(json, idle->devices[i], thread->waited_for[i]);
  td_json_end_object(json);
  td_json_end_object(json);
}

void
td_idle_print_json(const td_idle *idle) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "unit", "ns");
  td_member_u64(&json, "passes", idle->n_passes);
  td_member_u64(&json, "wall", idle->wall);
  td_json_key(&json, "threads");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < idle->n_threads; i++)
    write_thread(&json, idle, &idle->threads[i]);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}

/* ---- text ---- */

static double
percent(uint64_t ns, uint64_t of) {
  return of ? 100 * (double)ns / (double)of : 0;
}

static uint32_t
longest_wait(const td_idle_thread *thread) {
  uint32_t longest = 0;
  for (uint32_t i = 1; i < TD_IDLE_DEVICES; i++)
    if (thread->waited_for[i] > thread->waited_for[longest]) longest = i;
  return longest;
}

static void
print_thread(const td_idle *idle, const td_idle_thread *thread) {
  g_autofree char *name = td_line_dup(thread->name, TD_NAME_SHOWN);
  uint32_t device = longest_wait(thread);
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    printf("%7.1f %%  ", percent(thread->parts[part], idle->wall));
  printf("%s", name);
  if (idle->devices[device] && thread->waited_for[device])
    printf("; %.0f %% of `waiting` for %s",
           percent(thread->waited_for[device], thread->parts[TD_IDLE_waiting]),
           idle->devices[device]);
  putchar('\n');
}

void
td_idle_print_text(const char *path, const td_idle *idle) {
  g_autofree char *wall = td_format_ns((double)idle->wall);
  g_autofree char *passes = td_format_many(idle->n_passes, "backward pass", "backward passes");
  printf("%s: %s; one was under way for %s\n", path, passes, wall);
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    printf("%9s  ", td_idle_part_name((td_idle_part)part));
  puts("thread");
  for (uint32_t i = 0; i < MIN(idle->n_threads, SHOWN); i++)
    print_thread(idle, &idle->threads[i]);
  if (idle->n_threads > SHOWN)
    printf("%u more threads: --json has them all\n", idle->n_threads - SHOWN);
  puts("engine: in a pass, but at no node.  waiting: no ready task, while others run nodes.  "
       "waking: no thread runs a node.");
}
