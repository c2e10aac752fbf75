/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/whatif.h"

#include "app/command.h"
#include "app/commands/confine.h"
#include "app/commands/confined_child.h"
#include "app/common/columns.h"
#include "app/common/shell_name.h"
#include "app/print/json_members.h"
#include "engine/profile/model/prediction.h"
#include "engine/replay/segments.h"
#include "ui/geometry/format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COUNT_MAX 1024

typedef struct options {
  gint64 n_devices, n_workers;
  gint64 skip_first; /* or -1: the tape's first pass, if there is another */
  gchar **policies, **scales, **frees;
  gchar *output; /* of a prediction, or NULL */
  gboolean json, force;
} options;

/* What is asked. All plans share the changes. */
typedef struct question {
  GArray *scalings; /* (owned) of td_scaling */
  unsigned frees;   /* 1 << TD_FREE_hook | ... */
  td_virtual_plan plans[TD_N_SCHEDULES];
  td_virtual_result results[TD_N_SCHEDULES];
  uint32_t n_plans;
} question;

/* ---- what is asked ---- */

static td_schedule
read_schedule(const char *name) {
  const char *words[TD_N_SCHEDULES + 1] = {0};
  for (int i = 0; i < TD_N_SCHEDULES; i++)
    words[i] = td_schedule_name((td_schedule)i);
  td_command_check_word("whatif", "--policy", name, words);
  return td_schedule_find(name);
}

/* OP=X cuts the text in two. */
static bool
read_scale(question *self, char *text) {
  char *equals = strrchr(text, '='), *end = NULL;
  double share = equals ? g_ascii_strtod(equals + 1, &end) : -1;
  if (!equals || equals == text || end == equals + 1 || *end || !(share >= 0) || !isfinite(share)) {
    td_command_bad_usage("whatif", "--scale '%s': must be like AddmmBackward0=0.5", text);
    return false;
  }
  *equals = '\0';
  const td_scaling scaling = {.name = text, .share = share};
  g_array_append_val(self->scalings, scaling);
  return true;
}

/* A number is that of a node, as in sentences: 12 or #12. */
static void
read_free(question *self, const char *text) {
  guint64 node;
  td_freeable what = td_freeable_find(text);
  if (what != TD_N_FREEABLES) {
    self->frees |= 1u << what;
    return;
  }
  const char *digits = *text == '#' ? text + 1 : text;
  bool is_node = g_ascii_string_to_unsigned(digits, 10, 0, TD_NONE - 1, &node, NULL);
  const td_scaling scaling = {.name = is_node ? NULL : text,
                              .node = is_node ? (uint32_t)node : TD_NONE};
  g_array_append_val(self->scalings, scaling);
}

static bool
read_changes(question *self, const options *options) {
  for (gchar **text = options->scales; text && *text; text++)
    if (!read_scale(self, *text)) return false;
  for (gchar **text = options->frees; text && *text; text++)
    read_free(self, *text);
  return true;
}

static bool
is_asked(const question *self, td_schedule schedule) {
  for (uint32_t i = 0; i < self->n_plans; i++)
    if (self->plans[i].schedule == schedule) return true;
  return false;
}

static void
add_plan(question *self, const options *options, td_schedule schedule) {
  if (is_asked(self, schedule)) return;
  self->plans[self->n_plans++] =
      (td_virtual_plan){.schedule = schedule,
                        .n_devices = (uint32_t)options->n_devices,
                        .n_workers = (uint32_t)options->n_workers,
                        .scalings = (const td_scaling *)(void *)self->scalings->data,
                        .n_scalings = self->scalings->len,
                        .frees = self->frees};
}

/* Without --policy, all of them. */
static bool
read_plans(question *self, const options *options) {
  for (gchar **name = options->policies; name && *name; name++) {
    td_schedule schedule = read_schedule(*name);
    if (schedule == TD_N_SCHEDULES) return false;
    add_plan(self, options, schedule);
  }
  for (int i = 0; i < TD_N_SCHEDULES && !options->policies; i++)
    add_plan(self, options, (td_schedule)i);
  return true;
}

/* ---- the answer ---- */

static uint32_t
devices_of(const td_virtual_plan *plan, const td_whatif *whatif) {
  return plan->n_devices ? plan->n_devices : whatif->n_devices;
}

static void
write_result(td_json *json, const td_whatif *whatif, const td_virtual_plan *plan,
             const td_virtual_result *result) {
  td_json_begin_object(json);
  td_member_string(json, "policy", td_schedule_name(plan->schedule));
  td_member_u64(json, "devices", devices_of(plan, whatif));
  td_member_u64(json, "workers", plan->n_workers);
  td_member_u64(json, "wall", result->wall);
  td_member_u64(json, "critical_path", result->critical_path);
  td_member_u64(json, "work_over_workers", result->work_over_workers);
  td_member_u64(json, "queue_peak", result->queue_peak);
  td_member_known(json, "memory_peak", result->memory_peak, whatif->has_bytes);
  td_json_end_object(json);
}

