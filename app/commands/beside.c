/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/beside.h"

#include "app/command.h"
#include "app/commands/beside_text.h"
#include "app/common/capture.h"
#include "app/common/child.h"
#include "app/common/output_file.h"
#include "app/common/paths.h"
#include "app/print/diff_report.h"
#include "ui/geometry/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two engines add in another order, so float32 agrees to about five digits. */
#define TOLERANCE 1e-5

/* What one run of the script left. */
typedef struct side {
  int status;
  char *printed;   /* (owned) */
  char *complaint; /* (owned) its standard error */
} side;

static void
side_clear(side *side) {
  g_free(side->printed);
  g_free(side->complaint);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(side, side_clear)

/* The last line that is not Tapedeck's own: Python's line of an exception. */
static char *
last_line(const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = g_strv_length(lines); i > 0; i--)
    if (*lines[i - 1] && !g_str_has_prefix(lines[i - 1], "tapedeck: "))
      return g_strdup(lines[i - 1]);
  return g_strdup("");
}

static bool
run_side(char **argv, char **environment, bool shown, side *side) {
  td_capture printed, complaint;
  g_autofree char *problem = NULL;
  fflush(NULL);
  bool began = td_capture_begin(&printed, 1, shown);
  if (began && !td_capture_begin(&complaint, 2, shown)) {
    g_free(td_capture_end(&printed));
    began = false;
  }
  if (!began) {
    td_command_fail(argv[0], "%s", g_strerror(errno));
    return false;
  }
  side->status =
      td_child_run(&(td_child_options){.argv = argv, .environment = environment}, &problem);
  side->printed = td_capture_end(&printed);
  side->complaint = td_capture_end(&complaint);
  if (problem) td_command_fail(argv[0], "%s", problem);
  return !problem;
}

/* The version of the other PyTorch, or NULL after a message. */
static char *
ask_version(const char *python) {
  const char *const argv[] = {python, "-c", "import torch; print(torch.__version__)", NULL};
  g_autoptr(GError) error = NULL;
  g_autofree char *printed = NULL, *complaint = NULL;
  int status;
  if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &printed,
                    &complaint, &status, &error)) {
    td_command_fail(python, "%s", error->message);
    return NULL;
  }
  if (status == 0) return g_strdup(g_strchomp(printed));
  g_autofree char *why = last_line(complaint);
  td_command_fail(python, "it has no PyTorch to compare with: %s", why);
  return NULL;
}

/* PyTorch 1 behaves like 1.11 where versions differ. */
static const char *
semantics_of(const char *version) {
  return atoi(version) < 2 ? "1.11" : NULL;
}

/* "train.tape" becomes "train.pytorch.tape". */
static char *
name_other_tape(const char *tape) {
  gsize n = strlen(tape) - (g_str_has_suffix(tape, ".tape") ? strlen(".tape") : 0);
  return g_strdup_printf("%.*s.pytorch.tape", (int)n, tape);
}

static void
add_option(GStrvBuilder *words, const char *name, const char *value) {
  if (value) g_strv_builder_add_many(words, name, value, NULL);
}

static bool
run_own(const td_beside *self, const char *semantics, char **script_arguments, side *side) {
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  g_strv_builder_add_many(words, td_path_program(), "run", "--force", "-o", self->tape, NULL);
  add_option(words, "--seed", self->seed);
  add_option(words, "--stats", self->stats);
  add_option(words, "--anomaly", self->anomaly);
  add_option(words, "--devices", self->devices);
  add_option(words, "--semantics", semantics);
  g_strv_builder_add(words, self->script);
  g_strv_builder_addv(words, (const char **)script_arguments);
  g_auto(GStrv) argv = g_strv_builder_end(words);
  return run_side(argv, NULL, true, side);
}

