/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/findings/findings.h"

#include "app/command.h"
#include "app/print/json_members.h"
#include "app/print/sentences.h"
#include "app/print/stopped_member.h"
#include "engine/profile/recorder_notes.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <stdlib.h>

static void
write_unjudged(td_json *json, const td_findings *findings) {
  td_json_key(json, "unjudged");
  td_json_begin_array(json);
  for (td_finding_kind kind = 0; kind < TD_N_FINDING_KINDS; kind++)
    if (findings->unjudged[kind]) td_json_string(json, td_finding_kind_name(kind));
  td_json_end_array(json);
}

static void
print_json(const td_tape_info *info, const td_findings *findings) {
  td_json writer, *json = &writer;
  td_json_init(json, stdout);
  td_json_begin_object(json);
  td_member_text(json, "looked_for", findings->looked_for);
  td_json_key(json, "status");
  td_json_i64(json, findings->status);
  write_unjudged(json, findings);
  td_member_stopped(json, findings->recorder_stopped);
  td_member_text(json, "damage", info->damage);
  td_member_u64(json, "dropped", info->n_dropped);
  td_member_u64(json, "left_out", findings->n_left_out);
  td_json_key(json, "findings");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < findings->n; i++) {
    const td_finding *finding = &findings->items[i];
    td_json_begin_object(json);
    td_member_string(json, "kind", td_finding_kind_name(finding->kind));
    td_member_u64(json, "seq", finding->seq);
    td_member_id(json, "node", finding->node);
    td_member_id(json, "step", finding->step);
    td_member_id(json, "graph_task", finding->graph_task);
    td_member_u64(json, "n", finding->n);
    td_member_string(json, "text", finding->text);
    td_member_text(json, "advice", finding->advice);
    td_member_text(json, "line", finding->line);
    td_member_text(json, "source", finding->source);
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_end_object(json);
  td_json_newline(json);
}

/* "event 343, step 3, backward pass 4 (graph task 3), net.py:7", as far as it is known. */
static char *
dup_place(const td_finding *finding) {
  const char *parts[5] = {0};
  g_autofree char *event = g_strdup_printf("event %" PRIu64, finding->seq);
  g_autofree char *step = g_strdup_printf("step %u", finding->step);
  guint n = 0;
  parts[n++] = event;
  if (finding->step != TD_NONE) parts[n++] = step;
  char *pass = td_finding_dup_pass(finding);
  if (pass) parts[n++] = pass;
  parts[n] = finding->line;
  char *place = g_strjoinv(", ", (char **)parts);
  free(pass);
  return place;
}

static void
print_finding(const td_finding *finding) {
  g_autofree char *times = td_format_count(finding->n);
  g_autofree char *place = dup_place(finding);
  printf("\n%s", td_finding_kind_title(finding->kind));
  if (finding->n > 1) printf(", %s times", times);
  printf("\n  %s\n", finding->text);
  if (*finding->advice) printf("  %s\n", finding->advice);
  printf("  %s\n", place);
  if (finding->source) printf("  That line: %s\n", finding->source);
}

/* td_findings_search_note says what the recording did not look for. */
static void
print_unjudged(const td_findings *findings) {
  const char *before = "Not judged, because the tape has no such events, or too many: ";
  for (td_finding_kind kind = TD_FINDING_nonfinite + 1; kind < TD_N_FINDING_KINDS; kind++) {
    if (!findings->unjudged[kind]) continue;
    printf("%s%s", before, td_finding_kind_title(kind));
    before = "; ";
  }
  if (*before == ';') printf(".\n");
}

static void
print_stopped(const td_findings *findings) {
  uint32_t work = 0;
  for (const char *note; (note = td_recorder_notes_next(findings->recorder_stopped, &work));)
    printf("%s\n", note);
}

static void
print_limits(const td_tape_info *info, const td_findings *findings) {
  g_autofree char *left_out =
      td_format_many(findings->n_left_out, "more finding is", "more findings are");
  if (findings->n) printf("\n");
  if (findings->n_left_out) printf("%s left out.\n", left_out);
  if (findings->status && !findings->n)
    printf("The tape shows no cause. What the program printed may say one.\n");
  if (findings->lacks_lines)
    printf("The recording remembered no lines of the forward pass: record --stacks does.\n");
  const char *search = td_findings_search_note(findings);
  if (*search) printf("%s\n", search);
  print_unjudged(findings);
  print_stopped(findings);
  if (info->damage) printf("The tape is damaged: %s.\n", info->damage);
  if (info->damage || info->n_dropped) printf("Events that the tape lacks may show more.\n");
}

/* A chain leads to the cause of a value that is not finite. Of the other kinds it tells only how
 * the task came to run. */
static void
print_next(const char *path, const td_findings *findings) {
  const td_finding *first = &findings->items[0];
  printf("\nSee one in the window: tapedeck open %s --at EVENT\n", path);
  if (first->kind == TD_FINDING_nonfinite)
    printf("What led to it: tapedeck why %s --chain --at %" PRIu64 "\n", path, first->seq);
}

static void
print_text(const char *path, const td_tape_info *info, const td_findings *findings) {
  g_autofree char *count = td_format_many(findings->n, "finding", "findings");
  g_autofree char *status = g_strdup_printf("%d", findings->status);
  td_printed_print(findings->status ? TD_PRINTED_findings_of_failed : TD_PRINTED_findings,
                   {"path", path}, {"findings", findings->n ? count : "no findings"},
                   {"status", status});
  putchar('\n');
  for (uint32_t i = 0; i < findings->n; i++)
    print_finding(&findings->items[i]);
  print_limits(info, findings);
  if (findings->n) print_next(path, findings);
}

int
td_command_findings(int argc, char **argv) {
  gboolean as_json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (!td_command_parse("findings", entries, false, 1, 1, &argc, &argv, &status)) return status;
  td_error error = {0};
  td_tape *tape = NULL;
  td_findings findings = {0};
  td_status made = td_tape_open(argv[1], &tape, &error);
  if (made == TD_OK) made = td_findings_make(tape, &findings, &error);
  if (made == TD_OK && as_json) print_json(td_tape_info_get(tape), &findings);
  if (made == TD_OK && !as_json) print_text(argv[1], td_tape_info_get(tape), &findings);
  if (made == TD_OK) made = td_tape_check_readable(tape, &error);
  status = findings.n ? TD_EXIT_BAD : TD_EXIT_OK;
  td_findings_fini(&findings);
  td_tape_close(tape);
  return made == TD_OK ? status : td_command_file_error(argv[1], &error);
}
