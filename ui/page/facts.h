/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a page tells of things that do not change: the tape, nodes, threads, queues, passes, kinds
 * of events. Private to ui/page. One thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/replay/replay.h"
#include "ui/page/changes.h"
#include "ui/page/graphs.h"
#include "ui/page/sentences.h"

/* td_page_member writes a member of the object that is open, if the text is not NULL or "". */
void td_page_member(td_json *json, const char *key, const char *text);

/* Each writes members of the object that is open. Stacks go into `says`. */
void td_page_facts_write_tape(td_json *json, td_replay *replay);
void td_page_facts_write_words(td_json *json);
void td_page_facts_write_nodes(td_json *json, const td_page_nodes *nodes, td_page_sentences *says);
void td_page_facts_write_threads(td_json *json, const td_catalog *catalog,
                                 const td_page_changes *changes);
void td_page_facts_write_queues(td_json *json, const td_catalog *catalog,
                                const td_page_changes *changes);
void td_page_facts_write_passes(td_json *json, const td_page_nodes *nodes,
                                const td_page_graphs *graphs);
void td_page_facts_write_kinds(td_json *json, const td_tape_info *info,
                               const td_page_changes *changes);
