/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A state as events of the kinds *_now, for the keyframe of a segment. Private to engine/replay. */
#pragma once

#include "engine/replay/state.h"
#include "engine/trace/keyframe.h"

/* td_segment_state_put adds the state to a keyframe, which already has the lasting events. All get
 * the number `seq` and the thread. */
void td_segment_state_put(td_keyframe *keyframe, const td_state *state, const td_catalog *catalog,
                          uint64_t seq, uint32_t thread);
