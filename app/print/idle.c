/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/idle.h"

#include "app/common/columns.h"
#include "app/print/json_members.h"
#include "engine/base/line.h"
#include "ui/geometry/format.h"

#include <glib.h>

#define SHOWN 40 /* threads, for people */
#define CULPRITS_SHOWN 5

/* ---- JSON ---- */

static void
write_stretch(td_json *json, const td_idle_stretch *stretch) {
  if (!stretch->ns) return td_json_null(json);
  td_json_begin_object(json);
  td_member_string(json, "part",
                   stretch->part == TD_IDLE_no_ready ? "asleep" : td_idle_part_name(stretch->part));
  td_member_u64(json, "begin_seq", stretch->begin_seq);
  td_member_u64(json, "begin", stretch->begin_ns);
  td_member_u64(json, "end", stretch->end_ns);
  td_json_end_object(json);
}

static void
write_thread(td_json *json, const td_idle *idle, const td_idle_thread *thread) {
  td_json_begin_object(json);
  td_member_string(json, "thread", thread->name);
  td_member_text(json, "device", thread->device);
  td_json_key(json, "parts");
  td_json_begin_object(json);
  for (int part = 0; part < TD_N_IDLE_PARTS; part++) {
    td_member_known(json, td_idle_part_name((td_idle_part)part), thread->parts[part],
                    idle->is_known[part]);
  }
  td_json_end_object(json);
  td_json_key(json, "longest");
  write_stretch(json, &thread->longest);
  td_json_key(json, "waited_for");
  td_json_begin_object(json);
  for (int i = 0; i < TD_IDLE_DEVICES; i++)
    if (idle->devices[i] && thread->waited_for[i])
      td_member_u64(json, idle->devices[i], thread->waited_for[i]);
  td_json_end_object(json);
  td_json_end_object(json);
}

static void
write_culprit(td_json *json, const td_idle_culprit *culprit) {
  td_json_begin_object(json);
  td_member_string(json, "who", culprit->who);
  td_member_string(json, "part", td_idle_part_name(culprit->part));
  td_member_u64(json, "ns", culprit->ns);
  td_json_end_object(json);
}

static void
write_reasons(td_json *json, const td_idle *idle) {
  td_json_key(json, "reasons");
  td_json_begin_object(json);
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    if (!idle->is_known[part])
      td_member_string(json, td_idle_part_name((td_idle_part)part), idle->reasons[part]);
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
  td_json_key(&json, "culprits");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < idle->n_culprits; i++)
    write_culprit(&json, &idle->culprits[i]);
  td_json_end_array(&json);
  write_reasons(&json, idle);
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

/* Columns without any time would only take room. */
static bool
is_shown(const td_idle *idle, int part) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < idle->n_threads; i++)
    sum += idle->threads[i].parts[part];
  return sum > 0 && idle->is_known[part];
}

static void
print_thread(const td_idle *idle, const td_idle_thread *thread, const bool *shown) {
  g_autofree char *name = td_line_dup(thread->name, TD_NAME_SHOWN);
  uint32_t device = longest_wait(thread);
  uint64_t waited = thread->parts[TD_IDLE_no_ready] + thread->parts[TD_IDLE_other_device];
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    if (shown[part]) printf("%10.1f %%  ", percent(thread->parts[part], idle->wall));
  printf("%s", name);
  if (idle->devices[device] && thread->waited_for[device])
    printf("; %.0f %% of its sleep while %s ran", percent(thread->waited_for[device], waited),
           idle->devices[device]);
  putchar('\n');
}

static void
print_notes(const td_idle *idle) {
  static const char *const notes[TD_N_IDLE_PARTS] = {
      [TD_IDLE_engine] = "in a pass, but at no node",
      [TD_IDLE_no_ready] = "no ready task, while its own device runs nodes",
      [TD_IDLE_other_device] = "no ready task, while other devices run nodes",
      [TD_IDLE_waking] = "no thread runs a node",
      [TD_IDLE_stream] = "waits for kernels of a device",
      [TD_IDLE_no_core] = "could run, but other threads had the cores",
      [TD_IDLE_collective] = "waits for an operation of several processes",
      [TD_IDLE_late] = "in no pass yet, while others are",
      [TD_IDLE_outside] = "in no pass"};
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    if (notes[part] && is_shown(idle, part))
      printf("%s: %s\n", td_idle_part_name((td_idle_part)part), notes[part]);
  for (int part = 0; part < TD_N_IDLE_PARTS; part++)
    if (!idle->is_known[part])
      printf("–  %s: %s\n", td_idle_part_name((td_idle_part)part), idle->reasons[part]);
}

/* What a culprit did, or what it is. */
static const char *
deed_of(const td_idle_culprit *culprit) {
  static const char *const deeds[TD_N_IDLE_PARTS] = {
      [TD_IDLE_other_device] = "its nodes ran while threads slept",
      [TD_IDLE_stream] = "threads waited for its kernels",
      [TD_IDLE_lock] = "had a lock",
      [TD_IDLE_gil] = "had Python's global lock",
      [TD_IDLE_callbacks] = "final callback",
      [TD_IDLE_collective] = "collective operation, while every process was in it",
      [TD_IDLE_late] = "late: others waited for it in final callbacks or collective operations"};
  bool is_thread = culprit->kind == TD_IDLE_THREAD;
  return culprit->part == TD_IDLE_collective && is_thread
             ? "still ran nodes: others waited for it in collective operations"
             : deeds[culprit->part];
}

static void
print_culprits(const td_idle *idle) {
  if (idle->n_culprits) puts("Who was waited for longest:");
  for (uint32_t i = 0; i < MIN(idle->n_culprits, CULPRITS_SHOWN); i++) {
    const td_idle_culprit *culprit = &idle->culprits[i];
    g_autofree char *who = td_line_dup(culprit->who, TD_NAME_SHOWN);
    g_autofree char *time = td_format_ns((double)culprit->ns);
    td_column_print(time, 10);
    printf("%s: %s\n", who, deed_of(culprit));
  }
}

void
td_idle_print_text(const char *path, const td_idle *idle) {
  bool shown[TD_N_IDLE_PARTS];
  g_autofree char *wall = td_format_ns((double)idle->wall);
  g_autofree char *passes = td_format_many(idle->n_passes, "backward pass", "backward passes");
  printf("%s: %s; one was under way for %s\n", path, passes, wall);
  for (int part = 0; part < TD_N_IDLE_PARTS; part++) {
    shown[part] = is_shown(idle, part);
    if (shown[part]) printf("%12s  ", td_idle_part_name((td_idle_part)part));
  }
  puts("thread");
  for (uint32_t i = 0; i < MIN(idle->n_threads, SHOWN); i++)
    print_thread(idle, &idle->threads[i], shown);
  if (idle->n_threads > SHOWN)
    printf("%u more threads: --json has them all\n", idle->n_threads - SHOWN);
  print_culprits(idle);
  print_notes(idle);
}
