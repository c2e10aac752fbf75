/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/command.h"
#include "app/print/thread_label.h"
#include "engine/base/json.h"
#include "engine/profile/why/why.h"
#include "engine/replay/catalog_visit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ANY G_MININT64 /* an id that was not asked for */

typedef struct filter {
  uint64_t from, to; /* inclusive */
  uint32_t node, thread;
  bool any_kind, kinds[TD_EVENT_LIMIT];
} filter;

typedef struct options {
  gboolean json;
  gint64 from, to, node, thread;
  gchar **kinds;
} options;

static bool
passes(const filter *filter, const td_any_event *event) {
  if (!filter->any_kind && !filter->kinds[event->event.kind]) return false;
  if (filter->thread != TD_NONE && event->event.thread != filter->thread) return false;
  return filter->node == TD_NONE || td_event_names(&event->event, TD_ID_NODE, filter->node);
}

static void
print_text(td_tape *tape, const td_catalog *catalog, uint64_t seq, const td_any_event *event) {
  char *text = td_why_describe(catalog, tape, event);
  g_autofree char *thread = td_thread_label(catalog, event->event.thread);
  printf("%8" PRIu64 "  %14" PRIu64 "  %-12s  %-16s  %s\n", seq, event->event.time, thread,
         td_event_type_get(event->event.kind)->name, text);
  free(text);
}

typedef struct printing {
  td_tape *tape;
  const filter *filter;
} printing;

/* The graph is collected for the names in readable text; JSON has ids alone and needs none. */
static td_status
print_events(const td_catalog *catalog, uint64_t first, uint64_t end, void *data, td_error *error) {
  const printing *self = data;
  const filter *filter = self->filter;
  td_json json;
  td_json_init(&json, stdout);
  for (uint64_t seq = first; seq < end && !ferror(stdout); seq++) {
    td_any_event event;
    td_status status = td_tape_get(self->tape, seq, &event, NULL);
    if (status == TD_IO || status == TD_OUT_OF_MEMORY) break;
    if (status != TD_OK || !passes(filter, &event)) continue;
    if (catalog) {
      print_text(self->tape, catalog, seq, &event);
    } else {
      td_tape_print_json(self->tape, seq, &event, &json);
      td_json_newline(&json);
    }
  }
  return td_tape_check_readable(self->tape, error);
}

static int
print_tape(const char *path, const filter *filter, bool as_json) {
  td_error error = {0};
  printing self = {.filter = filter};
  td_status status = td_tape_open(path, &self.tape, &error);
  uint64_t first = filter->from, end = filter->to < G_MAXINT64 ? filter->to + 1 : filter->to;
  if (status == TD_OK) end = MIN(end, td_tape_info_get(self.tape)->n_events);
  if (status == TD_OK && as_json) status = print_events(NULL, first, end, &self, &error);
  if (status == TD_OK && !as_json && first < end)
    status = td_catalog_visit(self.tape, first, end, print_events, &self, &error);
  td_tape_close(self.tape);
  return status == TD_OK ? TD_EXIT_OK : td_command_file_error(path, &error);
}

static bool
read_kinds(gchar **names, filter *filter) {
  filter->any_kind = !names;
  for (size_t i = 0; names && names[i]; i++) {
    td_event_kind kind = td_event_kind_find(names[i]);
    if (kind == TD_EVENT_none) {
      td_command_bad_usage(
          "events", "--kind '%s': must be a kind of event; `tapedeck info` lists those of a tape",
          names[i]);
      return false;
    }
    filter->kinds[kind] = true;
  }
  return true;
}

static bool
read_id(const char *option, gint64 value, uint32_t *id) {
  *id = value == ANY ? TD_NONE : (uint32_t)value;
  if (value == ANY || (value >= 0 && value < (gint64)TD_NONE)) return true;
  td_command_bad_usage("events", "%s %" G_GINT64_FORMAT ": must be a number from 0 up", option,
                       value);
  return false;
}

static bool
read_filter(const options *options, filter *filter) {
  if (options->from < 0 || options->to < 0) {
    td_command_bad_usage("events", "--from and --to: must be the numbers of events");
    return false;
  }
  filter->from = (uint64_t)options->from;
  filter->to = (uint64_t)options->to;
  return read_kinds(options->kinds, filter) && read_id("--node", options->node, &filter->node) &&
         read_id("--thread", options->thread, &filter->thread);
}

int
td_command_events(int argc, char **argv) {
  options options = {.to = G_MAXINT64, .node = ANY, .thread = ANY};
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON Lines: one object per event",
       NULL},
      {"from", 0, 0, G_OPTION_ARG_INT64, &options.from, "First event", "SEQ"},
      {"to", 0, 0, G_OPTION_ARG_INT64, &options.to, "Last event", "SEQ"},
      {"kind", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.kinds, "Only this kind; may be repeated",
       "KIND"},
      {"node", 0, 0, G_OPTION_ARG_INT64, &options.node, "Only events that name this node", "N"},
      TD_TRUST_ENTRY,
      {"thread", 0, 0, G_OPTION_ARG_INT64, &options.thread, "Only events of this thread", "T"},
      {0}};
  int status;
  filter filter = {0};
  if (td_command_parse("events", entries, false, 1, 1, &argc, &argv, &status))
    status =
        read_filter(&options, &filter) ? print_tape(argv[1], &filter, options.json) : TD_EXIT_USAGE;
  g_strfreev(options.kinds);
  return status;
}
