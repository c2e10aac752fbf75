/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/commands/info_absent.h"
#include "app/commands/info_problems.h"
#include "app/commands/info_start.h"
#include "app/commands/info_steps.h"
#include "app/commands/info_summary.h"
#include "app/print/json_members.h"
#include "app/print/sentences.h"
#include "app/print/stopped_member.h"
#include "app/print/thread_label.h"
#include "engine/base/alloc.h"
#include "engine/base/line.h"
#include "engine/profile/knowledge.h"
#include "engine/profile/recorder_notes.h"
#include "engine/replay/catalog_collect.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GRAPH_TASKS_SHOWN 8

static const char *
status_of(const td_catalog_graph_task *facts) {
  const char *word = td_enum_word(TD_FIELD_ENUM_task_status, facts->status);
  return word ? word : "error";
}

static void
print_graph_tasks_json(td_json *json, const td_catalog *catalog) {
  td_json_key(json, "graph_tasks");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *facts = &catalog->graph_task_rows[i];
    td_json_begin_object(json);
    td_member_u64(json, "id", facts->id);
    td_member_u64(json, "depth", facts->depth);
    td_member_id(json, "owner", facts->owner);
    td_member_id(json, "root", facts->root);
    td_member_bool(json, "keep_graph", facts->keep_graph);
    td_member_u64(json, "begin", facts->begin_seq);
    td_member_u64(json, "end", facts->end_seq);
    td_member_u64(json, "duration_ns", facts->took_ns);
    td_member_string(json, "status", status_of(facts));
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_known_json(td_json *json, const td_tape_info *info) {
  td_json_key(json, "known");
  td_json_begin_object(json);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
    if (td_knowledge_applies(info, kind))
      td_member_string(json, td_event_type_get(kind)->name,
                       td_enum_word(TD_FIELD_ENUM_knowledge, info->known[kind]));
  td_json_end_object(json);
}

static void
print_processes_json(td_json *json, const td_catalog *catalog) {
  td_json_key(json, "processes");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_processes; i++) {
    const td_catalog_process *process = &catalog->processes[i];
    td_json_begin_object(json);
    td_member_u64(json, "id", i);
    td_member_id(json, "pid", process->pid ? process->pid : TD_NONE);
    td_member_id(json, "rank", process->rank >= 0 ? (uint32_t)process->rank : TD_NONE);
    td_member_string(json, "name", process->name);
    td_member_found(json, "clock_error_ns", process->clock_error_ns);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_threads_json(td_json *json, const td_tape_info *info, const td_catalog *catalog) {
  td_json_key(json, "threads");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_threads; i++) {
    if (!catalog->threads[i].named) continue;
    td_json_begin_object(json);
    td_member_u64(json, "id", i);
    td_member_string(json, "name", catalog->threads[i].name);
    td_member_string(json, "device", td_catalog_device_name(catalog, catalog->threads[i].device));
    td_member_u64(json, "process", catalog->threads[i].process);
    td_member_u64(json, "n_events", i < info->n_threads ? info->threads[i].n_events : 0);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_queues_json(td_json *json, const td_catalog *catalog) {
  td_json_key(json, "queues");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    const td_catalog_queue *queue = &catalog->queues[i];
    if (!queue->named) continue;
    td_json_begin_object(json);
    td_member_u64(json, "id", i);
    td_member_string(json, "device", td_catalog_device_name(catalog, queue->device));
    td_member_id(json, "graph_task", queue->graph_task);
    td_member_id(json, "owner", queue->owner);
    td_member_string(json, "order", td_enum_word(TD_FIELD_ENUM_queue_order, queue->order));
    td_member_u64(json, "max_size", queue->max_size);
    td_json_end_object(json);
  }
  td_json_end_array(json);
}

static void
print_devices_json(td_json *json, const td_catalog *catalog) {
  td_json_key(json, "devices");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    td_json_string(json, td_catalog_device_name(catalog, catalog->devices[i].device));
  td_json_end_array(json);
}

static void
print_settings_json(td_json *json, const td_catalog *catalog) {
  td_json_key(json, "settings");
  td_json_begin_object(json);
  for (uint32_t i = 0; i < catalog->n_settings; i++)
    td_member_string(json, catalog->settings[i].name, catalog->settings[i].value);
  td_json_end_object(json);
}

static void
print_kinds_json(td_json *json, const td_tape_info *info) {
  td_json_key(json, "events_by_kind");
  td_json_begin_object(json);
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++)
    if (info->n_by_kind[kind])
      td_member_u64(json, td_event_type_get(kind)->name, info->n_by_kind[kind]);
  td_json_end_object(json);
}

/* "2026-11-21T06:35:00.123456Z", or NULL: an imported trace may not know. */
static char *
format_started(const td_tape_info *info) {
  g_autoptr(GDateTime) seconds =
      g_date_time_new_from_unix_utc((gint64)(info->started_ns / 1000000000));
  if (!seconds || info->started_ns == 0) return NULL;
  g_autofree char *text = g_date_time_format(seconds, "%Y-%m-%dT%H:%M:%S");
  return g_strdup_printf("%s.%06uZ", text, (unsigned)(info->started_ns % 1000000000 / 1000));
}

/* An outline has few of them. */
static uint64_t
count_nodes(const td_tape_info *info, const td_catalog *catalog) {
  return td_info_is_outline(catalog) ? info->n_by_kind[TD_EVENT_node_new] : catalog->n_nodes;
}

static uint64_t
count_edges(const td_tape_info *info, const td_catalog *catalog) {
  return td_info_is_outline(catalog) ? info->n_by_kind[TD_EVENT_edge_new] : catalog->n_edges;
}

static void
print_json(td_tape *tape, const td_catalog *catalog, const td_summary *summary) {
  const td_tape_info *info = td_tape_info_get(tape);
  g_autofree char *started = format_started(info);
  td_json writer, *json = &writer;
  td_json_init(json, stdout);
  td_json_begin_object(json);
  td_member_u64(json, "version", info->version);
  td_member_string(json, "source", catalog->source);
  td_member_string(json, "engine", catalog->engine);
  td_member_string(json, "engine_version", catalog->version);
  td_member_string(json, "policy", catalog->policy);
  td_member_u64(json, "probe_level", catalog->probe_level);
  td_member_string(json, "probe_level_name", td_knowledge_level_name(catalog->probe_level));
  td_member_string(json, "probe_reason", catalog->probe_reason);
  td_member_string(json, "started", started);
  td_member_u64(json, "duration_ns", info->duration_ns);
  td_info_start_json(json, tape, catalog);
  td_member_u64(json, "file_bytes", info->file_bytes);
  td_member_u64(json, "n_events", info->n_events);
  td_member_u64(json, "n_nodes", count_nodes(info, catalog));
  td_member_u64(json, "n_edges", count_edges(info, catalog));
  print_graph_tasks_json(json, catalog);
  print_processes_json(json, catalog);
  print_threads_json(json, info, catalog);
  print_queues_json(json, catalog);
  print_devices_json(json, catalog);
  print_settings_json(json, catalog);
  td_info_print_steps_json(json, catalog);
  print_kinds_json(json, info);
  print_known_json(json, info);
  td_info_absent_json(json, info, catalog->probe_level);
  td_member_stopped(json, catalog->recorder_stopped);
  td_member_u64(json, "dropped", info->n_dropped);
  td_member_u64(json, "unknown", info->n_unknown);
  td_member_bool(json, "complete", info->complete);
  td_member_string(json, "damage", info->damage);
  td_info_summary_json(json, catalog, summary);
  td_info_problems_json(json, tape, catalog);
  td_json_end_object(json);
  td_json_newline(json);
}

/* Frees the text. */
static void
print_line(const char *name, char *text) {
  char *line = td_line_make(text, TD_TEXT_SHOWN);
  printf("%-12s %s\n", name, line);
  free(line);
}

static void
print_stopped(const td_catalog *catalog) {
  uint32_t work = 0;
  const char *heading = "stopped", *note;
  for (; (note = td_recorder_notes_next(catalog->recorder_stopped, &work)); heading = "")
    printf("%-12s %s\n", heading, note);
}

/* Observed kinds are the normal case: a tape of Tapedeck's own engine does not list them. */
static void
print_knowledge(const td_tape_info *info, const td_catalog *catalog) {
  printf("%-12s %u, %s\n", "probe level", catalog->probe_level,
         td_knowledge_level_name(catalog->probe_level));
  if (*catalog->probe_reason) print_line("", td_dup_string(catalog->probe_reason));
  for (td_knowledge how = TD_knowledge_observed; how < TD_knowledge_absent; how++) {
    char *kinds = td_knowledge_list(info, how);
    bool told = *kinds && (how != TD_knowledge_observed || catalog->probe_level > 0);
    if (told) printf("%-12s %s\n", td_enum_word(TD_FIELD_ENUM_knowledge, how), kinds);
    free(kinds);
  }
  td_info_print_absent(info, catalog->probe_level);
  print_stopped(catalog);
}

/* Times of several processes are matched by their clocks. */
static void
print_process(const td_catalog *catalog, uint32_t process) {
  uint64_t error_ns = catalog->processes[process].clock_error_ns;
  g_autofree char *number = g_strdup_printf("%u", process);
  g_autofree char *label = td_catalog_process_label(catalog, process);
  g_autofree char *error = td_format_ns((double)error_ns);
  td_printed sentence = error_ns == UINT64_MAX ? TD_PRINTED_process_elsewhere
                        : error_ns > 0         ? TD_PRINTED_process_exact
                                               : TD_PRINTED_process;
  printf("%-12s ", "");
  td_printed_print(sentence, {"number", number}, {"process", label}, {"error", error});
  putchar('\n');
}

static void
print_processes(const td_catalog *catalog) {
  if (catalog->n_processes == 1 && catalog->processes[0].rank >= 0)
    printf("%-12s %d\n", "rank", (int)catalog->processes[0].rank);
  if (catalog->n_processes < 2) return;
  printf("%-12s %u\n", "processes", catalog->n_processes);
  for (uint32_t i = 0; i < catalog->n_processes; i++)
    print_process(catalog, i);
}

static void
print_threads(const td_tape_info *info, const td_catalog *catalog) {
  const char *heading = "threads";
  for (uint32_t i = 0; i < catalog->n_threads; i++) {
    if (!catalog->threads[i].named) continue;
    g_autofree char *label = td_thread_label(catalog, i);
    g_autofree char *events =
        td_format_many(i < info->n_threads ? info->threads[i].n_events : 0, "event", "events");
    const char *device = td_catalog_device_label(catalog, catalog->threads[i].device);
    printf("%-12s %u %s (%s), %s\n", heading, i, label, device, events);
    heading = "";
  }
}

static void
print_queues(const td_catalog *catalog) {
  const char *heading = "queues";
  for (uint32_t i = 0; i < catalog->n_queues; i++) {
    if (!catalog->queues[i].named) continue;
    g_autofree char *tasks = td_format_many(catalog->queues[i].max_size, "task", "tasks");
    const char *device = td_catalog_device_label(catalog, catalog->queues[i].device);
    printf("%-12s %u %s, %s order, at most %s in it\n", heading, i, device,
           td_enum_word(TD_FIELD_ENUM_queue_order, catalog->queues[i].order), tasks);
    heading = "";
  }
}

/* A training run has thousands of passes. This prints the first few and the last, and how many
 * lie between. */
static void
print_graph_tasks(const td_catalog *catalog) {
  for (uint32_t i = 0; i < catalog->n_graph_tasks; i++) {
    const td_catalog_graph_task *facts = &catalog->graph_task_rows[i];
    if (i == GRAPH_TASKS_SHOWN && catalog->n_graph_tasks > GRAPH_TASKS_SHOWN + 2) {
      uint32_t n_hidden = catalog->n_graph_tasks - 1 - i;
      printf("%-12s ... %u more; --json lists all\n", "", n_hidden);
      i += n_hidden - 1;
      continue;
    }
    char *time = td_format_ns((double)facts->took_ns);
    printf("%-12s %u %s, depth %u, events %" PRIu64 " to %" PRIu64 ", %s\n", i ? "" : "graph tasks",
           facts->id, status_of(facts), facts->depth, facts->begin_seq, facts->end_seq,
           facts->took_ns ? time : "no end");
    free(time);
  }
}

static void
print_devices(const td_catalog *catalog) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (uint32_t i = 0; i < catalog->n_devices; i++)
    g_string_append_printf(names, "%s%s", i ? ", " : "",
                           td_catalog_device_name(catalog, catalog->devices[i].device));
  print_line("devices", td_dup_string(names->str));
}

