/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A moment of a small pass as lines of text: each node with its state. Main thread. */
#pragma once

#include "engine/replay/replay.h"

#include <glib.h>

/* td_lesson_picture_print prints the replay's present state. An arrow is at the nodes that are
 * shown. Without counts, nobody can read off how many gradients a node waits for. */
void td_lesson_picture_print(const td_replay *replay, const GArray *shown, bool has_counts);
