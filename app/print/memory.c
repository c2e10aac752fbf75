/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/memory.h"

#include "app/common/columns.h"
#include "app/common/shell_name.h"
#include "app/print/json_members.h"
#include "app/print/sentences.h"
#include "engine/base/line.h"
#include "ui/geometry/format.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>

#define COLUMNS 60 /* of the picture over time */

/* In JSON; what a holder is; what all of the kind are. */
static const struct {
  const char *key, *one, *many;
} groups[] = {[TD_HELD_saved] = {"saved", "saved tensor", "saved tensors"},
              [TD_HELD_kept] = {"kept", "kept tensor", "kept by keep_graph"},
              [TD_HELD_buffer] = {"buffers", "buffer", "input buffers"},
              [TD_HELD_gradient] = {"gradients", "gradient", "gradients"}};

/* What is not known counts as nothing: then the sum is of the others. */
static const char *
reason_of(const td_memory *memory, td_holding_group group) {
  static const char *const reasons[] = {
      [TD_HELD_saved] = "this tape has no events of saved tensors",
      [TD_HELD_kept] = "this tape has no events of saved tensors",
      [TD_HELD_buffer] = "this tape has no events of input buffers",
      [TD_HELD_gradient] = "this tape has no events of stored gradients"};
  return memory->is_known[group] ? NULL : reasons[group];
}

/* ---- JSON ---- */

/* The members of the object that is open. */
static void
write_level(td_json *json, const td_memory *memory, const td_memory_level *level) {
  td_member_u64(json, "bytes", td_memory_total(level));
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    td_member_known(json, groups[group].key, level->bytes[group], memory->is_known[group]);
  }
}

static void
write_holder(td_json *json, const td_memory_holder *holder) {
  td_json_begin_object(json);
  td_member_string(json, "kind", groups[holder->group].one);
  td_member_u64(json, "bytes", holder->bytes);
  td_member_u64(json, "since", holder->since_seq);
  td_member_id(json, "node", holder->node);
  td_member_u64(json, "number", holder->number);
  td_member_text(json, "name", holder->name);
  td_member_text(json, "module", holder->module);
  td_member_text(json, "line", holder->line);
  td_member_text(json, "shape", holder->shape);
  td_member_text(json, "dtype", holder->dtype);
  td_member_u64(json, "sharing", holder->n_sharing);
  td_json_end_object(json);
}

static void
write_moment(td_json *json, const char *key, const td_memory *memory,
             const td_memory_moment *moment) {
  td_json_key(json, key);
  if (moment->seq == UINT64_MAX) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  td_member_u64(json, "seq", moment->seq);
  td_member_u64(json, "t", moment->ns);
  td_member_id(json, "graph_task", moment->graph_task);
  write_level(json, memory, &moment->level);
  td_json_key(json, "holders");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < moment->n_holders; i++)
    write_holder(json, &moment->holders[i]);
  td_json_end_array(json);
  td_json_end_object(json);
}

static void
write_growth(td_json *json, const td_memory *memory) {
  td_json_key(json, "growth");
  td_json_begin_object(json);
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    double bytes = NAN;
    if (memory->is_known[group])
      td_memory_steps_growth(&memory->steps, (td_holding_group)group, &bytes);
    td_json_key(json, groups[group].key);
    td_json_double(json, bytes);
  }
  double nodes = NAN;
  if (memory->knows_nodes) td_memory_steps_more_nodes(&memory->steps, &nodes);
  td_json_key(json, "nodes");
  td_json_double(json, nodes);
  td_json_end_object(json);
}

static void
write_step(td_json *json, const td_memory *memory, const td_memory_step *step) {
  td_json_begin_object(json);
  td_member_u64(json, "step", step->number);
  td_member_u64(json, "seq", step->seq);
  td_member_u64(json, "t", step->ns);
  td_member_u64(json, "peak", step->peak);
  write_level(json, memory, &step->end);
  td_json_end_object(json);
}

static void
write_steps(td_json *json, const td_memory *memory) {
  const td_memory_steps *steps = &memory->steps;
  td_json_key(json, "steps");
  td_json_begin_object(json);
  td_member_string(json, "by", memory->has_steps ? "step" : "pass");
  td_member_u64(json, "n", steps->n);
  td_member_u64(json, "per_row", steps->n_per_row ? steps->n_per_row : 1);
  write_growth(json, memory);
  td_json_key(json, "rows");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < steps->n_rows; i++)
    write_step(json, memory, &steps->rows[i]);
  td_json_end_array(json);
  td_json_end_object(json);
}