static void
print_json(const question *self, const td_whatif *whatif) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "unit", "ns");
  td_member_u64(&json, "passes", whatif->n_passes);
  td_member_u64(&json, "left_out", whatif->n_left_out);
  td_member_u64(&json, "skipped_first", whatif->n_skipped);
  td_member_u64(&json, "recorded", whatif->recorded);
  td_member_u64(&json, "replayed", whatif->replayed.wall);
  td_json_key(&json, "error");
  td_json_double(&json, td_whatif_error(whatif));
  td_member_bool(&json, "trusted", td_whatif_error(whatif) <= TD_WHATIF_TRUSTED_ERROR);
  td_member_known(&json, "pass_locks_held", whatif->held[TD_FREE_lock], whatif->locks_known);
  td_member_known(&json, "gil_held", whatif->held[TD_FREE_gil], whatif->gil_known);
  td_json_key(&json, "results");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < self->n_plans; i++)
    write_result(&json, whatif, &self->plans[i], &self->results[i]);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}

static void
print_result(const td_whatif *whatif, const td_virtual_plan *plan,
             const td_virtual_result *result) {
  g_autofree char *wall = td_format_ns((double)result->wall);
  g_autofree char *bytes = whatif->has_bytes ? td_format_bytes(result->memory_peak) : g_strdup("–");
  double change =
      whatif->replayed.wall ? 100 * ((double)result->wall / (double)whatif->replayed.wall - 1) : 0;
  td_column_print(wall, 9);
  printf("%+7.1f %%  %6u  ", change, result->queue_peak);
  td_column_print(bytes, 9);
  puts(td_schedule_name(plan->schedule));
}

static void
print_bounds(const question *self, const td_whatif *whatif) {
  const td_virtual_plan *plan = &self->plans[0];
  const td_virtual_result *result = &self->results[0];
  g_autofree char *path = td_format_ns((double)result->critical_path);
  g_autofree char *work = td_format_ns((double)result->work_over_workers);
  g_autofree char *workers = td_format_many(plan->n_workers, "worker", "workers");
  printf("No schedule can be faster than %s, the longest path, or %s, the work by the workers.\n",
         path, work);
  printf("Devices beside the CPU: %u. Each of them has %s, and so has each caller of backward.\n",
         devices_of(plan, whatif), workers);
}

static void
print_left_out(const td_whatif *whatif, const options *options) {
  if (whatif->n_left_out) {
    g_autofree char *out = td_format_many(whatif->n_left_out, "pass is", "passes are");
    printf("%s left out: one failed, or has no end on this tape\n", out);
  }
  if (whatif->n_skipped && options->skip_first < 0)
    puts("The first pass of the tape is left out, because much happens in it for the first time. "
         "--skip-first 0 counts it.");
  else if (whatif->n_skipped) {
    g_autofree char *skipped = td_format_many(whatif->n_skipped, "pass is", "passes are");
    printf("The first %s left out.\n", skipped);
  }
}

static double
percent_of(uint64_t part, uint64_t whole) {
  return whole ? 100 * (double)part / (double)whole : 0;
}

/* Of the GIL, only what a thread waited for is known. */
static void
print_held(const td_whatif *whatif) {
  if (whatif->held[TD_FREE_lock])
    printf("While gradients are handed on, the lock of their pass is held: %.1f %% of the time of "
           "passes, as far as the tape tells.\n",
           percent_of(whatif->held[TD_FREE_lock], whatif->recorded));
  if (whatif->held[TD_FREE_gil])
    printf("Nodes held Python's GIL for at least %.1f %% of that time.\n",
           percent_of(whatif->held[TD_FREE_gil], whatif->recorded));
}

static void
print_text(const char *path, const question *self, const td_whatif *whatif,
           const options *options) {
  double error = td_whatif_error(whatif);
  g_autofree char *recorded = td_format_ns((double)whatif->recorded);
  g_autofree char *replayed = td_format_ns((double)whatif->replayed.wall);
  g_autofree char *passes = td_format_many(whatif->n_passes, "backward pass", "backward passes");
  printf("%s: %s took %s; replayed as recorded, %s (%.1f %% off)\n", path, passes, recorded,
         replayed, 100 * error);
  print_left_out(whatif, options);
  if (error > TD_WHATIF_TRUSTED_ERROR)
    puts("The replay itself is more than 5 % off: do not trust the numbers below.");
  print_held(whatif);
  printf("%9s  %9s  %6s  %9s  %s\n", "wall", "change", "queue", "memory", "policy");
  for (uint32_t i = 0; i < self->n_plans; i++)
    print_result(whatif, &self->plans[i], &self->results[i]);
  print_bounds(self, whatif);
}

/* ---- a prediction ---- */

