/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/quiz/telling.h"

bool
td_telling_begin(td_telling *self, td_replay *replay, const td_question *question) {
  *self = (td_telling){.replay = replay, .back = td_replay_position(replay)};
  if (td_replay_seek(replay, question->position, NULL) != TD_OK) return false;
  if (td_story_open(&self->story, replay, &self->text, &self->size, NULL) == TD_OK) return true;
  td_replay_seek(replay, self->back, NULL);
  return false;
}

char *
td_telling_end(td_telling *self) {
  td_story_close(&self->story);
  td_replay_seek(self->replay, self->back, NULL);
  return self->text;
}

const td_task_now *
td_telling_find_task(const td_story *story, const td_question *question, uint32_t node) {
  const td_task_now *task = td_state_task_find(story->state, node, question->graph_task);
  return task ? task : td_state_task_find(story->state, node, TD_NONE);
}