static bool
run_other(const td_beside *self, const char *tape, char **script_arguments, side *side) {
  g_autoptr(GStrvBuilder) words = g_strv_builder_new();
  g_autofree char *seeded = g_build_filename(td_path_module(), "seeded.py", NULL);
  g_strv_builder_add_many(words, td_path_program(), "record", "--force", "-o", tape, NULL);
  add_option(words, "--stats", self->stats);
  add_option(words, "--anomaly", self->anomaly);
  g_strv_builder_add_many(words, "--", self->python, seeded, self->seed, self->script, NULL);
  g_strv_builder_addv(words, (const char **)script_arguments);
  g_auto(GStrv) argv = g_strv_builder_end(words);
  g_auto(GStrv) environment =
      g_environ_setenv(g_get_environ(), "TAPEDECK_PROGRAM", self->script, TRUE);
  return run_side(argv, environment, false, side);
}

static void
print_line_of(const char *name, const char *line) {
  printf("%-12s %s: %s\n", "", name, line ? line : "(no such line)");
}

/* Returns whether the texts agree. */
static bool
compare_texts(const char *heading, const char *own, const char *other) {
  td_text_parting parting;
  td_text_part(own, other, TOLERANCE, &parting);
  bool agree = parting.n_lines == 0;
  printf("%-12s ", heading);
  if (!agree) {
    g_autofree char *parts = td_format_many(parting.n_parts, "part", "parts");
    printf("differs in %u of %u lines, in %s, first at line %u\n", parting.n_lines, parting.n_rows,
           parts, parting.first + 1);
    print_line_of("A", parting.line_a);
    print_line_of("B", parting.line_b);
  } else if (parting.n_numbers)
    printf("the same but for rounding in %u numbers\n", parting.n_numbers);
  else
    printf("the same\n");
  td_text_parting_clear(&parting);
  return agree;
}

/* How the runs ended. Returns whether they ended alike. */
static bool
compare_ends(const side *own, const side *other) {
  if (own->status == 0 && other->status == 0) return true;
  g_autofree char *own_line = last_line(own->complaint);
  g_autofree char *other_line = last_line(other->complaint);
  if (own->status == other->status) return compare_texts("error", own_line, other_line);
  printf("%-12s A ends with status %d, B with %d\n", "status", own->status, other->status);
  if (own->status) print_line_of("A", own_line);
  if (other->status) print_line_of("B", other_line);
  return false;
}

/* A script that ends before it uses PyTorch leaves no tape there. Then text and error have to do.
 */
static bool
has_tape(const char *tape) {
  if (g_file_test(tape, G_FILE_TEST_EXISTS)) return true;
  printf("%-12s not compared: PyTorch left no tape\n", "order");
  return false;
}

static int
compare_tapes(const char *own, const char *other) {
  td_diff_report report = {.without_durations = true};
  const td_diff_wish wish = {.tolerance = TOLERANCE,
                             .n_nodes = TD_DIFF_SHOWN,
                             .n_values = TD_DIFF_SHOWN,
                             .n_durations = 1};
  if (!td_diff_report_make(own, other, &wish, &report)) return TD_EXIT_USAGE;
  td_diff_print_text(&report);
  int status = td_diff_report_is_equal(&report) ? TD_EXIT_OK : TD_EXIT_BAD;
  td_diff_report_fini(&report);
  return status;
}

static int
compare(const side *own, const side *other, const char *tape, const char *other_tape) {
  bool same_text = compare_texts("text", own->printed, other->printed);
  bool same_end = compare_ends(own, other);
  int status = has_tape(other_tape) ? compare_tapes(tape, other_tape) : TD_EXIT_OK;
  if (status != TD_EXIT_OK) return status;
  return same_text && same_end ? TD_EXIT_OK : TD_EXIT_BAD;
}

int
td_beside_run(const td_beside *self, bool force, char **script_arguments) {
  g_auto(side) own = {0}, other = {0};
  g_autofree char *other_tape = name_other_tape(self->tape);
  if (!td_command_may_write(other_tape, self->script, force)) return TD_EXIT_USAGE;
  g_autofree char *version = ask_version(self->python);
  if (!version) return TD_EXIT_USAGE;
  const char *semantics = self->semantics ? self->semantics : semantics_of(version);
  if (!run_own(self, semantics, script_arguments, &own) ||
      !run_other(self, other_tape, script_arguments, &other))
    return TD_EXIT_FAILED;
  fprintf(stderr, "tapedeck: %s on Tapedeck (A) and on PyTorch %s (B), seed %s\n", self->script,
          version, self->seed);
  return compare(&own, &other, self->tape, other_tape);
}
