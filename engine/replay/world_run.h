/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A world that goes through a segment of a tape. Private to engine/replay.
 *
 * Note [One pass]
 * A pass over a segment makes catalog and world, so that each event is decoded once. The catalog
 * takes an event first, then the world applies it. The world grows with the catalog, and sees what
 * events told so far. In a sound tape an event comes after those that declare what it names, so
 * the world needs no more. The catalog notices if it does (td_collecting_is_late). Then a second
 * pass makes the world anew, with all facts. So one position has one state, whichever way leads
 * there.
 *
 * One thread. */
#pragma once

#include "engine/replay/world.h"

/* td_world_begin applies the keyframe of the segment that the catalog is of, so that the world
 * stands before the segment's first event. If the catalog is still collected, `collecting` is not
 * NULL, and gets the keyframe too. world->contradiction: the keyframe contradicts itself.
 * As td_tape_visit_keyframe. */
td_status td_world_begin(td_world *world, td_tape *tape, const td_segment *segment,
                         td_collecting *collecting, td_error *error);

/* td_world_run applies the events of the segment in a pass over the tape. If the catalog is still
 * collected, `collecting` is not NULL, and takes each event first. It calls `visit`, if not NULL,
 * after each event; event is NULL if it cannot be read. As td_collecting_take, or what `visit`
 * returned. */
typedef td_status (*td_world_visitor)(const td_any_event *event, uint64_t seq, void *data);
td_status td_world_run(td_world *world, td_tape *tape, const td_segment *segment,
                       td_collecting *collecting, td_world_visitor visit, void *data,
                       td_error *error);