static void
print_settings(const td_catalog *catalog) {
  for (uint32_t i = 0; i < catalog->n_settings; i++)
    print_line(i ? "" : "settings",
               td_format("%s %s", catalog->settings[i].name, catalog->settings[i].value));
}

static void
print_kinds(const td_tape_info *info) {
  const char *heading = "kinds";
  for (uint32_t kind = 0; kind < TD_EVENT_LIMIT; kind++) {
    if (!info->n_by_kind[kind]) continue;
    char *count = td_format_count(info->n_by_kind[kind]);
    printf("%-12s %-16s %s\n", heading, td_event_type_get(kind)->name, count);
    free(count);
    heading = "";
  }
}

static void
print_text(td_tape *tape, const td_catalog *catalog, const td_summary *summary) {
  const td_tape_info *info = td_tape_info_get(tape);
  g_autofree char *started = format_started(info);
  print_line("tape", td_dup_string(td_tape_path(tape)));
  print_line("source", td_dup_string(catalog->source));
  print_line("engine",
             td_format("%s%s%s", catalog->engine, *catalog->version ? " " : "", catalog->version));
  print_knowledge(info, catalog);
  printf("%-12s %s\n", "started", started ? started : "unknown");
  print_line("duration", td_format_ns((double)info->duration_ns));
  td_info_print_start(tape, catalog);
  print_line("size", td_format_bytes(info->file_bytes));
  printf("%-12s %s\n", "damage", info->damage ? info->damage : "none");
  print_line("dropped", td_format_count(info->n_dropped));
  print_line("events", td_format_count(info->n_events));
  print_line("nodes", td_format_count(count_nodes(info, catalog)));
  print_line("edges", td_format_count(count_edges(info, catalog)));
  print_devices(catalog);
  print_settings(catalog);
  td_info_print_steps(catalog);
  print_processes(catalog);
  print_threads(info, catalog);
  print_queues(catalog);
  print_graph_tasks(catalog);
  td_info_print_slowest(catalog, summary);
  td_info_print_problems(tape, catalog);
  print_kinds(info);
}

