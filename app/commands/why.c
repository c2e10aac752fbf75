/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/why/why.h"

#include "app/command.h"
#include "app/commands/tape_at.h"
#include "app/common/moment_replay.h"
#include "app/print/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool
read_whole(td_tape_at *at) {
  return td_moment_replay_again(at->path, &at->options, &at->replay, &at->seq, &at->how);
}

/* The whole tape, if what led to the event may lie outside its segment. */
static bool
read_enough(td_tape_at *at) {
  return td_moment_tells_why(at->replay, at->seq) || read_whole(at);
}

static void
print_how(const td_tape_at *at) {
  if (at->how) printf("After event %" PRIu64 ", %s:\n", at->seq, at->how);
}

static td_status
tell(td_tape_at *at, td_error *error) {
  char *text;
  td_status status = td_why_at(at->replay, at->seq, &text, error);
  if (status != TD_OK) return status;
  print_how(at);
  puts(text);
  free(text);
  return TD_OK;
}

/* A chain that ends where the segment begins goes on in the whole tape. */
static td_status
make_chain(td_tape_at *at, td_chain *chain, td_error *error) {
  td_status status = td_chain_make(at->replay, at->seq, TD_NONE, chain, error);
  if (status != TD_OK || chain->end != TD_CHAIN_END_cut) return status;
  td_chain_fini(chain);
  if (!read_whole(at)) return td_error_set(error, TD_IO, "the whole tape cannot be read");
  return td_chain_make(at->replay, at->seq, TD_NONE, chain, error);
}

static td_status
tell_chain(td_tape_at *at, bool as_json, td_error *error) {
  td_chain chain;
  td_status status = make_chain(at, &chain, error);
  if (status == TD_OK && as_json) {
    td_chain_print_json(at->replay, &chain);
  } else if (status == TD_OK) {
    print_how(at);
    td_chain_print_text(at->replay, &chain);
  }
  td_chain_fini(&chain);
  return status;
}

static int
answer(td_tape_at *at, bool as_chain, bool as_json) {
  td_error error = {0};
  if (!read_enough(at)) {
    td_tape_at_close(at);
    return TD_EXIT_USAGE;
  }
  td_status told = as_chain ? tell_chain(at, as_json, &error) : tell(at, &error);
  if (told == TD_OK) return td_tape_at_conclude(at);
  int status = td_command_file_error(at->path, &error);
  td_tape_at_close(at);
  return status;
}

int
td_command_why(int argc, char **argv) {
  gboolean as_chain = FALSE, as_json = FALSE;
  const GOptionEntry own[] = {
      {"chain", 0, 0, G_OPTION_ARG_NONE, &as_chain,
       "Go back step by step to the cause: a gradient, a wait, or the birth of a NaN", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &as_json, "With --chain: print one JSON document", NULL},
      {0}};
  td_tape_at at;
  int status;
  if (!td_tape_at_open(&at, "why", own, argc, argv, &status)) return status;
  if (!as_json || as_chain) return answer(&at, as_chain, as_json);
  td_tape_at_close(&at);
  return td_command_bad_usage("why", "--json: only with --chain");
}
