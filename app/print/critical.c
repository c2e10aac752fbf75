/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/critical.h"

#include "app/common/columns.h"
#include "app/print/json_members.h"
#include "app/print/sentences.h"
#include "ui/geometry/format.h"

#include <glib.h>
#include <inttypes.h>

static const char *const link_names[] = {
    [TD_CRITICAL_begin] = "begin",   [TD_CRITICAL_gradient] = "gradient",
    [TD_CRITICAL_thread] = "thread", [TD_CRITICAL_lock] = "lock",
    [TD_CRITICAL_launch] = "launch", [TD_CRITICAL_stream] = "stream"};

/* No schedule on as many threads takes less. */
static uint64_t
least(const td_critical_report *report) {
  return report->work / MAX(report->n_workers, 1u);
}

/* ---- JSON ---- */

static void
write_wait(td_json *json, const char *key, const td_critical_wait *wait, bool is_lock) {
  td_json_key(json, key);
  if (!wait->n) return td_json_null(json);
  td_json_begin_object(json);
  td_member_string(json, "name", wait->name);
  if (is_lock) td_member_string(json, "holder", wait->holder);
  td_member_string(json, "node", wait->node);
  td_member_string(json, "line", wait->line);
  td_member_u64(json, "wait", wait->ns);
  td_member_u64(json, "inside", wait->inside);
  td_member_u64(json, "waits", wait->n);
  td_json_end_object(json);
}

static void
write_part(td_json *json, const td_critical_part *part) {
  td_json_begin_object(json);
  td_member_u64(json, "ns", part->ns);
  td_member_u64(json, "steps", part->n_steps);
  td_member_string(json, "waited_for", link_names[part->link]);
  td_member_string(json, "thread", part->thread);
  td_member_string(json, "stream", part->stream);
  td_member_string(json, "what", part->what);
  td_member_u64(json, "what_ns", part->what_ns);
  td_member_u64(json, "first", part->first);
  td_member_u64(json, "last", part->last);
  write_wait(json, "lock", &part->lock_wait, true);
  write_wait(json, "stream_wait", &part->stream_wait, false);
  td_json_end_object(json);
}

static void
write_slack(td_json *json, const td_critical_slack *slack) {
  td_json_begin_object(json);
  td_member_u64(json, "node", slack->node);
  td_member_string(json, "name", slack->name);
  td_member_u64(json, "slack", slack->ns);
  td_json_end_object(json);
}

void
td_critical_print_json(const td_critical_report *report) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "unit", "ns");
  td_member_u64(&json, "graph_task", report->graph_task);
  td_member_u64(&json, "passes", report->n_passes);
  td_member_bool(&json, "first_left_out", report->left_out_first);
  td_member_u64(&json, "wall", report->wall);
  td_member_u64(&json, "lead", report->lead);
  td_member_u64(&json, "tail", report->tail);
  td_member_u64(&json, "critical_path", report->length);
  td_member_u64(&json, "work", report->work);
  td_member_u64(&json, "workers", report->n_workers);
  td_member_u64(&json, "work_over_workers", least(report));
  td_member_u64(&json, "steps", report->n_steps);
  td_json_key(&json, "parts");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < report->n_parts; i++)
    write_part(&json, &report->parts[i]);
  td_json_end_array(&json);
  td_json_key(&json, "nodes");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < report->n_tasks; i++)
    write_slack(&json, &report->slacks[i]);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}

/* ---- text ---- */

static void
print_head(const char *path, const td_critical_report *report) {
  g_autofree char *wall = td_format_ns((double)report->wall);
  g_autofree char *length = td_format_ns((double)report->length);
  g_autofree char *work = td_format_ns((double)report->work);
  g_autofree char *steps = td_format_many(report->n_steps, "node", "nodes");
  g_autofree char *tasks = td_format_count(report->n_tasks);
  printf("%s: graph task %u took %s; the longest path has %s of %s and takes %s\n", path,
         report->graph_task, wall, steps, tasks, length);
  if (report->left_out_first)
    puts("The first pass of the tape is left out, because much happens in it for the first time. "
         "--pass N chooses it.");
  if (report->n_passes > 1)
    printf("%u passes overlapped it. They share threads, so the path may go through them.\n",
           report->n_passes - 1);
  g_autofree char *share = td_format_ns((double)least(report));
  g_autofree char *workers = td_format_many(report->n_workers, "thread", "threads");
  printf("All nodes together take %s: on %s at least %s. A part follows the one before because of "
         "its `waited for`.\n",
         work, workers, share);
}

static char *
dup_place(const td_critical_wait *wait) {
  return wait->line ? td_printed_dup(TD_PRINTED_place, {"node", wait->node}, {"line", wait->line})
                    : g_strdup(wait->node);
}

static void
print_wait(const td_critical_wait *wait, td_printed at_node) {
  if (!wait->n) return;
  g_autofree char *time = td_format_ns((double)wait->ns), *place = dup_place(wait);
  g_autofree char *text = td_printed_dup(wait->n > 1 ? TD_PRINTED_wait_longest : TD_PRINTED_wait,
                                         {"time", time}, {"what", wait->name});
  printf("; ");
  if (wait->node)
    td_printed_print(at_node, {"wait", text}, {"holder", wait->holder}, {"place", place});
  else if (wait->holder)
    td_printed_print(TD_PRINTED_wait_lock, {"wait", text}, {"holder", wait->holder});
  else
    fputs(text, stdout);
}

static void
print_part(const td_critical_report *report, const td_critical_part *part) {
  g_autofree char *time = td_format_ns((double)part->ns);
  double share = report->length ? 100 * (double)part->ns / (double)report->length : 0;
  td_column_print(time, 9);
  printf("%5.1f %%  %5u  %-10s  %-17s  #%u", share, part->n_steps, link_names[part->link],
         part->stream ? part->stream : part->thread, part->first);
  if (part->last != part->first) printf(" … #%u", part->last);
  printf("  %s", part->what);
  print_wait(&part->lock_wait, TD_PRINTED_wait_lock_at);
  print_wait(&part->stream_wait, TD_PRINTED_wait_kernel);
  putchar('\n');
}

/* How many nodes could take longer without a longer path, and by how much. */
static void
print_slack(const td_critical_report *report) {
  uint64_t most = 0;
  uint32_t n_free = 0;
  for (uint32_t i = 0; i < report->n_tasks; i++) {
    most = MAX(most, report->slacks[i].ns);
    n_free += report->slacks[i].ns > 0;
  }
  g_autofree char *time = td_format_ns((double)most);
  if (n_free)
    printf("%u nodes have slack, up to %s: they could take longer. --json has each node's.\n",
           n_free, time);
  else
    puts("No node has slack: each is on a longest path.");
}

void
td_critical_print_text(const char *path, const td_critical_report *report) {
  print_head(path, report);
  printf("%9s  %7s  %5s  %-10s  %-17s  nodes\n", "time", "share", "n", "waited for",
         "thread or stream");
  for (uint32_t i = 0; i < report->n_parts; i++)
    print_part(report, &report->parts[i]);
  print_slack(report);
}
