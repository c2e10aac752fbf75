/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one thing that all panes share: the position on the tape, the selection, whether it plays,
 * and the visible span of time. Widgets hold the playhead, set it and listen to it; no widget knows
 * another. Moving the playhead moves the document's replay.
 *
 * A document may have one segment of a long tape: Note [The shown segment] in
 * ui/model/document/document.h. A playhead that is sent to another segment travels there in the
 * background. Meanwhile position and document stay. When it arrives, it has another document. Main
 * thread only. */
#pragma once

#include "ui/model/document/document.h"
#include "ui/model/playhead/speed.h"

#define TD_TYPE_PLAYHEAD (td_playhead_get_type())
G_DECLARE_FINAL_TYPE(TdPlayhead, td_playhead, TD, PLAYHEAD, GObject)

/* td_playhead_new returns a playhead without a document. Its properties notify: "document",
 * "position", "selection", "playing", "speed" (ui/model/playhead/speed.h) and "follow" (the
 * selection goes to the node of each event reached). "travelling" tells that it set out, turned,
 * arrived or failed. Its signals are "span-changed" and "message" (const char *), a sentence for
 * the person.
 */
TdPlayhead *td_playhead_new(void);

void td_playhead_set_document(TdPlayhead *self, TdDocument *document);

/* td_playhead_update_document replaces the document by a later reading of the same tape, which has
 * grown. The selection stays. The span stays if somebody has changed it. A playhead at the end goes
 * to the new end; any other stays at its event. */
void td_playhead_update_document(TdPlayhead *self, TdDocument *document);
TdDocument *td_playhead_get_document(TdPlayhead *self); /* NULL if none is open */

gboolean td_playhead_is_at_end(TdPlayhead *self);

/* td_playhead_set_position seeks; positions beyond the end are clamped. Costs a seek, under 2 ms,
 * or sets out to another segment. */
void td_playhead_set_position(TdPlayhead *self, uint64_t position);
uint64_t td_playhead_get_position(TdPlayhead *self);

/* td_playhead_is_travelling tells whether the playhead is under way to another segment.
 * td_playhead_get_target returns where it is sent; without travel, its position. */
gboolean td_playhead_is_travelling(TdPlayhead *self);
uint64_t td_playhead_get_target(TdPlayhead *self);

/* td_playhead_travel_to_node goes to the next node that begins after the target (1) or before it
 * (-1), in whatever segment. Only for a tape that is cut. */
void td_playhead_travel_to_node(TdPlayhead *self, int direction);

/* td_playhead_select_current selects the node of the event at the position, if the selection
 * follows and the event has a node of the process shown. */
void td_playhead_select_current(TdPlayhead *self);

/* td_playhead_select_reached selects the node of the event at the target, once it is reached. */
void td_playhead_select_reached(TdPlayhead *self);

/* td_playhead_show_node goes to a position of any segment, and selects a node once it is reached.
 */
void td_playhead_show_node(TdPlayhead *self, uint64_t position, uint32_t node);

/* td_playhead_step_event moves by one event; direction is 1 or -1. */
void td_playhead_step_event(TdPlayhead *self, int direction);

/* td_playhead_get_length returns the number of events of the whole tape. */
uint64_t td_playhead_get_length(TdPlayhead *self);

/* td_playhead_get_time_ns returns the time of the event reached, 0 before the first. */
uint64_t td_playhead_get_time_ns(TdPlayhead *self);

/* td_playhead_seek_time goes to the last event not after a time. */
void td_playhead_seek_time(TdPlayhead *self, double ns);

/* td_playhead_set_selection selects a node in all panes, or none with TD_NONE. */
void td_playhead_set_selection(TdPlayhead *self, uint32_t node);
uint32_t td_playhead_get_selection(TdPlayhead *self);

/* td_playhead_set_edge selects an edge of the catalog instead of a node, or none with TD_NONE. The
 * property "selection" notifies. The edge stays selected until somebody selects a node or no node,
 * or the document changes. */
void td_playhead_set_edge(TdPlayhead *self, uint32_t edge);
uint32_t td_playhead_get_edge(TdPlayhead *self);

/* td_playhead_set_marks marks nodes that belong together, besides the selection. It takes the array
 * of uint32_t; NULL marks none. They stay until somebody selects another node, or the document
 * changes. td_playhead_get_marks returns them, sorted; borrowed. The property "selection" notifies.
 */
void td_playhead_set_marks(TdPlayhead *self, GArray *nodes);
const uint32_t *td_playhead_get_marks(TdPlayhead *self, guint *n);

void td_playhead_set_playing(TdPlayhead *self, gboolean playing);
gboolean td_playhead_get_playing(TdPlayhead *self);
void td_playhead_set_speed(TdPlayhead *self, guint speed);
guint td_playhead_get_speed(TdPlayhead *self);
void td_playhead_set_follow(TdPlayhead *self, gboolean follow);

/* td_playhead_set_span sets which nanoseconds the timeline shows, kept inside the segment and not
 * narrower than 100 ns. */
void td_playhead_set_span(TdPlayhead *self, double from_ns, double to_ns);
void td_playhead_get_span(TdPlayhead *self, double *from_ns, double *to_ns);
void td_playhead_reset_span(TdPlayhead *self);

/* td_playhead_show_pass makes the span that of the backward pass at the playhead. */
void td_playhead_show_pass(TdPlayhead *self);

/* td_playhead_say shows a sentence to the person: the signal "message". */
void td_playhead_say(TdPlayhead *self, const char *text);

/* td_playhead_tick moves a playing playhead to where it should be at a frame's time (microseconds).
 */
void td_playhead_tick(TdPlayhead *self, int64_t frame_us);
