/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What `why` says of a state: where it writes to, and the words that several sentences share.
 * Private to engine/profile. One thread. */
#pragma once

#include "engine/profile/sentence.h"
#include "engine/profile/why/missing.h"
#include "engine/replay/replay.h"

#include <stdio.h>

#define TD_STORY_NAMED 3 /* losers and waiting nodes named before "and 12 more" */

typedef struct td_story {
  FILE *out;
  const td_catalog *catalog;
  const td_state *state;
  td_senders_now senders; /* (owned) */
} td_story;

/* td_story_begin looks at the present state of a replay. td_story_open does too, and makes a text
 * to write to, which is whole after td_story_close; TD_OUT_OF_MEMORY. Without it, the caller frees
 * story->senders. */
void td_story_begin(td_story *story, const td_replay *replay, FILE *out);
td_status td_story_open(td_story *story, const td_replay *replay, char **text, size_t *size,
                        td_error *error);
void td_story_close(td_story *story);

/* td_story_say writes a sentence, whose blanks follow. */
#define td_story_say(story, sentence, ...)                                                         \
  td_say((story)->out, (story)->catalog, sentence, __VA_ARGS__)

/* td_story_entry names a queue's entry. td_story_entries names n of them, the first few by name.
 * The caller frees. */
char *td_story_entry(const td_story *story, const td_queue_entry *entry);
char *td_story_entries(const td_story *story, const td_queue_entry *entries, uint32_t n);

/* td_story_wait tells which gradients a task waits for, and who will send them, without a full
 * stop. The caller frees. */
char *td_story_wait(const td_story *story, const td_task_now *task);

/* td_story_wins says why entry 0 of a queue goes before the n - 1 after it. td_story_loses says why
 * the last of n entries goes after all others. The entries are in the order in which they will be
 * popped, and n > 1. */
void td_story_wins(const td_story *story, uint32_t queue, const td_queue_entry *entries,
                   uint32_t n);
void td_story_loses(const td_story *story, uint32_t queue, const td_queue_entry *entries,
                    uint32_t n);
