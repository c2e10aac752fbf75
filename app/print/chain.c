/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/print/chain.h"

#include "app/print/json_members.h"
#include "engine/base/alloc.h"
#include "engine/profile/chain/chain_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLD 64 /* lines in text; the last of them is the end of the chain */

static char *
words(td_replay *replay, const td_chain *chain, uint32_t i) {
  return td_chain_words(td_replay_catalog(replay), td_replay_tape(replay), chain, i);
}

static void
print_line(td_replay *replay, const td_chain *chain, uint32_t i, uint64_t number) {
  char *text = words(replay, chain, i);
  printf("%4" PRIu64 "  event %-8" PRIu64 "  %s\n", number, chain->steps[i].seq, text);
  free(text);
}

void
td_chain_print_text(td_replay *replay, const td_chain *chain) {
  uint32_t n_first = chain->n > TOLD ? TOLD - 1 : chain->n - 1;
  uint64_t n_more = chain->n - 1 - n_first + chain->n_left_out;
  for (uint32_t i = 0; i < n_first; i++)
    print_line(replay, chain, i, i + 1);
  if (n_more) printf("      … %" PRIu64 " more\n", n_more);
  print_line(replay, chain, chain->n - 1, n_first + n_more + 1);
}

static void
print_edge(td_json *json, const td_catalog *catalog, uint32_t edge) {
  td_json_key(json, "edge");
  if (edge == TD_NONE) {
    td_json_null(json);
    return;
  }
  td_json_begin_object(json);
  td_member_u64(json, "from", catalog->edges[edge].from);
  td_member_u64(json, "output_nr", catalog->edges[edge].output_nr);
  td_member_u64(json, "to", catalog->edges[edge].to);
  td_member_u64(json, "input_nr", catalog->edges[edge].input_nr);
  td_json_end_object(json);
}

static void
print_step(td_json *json, td_replay *replay, const td_chain *chain, uint32_t i) {
  const td_chain_step *step = &chain->steps[i];
  char *text = words(replay, chain, i);
  td_json_begin_object(json);
  td_member_u64(json, "seq", step->seq);
  td_member_string(json, "link", td_chain_link_name(step->link));
  td_member_id(json, "node", step->node);
  td_member_id(json, "thread", step->thread);
  td_member_id(json, "graph_task", step->graph_task);
  print_edge(json, td_replay_catalog(replay), step->edge);
  td_member_string(json, "text", text);
  td_json_end_object(json);
  free(text);
}

void
td_chain_print_json(td_replay *replay, const td_chain *chain) {
  td_json json;
  td_json_init(&json, stdout);
  td_json_begin_object(&json);
  td_member_string(&json, "end", td_chain_end_name(chain->end));
  td_member_u64(&json, "left_out", chain->n_left_out);
  td_json_key(&json, "steps");
  td_json_begin_array(&json);
  for (uint32_t i = 0; i < chain->n; i++)
    print_step(&json, replay, chain, i);
  td_json_end_array(&json);
  td_json_end_object(&json);
  td_json_newline(&json);
}