/* Of a tape that is cut, its outline is enough, unless the user wants times of nodes. */
static td_status
collect(td_tape *tape, bool slowest, td_catalog **catalog, td_error *error) {
  bool is_whole = slowest || td_tape_n_segments(tape) == 0;
  td_segment outline = td_tape_outline(tape);
  if (is_whole) return td_catalog_collect_whole(tape, catalog, error);
  td_status status = td_catalog_collect(tape, &outline, catalog, error);
  if (status != TD_DAMAGED) return status;
  td_command_say_whole(td_tape_path(tape), error);
  return td_catalog_collect_whole(tape, catalog, error);
}

int
td_command_info(int argc, char **argv) {
  gboolean as_json = FALSE, slowest = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL},
      {"slowest", 0, 0, G_OPTION_ARG_NONE, &slowest,
       "Look for the slowest nodes of a long tape too: reads all its events", NULL},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (!td_command_parse("info", entries, false, 1, 1, &argc, &argv, &status)) return status;
  td_error error = {0};
  td_tape *tape = NULL;
  td_catalog *catalog = NULL;
  td_status opened = td_tape_open(argv[1], &tape, &error);
  if (opened == TD_OK) opened = collect(tape, slowest, &catalog, &error);
  td_summary summary = {0};
  if (opened == TD_OK) opened = td_summary_make(tape, catalog, &summary, &error);
  if (opened == TD_OK && as_json) print_json(tape, catalog, &summary);
  if (opened == TD_OK && !as_json) print_text(tape, catalog, &summary);
  if (opened == TD_OK) opened = td_tape_check_readable(tape, &error);
  td_summary_fini(&summary);
  td_catalog_free(catalog);
  td_tape_close(tape);
  return opened == TD_OK ? TD_EXIT_OK : td_command_file_error(argv[1], &error);
}
