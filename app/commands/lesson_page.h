/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A lesson as a page of HTML that needs nothing else, for a course's site. Main thread. */
#pragma once

#include "engine/replay/replay.h"
#include "ui/model/lesson/lesson.h"

#include <stdbool.h>

/* td_lesson_page_write writes the page of a lesson whose steps were placed on the replay
 * (td_lesson_place). Moves the replay. Returns an exit status; it has said what went wrong. */
int td_lesson_page_write(const td_lesson *lesson, const GPtrArray *stops, td_replay *replay,
                         const char *path, bool force);
