/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order.h"

#include "app/command.h"
#include "app/common/moment.h"
#include "app/print/json_members.h"
#include "ui/geometry/format.h"

#include <inttypes.h>

#define SHOWN 10 /* divergences in text */

/* ---- JSON ---- */

static void
write_nodes(td_json *json, const char *key, const uint32_t *nodes, uint32_t n) {
  td_json_key(json, key);
  td_json_begin_array(json);
  for (uint32_t i = 0; i < n; i++)
    td_json_u64(json, nodes[i]);
  td_json_end_array(json);
}

static void
write_divergence(td_json *json, const td_order_divergence *divergence) {
  td_json_begin_object(json);
  td_member_found(json, "seq", divergence->seq);
  td_member_u64(json, "position", divergence->position);
  td_member_id(json, "queue", divergence->queue);
  td_member_id(json, "thread", divergence->thread);
  td_member_id(json, "predicted", divergence->predicted);
  td_member_id(json, "actual", divergence->popped);
  td_member_string(json, "cause", td_order_cause_name(divergence->cause));
  td_member_string(json, "text", divergence->text);
  td_json_end_object(json);
}

static void
write_pass(td_json *json, const td_order_pass *pass) {
  td_json_begin_object(json);
  td_member_u64(json, "graph_task", pass->graph_task);
  td_member_string(json, "status", td_enum_word(TD_FIELD_ENUM_task_status, pass->status));
  td_member_bool(json, "equal", pass->is_equal);
  write_nodes(json, "predicted", pass->predicted, pass->n_predicted);
  write_nodes(json, "actual", pass->popped, pass->n_popped);
  td_json_key(json, "divergence");
  if (pass->is_equal)
    td_json_null(json);
  else
    write_divergence(json, &pass->divergence);
  td_json_end_object(json);
}

static void
print_json(const td_order *order) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_u64(&json, "passes", order->n_passes);
  td_member_u64(&json, "equal", order->n_equal);
  td_member_u64(&json, "ended_early", order->n_early);
  td_member_string(&json, "known", order->is_observed ? "observed" : "reconstructed");
  td_json_key(&json, "results");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < order->n_kept; i++)
    write_pass(&json, &order->passes[i]);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}

/* ---- text ---- */

static void
print_divergence(const td_order_pass *pass) {
  const td_order_divergence *divergence = &pass->divergence;
  printf("graph task %u left the predicted order at node %u of %u", pass->graph_task,
         divergence->position + 1, TD_MAX(pass->n_popped, pass->n_predicted));
  if (divergence->popped != TD_NONE)
    printf(" (event %" PRIu64 ", %s)", divergence->seq, divergence->queue_name);
  printf("\n  predicted: %s\n  popped:    %s\n",
         divergence->predicted_name ? divergence->predicted_name : "–",
         divergence->popped_name ? divergence->popped_name : "–");
  printf("  cause:     %s. %s\n", td_order_cause_words(divergence->cause), divergence->text);
}

static void
print_order(const td_order_pass *pass) {
  uint32_t n = TD_MAX(pass->n_popped, pass->n_predicted);
  printf("%8s  %9s  %9s\n", "position", "predicted", "popped");
  for (uint32_t i = 0; i < n; i++) {
    g_autofree char *predicted =
        i < pass->n_predicted ? g_strdup_printf("#%u", pass->predicted[i]) : g_strdup("–");
    g_autofree char *popped =
        i < pass->n_popped ? g_strdup_printf("#%u", pass->popped[i]) : g_strdup("–");
    printf("%8u  %9s  %9s\n", i + 1, predicted, popped);
  }
}

static void
print_text(const char *path, const td_order *order, bool has_list) {
  g_autofree char *passes = td_format_many(order->n_passes, "backward pass", "backward passes");
  uint32_t n_shown = 0;
  printf("%s: %s, %u in the predicted order\n", path, passes, order->n_equal);
  if (order->n_early)
    printf("%u of them: as far as they ran before an error or the end of the tape\n",
           order->n_early);
  if (!order->is_observed)
    puts("Nobody saw the pops of this tape: they are reconstructed from the nodes that ran.");
  for (uint32_t i = 0; i < order->n_kept; i++) {
    if (order->passes[i].is_equal) continue;
    print_divergence(&order->passes[i]);
    n_shown++;
  }
  if (order->n_passes - order->n_equal > n_shown)
    printf("and %u more that differ\n", order->n_passes - order->n_equal - n_shown);
  if (has_list && order->n_kept) print_order(&order->passes[0]);
}

/* ---- the command ---- */

static int
answer(const char *path, const td_order_wish *wish, bool as_json) {
  td_error error = {0};
  td_tape *tape;
  td_order order;
  int status = TD_EXIT_OK;
  if (td_tape_open(path, &tape, &error)) return td_command_file_error(path, &error);
  if (td_order_make(tape, wish, &order, &error))
    status = td_command_file_error(path, &error);
  else if (as_json)
    print_json(&order);
  else
    print_text(path, &order, wish->keeps_nodes);
  td_order_fini(&order);
  td_tape_close(tape);
  return status;
}

int
td_command_order(int argc, char **argv) {
  gint64 pass = TD_MOMENT_NO_PASS;
  gboolean as_json = FALSE;
  const GOptionEntry entries[] = {
      {"pass", 0, 0, G_OPTION_ARG_INT64, &pass, "Only this backward pass, with all its nodes", "N"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "Print one JSON document", NULL},
      TD_TRUST_ENTRY,
      {0}};
  uint32_t graph_task;
  int status;
  if (!td_command_parse("order", entries, false, 1, 1, &argc, &argv, &status)) return status;
  if (!td_moment_pass_read("order", pass, &graph_task)) return TD_EXIT_USAGE;
  const td_order_wish wish = {.graph_task = graph_task,
                              .keeps_nodes = as_json || graph_task != TD_NONE,
                              .n_explained = as_json ? UINT32_MAX : SHOWN};
  return answer(argv[1], &wish, as_json);
}
