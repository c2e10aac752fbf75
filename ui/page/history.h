/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The events of a page: what each one changed, and its sentence. Private to ui/page. One thread. */
#pragma once

#include "ui/page/changes.h"
#include "ui/page/graphs.h"
#include "ui/page/sentences.h"

#include "engine/replay/replay.h"

/* td_page_history_make replays events first .. end - 1. Nodes that they name get numbers. Sentences
 * go into `says`, reasons for pops into `whys`. As td_replay_forward. */
td_status td_page_history_make(td_page_changes *changes, td_replay *replay, td_page_nodes *nodes,
                               const td_page_graphs *graphs, td_page_sentences *says,
                               td_page_sentences *whys, uint64_t first, uint64_t end,
                               td_error *error);
