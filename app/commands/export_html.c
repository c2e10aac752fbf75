/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/commands/export_html.h"

#include "app/common/fonts.h"
#include "app/common/moment.h"
#include "app/common/moment_replay.h"
#include "engine/replay/catalog_collect.h"
#include "ui/page/page.h"

/* A pass, and the event with which the outermost pass around it begins. */
typedef struct choice {
  uint32_t graph_task, outermost;
  uint64_t begin_seq;
} choice;

/* Of equal passes the last: the first steps of a program are slower than all others. */
static td_status
choose(const td_catalog *catalog, const td_export_wish *wish, choice *chosen, td_error *error) {
  uint32_t wished = wish->graph_task;
  chosen->graph_task = wished == TD_NONE ? td_moment_largest_pass(catalog, true) : wished;
  if (chosen->graph_task == TD_NONE)
    return td_error_set(error, TD_OUT_OF_RANGE, "the tape has no backward pass");
  if (!td_catalog_has_graph_task(catalog, chosen->graph_task))
    return td_error_set(error, TD_OUT_OF_RANGE, "there is no graph task %u", wished);
  chosen->outermost = td_page_pass(catalog, chosen->graph_task);
  if (wished == TD_NONE) chosen->graph_task = chosen->outermost;
  chosen->begin_seq = td_catalog_graph_task_get(catalog, chosen->outermost)->begin_seq;
  return TD_OK;
}

static td_status
choose_from_outline(td_tape *tape, const td_export_wish *wish, choice *chosen, td_error *error) {
  td_segment outline = td_tape_outline(tape);
  td_catalog *catalog;
  td_status status = td_catalog_collect(tape, &outline, &catalog, error);
  if (status) return status;
  status = choose(catalog, wish, chosen, error);
  td_catalog_free(catalog);
  return status;
}

/* A replay of the segment with the pass. *replay is NULL if the pass goes on in another one. */
static td_status
replay_segment(td_tape *outlined, const td_export_wish *wish, choice *chosen, td_replay **replay,
               td_error *error) {
  td_tape *tape;
  td_status status = choose_from_outline(outlined, wish, chosen, error);
  if (!status) status = td_tape_open(td_tape_path(outlined), &tape, error);
  if (status) return status;
  td_segment segment = td_tape_segment_at(tape, chosen->begin_seq);
  status = td_replay_new(tape, &segment, NULL, NULL, replay, error);
  if (status || td_moment_tells_pass(*replay, chosen->outermost)) return status;
  td_replay_close(*replay);
  *replay = NULL;
  return TD_OK;
}

/* Also a tape whose keyframes are damaged has all events. */
static td_status
open_replay(td_tape *tape, const td_export_wish *wish, choice *chosen, td_replay **replay,
            td_error *error) {
  td_status status = TD_OK;
  if (td_tape_n_segments(tape) > 0) status = replay_segment(tape, wish, chosen, replay, error);
  if ((status && status != TD_DAMAGED) || *replay) return status;
  td_error_clear(error);
  status = td_replay_open(td_tape_path(tape), NULL, NULL, replay, error);
  return status ? status : choose(td_replay_catalog(*replay), wish, chosen, error);
}

td_status
td_export_html(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error) {
  choice chosen = {0};
  td_replay *replay = NULL;
  td_status status = open_replay(tape, wish, &chosen, &replay, error);
  td_fonts_find();
  if (!status) status = td_page_write(replay, chosen.graph_task, NULL, TD_VERSION, out, error);
  if (replay) td_replay_close(replay);
  return status;
}