static int
write_prediction(const char *path, td_tape *tape, const td_virtual_plan *plan, const char *output,
                 const char *part) {
  td_error error = {0};
  td_status status = td_prediction_write(tape, plan, part, true, &error);
  if (status) return td_command_file_error(status == TD_IO ? output : path, &error);
  (void)td_segments_add(part, TD_SEGMENT_EVENTS, NULL); /* without a table it is as good */
  g_autofree char *recorded = td_shell_name(path);
  g_autofree char *predicted = td_shell_name(output);
  fprintf(stderr, "tapedeck: predicted %s; see both with: tapedeck open %s --beside %s\n",
          predicted, recorded, predicted);
  return TD_EXIT_OK;
}

/* ---- the command ---- */

typedef struct asking {
  const char *path; /* (borrowed), as the others */
  question *question;
  const options *options;
} asking;

/* part: where the prediction goes, or NULL. */
static int
answer(const asking *asking, const char *part) {
  const char *path = asking->path;
  question *self = asking->question;
  const options *options = asking->options;
  td_error error = {0};
  td_tape *tape;
  td_whatif whatif;
  if (td_tape_open(path, &tape, &error)) return td_command_file_error(path, &error);
  int status = TD_EXIT_OK;
  uint32_t skip_first =
      options->skip_first < 0 ? TD_WHATIF_SKIP_WARMING : (uint32_t)options->skip_first;
  if (td_whatif_make(tape, self->plans, self->n_plans, skip_first, &whatif, self->results, &error))
    status = td_command_file_error(path, &error);
  else if (options->json)
    print_json(self, &whatif);
  else
    print_text(path, self, &whatif, options);
  if (!status && part)
    status = write_prediction(path, tape, &self->plans[0], options->output, part);
  td_tape_close(tape);
  return status;
}

/* In the confined child. */
static int
fill(const char *part, int fd, void *data) {
  return answer(data, part);
}

static int
answer_confined(const asking *asking) {
  const char *output = asking->options->output;
  if (output) return td_confined_child_write(output, fill, (void *)asking);
  td_confine_to_reading();
  return answer(asking, NULL);
}

/* One tape has one schedule. */
static bool
may_write(const question *self, const char *path, const options *options) {
  if (!options->output) return true;
  if (self->n_plans != 1) {
    td_command_bad_usage("whatif", "-o: needs one --policy, whose schedule goes to the tape");
    return false;
  }
  return td_command_may_write(options->output, path, options->force);
}

static int
ask(const char *path, const options *options) {
  if (options->n_devices < 0 || options->n_devices > COUNT_MAX)
    return td_command_bad_usage("whatif", "--devices: must be a number from 1 to %d", COUNT_MAX);
  if (options->n_workers < 1 || options->n_workers > COUNT_MAX)
    return td_command_bad_usage("whatif", "--workers: must be a number from 1 to %d", COUNT_MAX);
  if (options->skip_first < -1 || options->skip_first >= G_MAXUINT32)
    return td_command_bad_usage("whatif", "--skip-first: must be a number from 0 up");
  question question = {.scalings = g_array_new(FALSE, FALSE, sizeof(td_scaling))};
  int status = TD_EXIT_USAGE;
  if (read_changes(&question, options) && read_plans(&question, options) &&
      may_write(&question, path, options))
    status = answer_confined(&(asking){path, &question, options});
  g_array_unref(question.scalings);
  return status;
}

int
td_command_whatif(int argc, char **argv) {
  options options = {.n_workers = 1, .skip_first = -1};
  const GOptionEntry entries[] = {
      {"devices", 0, 0, G_OPTION_ARG_INT64, &options.n_devices,
       "With so many devices beside the CPU (default: those of the tape)", "N"},
      {"workers", 0, 0, G_OPTION_ARG_INT64, &options.n_workers,
       "With so many threads for each device and each caller (default: 1)", "N"},
      {"skip-first", 0, 0, G_OPTION_ARG_INT64, &options.skip_first,
       "Leave out the first N passes (default: the tape's first, if there is another)", "N"},
      {"policy", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.policies,
       "Which ready task goes first: engine, fifo, lifo, critical or memory (default: each)",
       "POLICY"},
      {"scale", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.scales,
       "As if this function took X times as long; may be repeated", "FUNCTION=X"},
      {"free", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.frees,
       "As if this function or this node took no time, or all waits for a lock, gil, or each hook; "
       "may be repeated",
       "WHAT"},
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
       "Also write a tape of what one policy would have done, to see it beside this one", "FILE"},
      {"force", 0, 0, G_OPTION_ARG_NONE, &options.force, "Overwrite a tape that exists", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL},
      TD_TRUST_ENTRY,
      {0}};
  int status;
  if (td_command_parse("whatif", entries, false, 1, 1, &argc, &argv, &status))
    status = ask(argv[1], &options);
  g_strfreev(options.policies);
  g_strfreev(options.scales);
  g_strfreev(options.frees);
  g_free(options.output);
  return status;
}