static void
write_samples(td_json *json, const td_memory *memory) {
  const td_memory_samples *samples = &memory->samples;
  td_json_key(json, "samples");
  td_json_begin_object(json);
  td_member_u64(json, "t", samples->begin_ns);
  td_member_u64(json, "interval", samples->interval_ns);
  td_json_key(json, "rows");
  td_json_begin_array(json);
  for (uint32_t i = 0; i < samples->n; i++) {
    td_json_begin_object(json);
    write_level(json, memory, &samples->items[i]);
    td_json_end_object(json);
  }
  td_json_end_array(json);
  td_json_end_object(json);
}

static void
write_reasons(td_json *json, const td_memory *memory) {
  td_json_key(json, "unknown");
  td_json_begin_object(json);
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    const char *reason = reason_of(memory, (td_holding_group)group);
    if (reason) td_member_string(json, groups[group].key, reason);
  }
  td_json_end_object(json);
}

void
td_memory_print_json(const td_memory *memory) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "unit", "bytes");
  td_member_u64(&json, "passes", memory->n_passes);
  write_reasons(&json, memory);
  td_member_string(&json, "release",
                   memory->is_inferred
                       ? td_enum_word(TD_FIELD_ENUM_knowledge, TD_knowledge_reconstructed)
                       : td_enum_word(TD_FIELD_ENUM_knowledge, TD_knowledge_observed));
  write_moment(&json, "peak", memory, &memory->peak);
  write_moment(&json, "retained", memory, &memory->retained);
  write_steps(&json, memory);
  write_samples(&json, memory);
  td_json_end_object(&json);
  td_json_newline(&json);
}

/* ---- text ---- */

static void
print_level(const td_memory *memory, const td_memory_level *level) {
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    if (group == TD_HELD_kept && !memory->is_known[group]) continue;
    g_autofree char *bytes = td_format_bytes(level->bytes[group]);
    const char *reason = reason_of(memory, (td_holding_group)group);
    td_column_print(reason ? "–" : bytes, 10);
    printf("%s%s%s\n", groups[group].many, reason ? ": " : "", reason ? reason : "");
  }
}

/* Each fact after the name of a holder is whole. */
static void
print_fact(const char *fact) {
  if (fact) printf("; %s", fact);
}

static void
print_holder(const td_memory_holder *holder) {
  g_autofree char *bytes = td_format_bytes(holder->bytes);
  g_autofree char *name = td_line_dup(holder->name ? holder->name : "–", TD_NAME_SHOWN);
  printf("%10s  %-12s  #%u %s", bytes, groups[holder->group].one, holder->node, name);
  if (*holder->shape) {
    g_autofree char *shape = td_line_dup(holder->shape, TD_NAME_SHOWN);
    g_autofree char *dtype = td_line_dup(holder->dtype, TD_NAME_SHOWN);
    printf(" %s %s", shape, dtype);
  }
  g_autofree char *sharing =
      holder->n_sharing ? g_strdup_printf("%u more share it", holder->n_sharing) : NULL;
  g_autofree char *since = g_strdup_printf("since event %" PRIu64, holder->since_seq);
  print_fact(holder->module);
  print_fact(holder->line);
  print_fact(sharing);
  print_fact(since);
  putchar('\n');
}

static void
print_holders(const td_memory_moment *moment) {
  for (uint32_t i = 0; i < moment->n_holders; i++)
    print_holder(&moment->holders[i]);
}

static void
print_peak(const char *path, const td_memory *memory) {
  const td_memory_moment *peak = &memory->peak;
  g_autofree char *passes = td_format_many(memory->n_passes, "backward pass", "backward passes");
  g_autofree char *bytes = td_format_bytes(td_memory_total(&peak->level));
  g_autofree char *time = td_format_ns((double)peak->ns);
  g_autofree char *seq = g_strdup_printf("%" PRIu64, peak->seq);
  g_autofree char *pass = g_strdup_printf("%u", peak->graph_task);
  if (peak->seq == UINT64_MAX) {
    printf("%s: %s; the tape shows no memory that is held\n", path, passes);
  } else {
    td_printed_print(peak->graph_task == TD_NONE ? TD_PRINTED_peak : TD_PRINTED_peak_in_pass,
                     {"path", path}, {"passes", passes}, {"bytes", bytes}, {"time", time},
                     {"seq", seq}, {"pass", pass});
    putchar('\n');
  }
  print_level(memory, &peak->level);
  if (peak->n_holders) printf("The largest of it then:\n");
  print_holders(peak);
}

static void
print_retained(const td_memory *memory) {
  const td_memory_moment *retained = &memory->retained;
  if (!memory->is_known[TD_HELD_saved]) return;
  if (retained->seq == UINT64_MAX) {
    puts("No saved tensor outlived a backward pass.");
    return;
  }
  g_autofree char *kept = td_format_bytes(retained->level.bytes[TD_HELD_kept]);
  g_autofree char *saved = td_format_bytes(retained->level.bytes[TD_HELD_saved]);
  printf("After graph task %u, nodes still had saved tensors: %s because of keep_graph, %s "
         "because no pass that frees them ran:\n",
         retained->graph_task, kept, saved);
  print_holders(retained);
}

/* With its sign. */
static char *
format_growth(double bytes) {
  g_autofree char *text = td_format_bytes((uint64_t)(fabs(bytes) + 0.5));
  return g_strdup_printf("%s%s", bytes <= -0.5 ? "−" : "+", text);
}

static void
print_growth(const td_memory *memory) {
  const td_memory_steps *steps = &memory->steps;
  g_autofree char *n = td_format_count(steps->n);
  if (steps->n < 3) return;
  const char *before = "";
  for (int group = 0; group < TD_N_HOLDING_GROUPS; group++) {
    double bytes;
    if (!memory->is_known[group] || !td_memory_steps_growth(steps, (td_holding_group)group, &bytes))
      continue;
    g_autofree char *text = format_growth(bytes);
    if (!*before)
      printf("From step to step (%s %s): ", n, memory->has_steps ? "steps" : "backward passes");
    printf("%s%s %s", before, groups[group].many, text);
    before = ", ";
  }
  if (*before) putchar('\n');
}

/* Nodes that stay may keep what is no saved tensor: a result, or an object of the program. */
static void
print_more_nodes(const td_memory *memory, const char *path) {
  double nodes;
  if (!memory->knows_nodes || memory->steps.n < 3 ||
      !td_memory_steps_more_nodes(&memory->steps, &nodes) || nodes < 0.5)
    return;
  g_autofree char *n = g_strdup_printf("%.0f", nodes);
  g_autofree char *file = td_shell_name(path);
  td_printed_print(memory->has_steps ? TD_PRINTED_more_nodes_a_step : TD_PRINTED_more_nodes_a_pass,
                   {"n", n}, {"file", file});
  putchar('\n');
}

/* The numbers are of what nodes and leaves hold, not of the process. */
static void
print_unseen(const td_memory *memory) {
  td_printed_put(memory->meets_all ? TD_PRINTED_memory_not_counted
                                   : TD_PRINTED_memory_and_graphs_not_counted,
                 &(td_printed_field){0});
  putchar('\n');
}

static uint64_t
highest(const td_memory_samples *samples, uint32_t first, uint32_t end) {
  uint64_t most = 0;
  for (uint32_t i = first; i < end; i++)
    most = MAX(most, td_memory_total(&samples->items[i]));
  return most;
}

static void
print_picture(const td_memory_samples *samples) {
  static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  uint64_t most = highest(samples, 0, samples->n);
  uint32_t columns = MIN(COLUMNS, samples->n);
  if (!most) return;
  printf("Over time: ");
  for (uint32_t i = 0; i < columns; i++) {
    uint64_t here = highest(samples, i * samples->n / columns, (i + 1) * samples->n / columns);
    fputs(bars[(uint32_t)ceil(8 * (double)here / (double)most)], stdout);
  }
  putchar('\n');
}

void
td_memory_print_text(const char *path, const td_memory *memory) {
  print_peak(path, memory);
  print_picture(&memory->samples);
  print_retained(memory);
  print_growth(memory);
  print_more_nodes(memory, path);
  print_unseen(memory);
}
