/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape that is open: its replay, the pictures that are built once (the timeline, a scene per
 * graph task) and the events that tell of trouble. Opening and building run in worker threads;
 * everything else belongs to the main thread. All that is borrowed from a document lives as long as
 * the document. */
#pragma once

#include "engine/replay/replay.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/timeline_picture.h"

#include <gio/gio.h>

#define TD_TYPE_DOCUMENT (td_document_get_type())
G_DECLARE_FINAL_TYPE(TdDocument, td_document, TD, DOCUMENT, GObject)

/* td_document_new returns a document that is not loaded yet. Property "progress" goes from 0 to 1
 * while it loads; "scene" is notified when another graph task's picture is there. */
TdDocument *td_document_new(const char *path);

/* td_document_new_live returns a document of a tape that grew or grows while it is looked at. It
 * will be at `position`, clamped to what there is; views that show an earlier reading of the tape
 * stay where they are. While it is `growing`, that its end is missing is no damage. */
TdDocument *td_document_new_live(const char *path, uint64_t position, gboolean growing);
gboolean td_document_is_live(TdDocument *self);

/* td_document_load_async opens the tape in a worker; finish returns FALSE with an error of
 * TD_ERROR, or G_IO_ERROR_CANCELLED. Nothing below but the path may be asked before it succeeded.
 */
void td_document_load_async(TdDocument *self, GCancellable *cancellable, GAsyncReadyCallback done,
                            gpointer data);
gboolean td_document_load_finish(TdDocument *self, GAsyncResult *result, GError **error);

const char *td_document_get_path(TdDocument *self);
double td_document_get_progress(TdDocument *self);
td_replay *td_document_get_replay(TdDocument *self);
const td_graph *td_document_get_graph(TdDocument *self);
const td_state *td_document_get_state(TdDocument *self);
const td_tape_info *td_document_get_info(TdDocument *self);
td_timeline *td_document_get_timeline(TdDocument *self);

/* td_document_get_scene returns the picture of the graph task shown now, or NULL before the first
 * is built. */
td_graph_scene *td_document_get_scene(TdDocument *self);
uint32_t td_document_get_graph_task(TdDocument *self);

/* td_document_show_graph_task makes a graph task's picture the scene, building it in a worker if
 * needed. */
void td_document_show_graph_task(TdDocument *self, uint32_t graph_task);

/* td_document_is_begun tells whether the beginning of a graph task is on the tape; it may be lost
 * with the end of a damaged one. */
gboolean td_document_is_begun(TdDocument *self, uint32_t graph_task);

/* td_document_graph_task_at returns the graph task to look at after a position, among those of the
 * process shown: the one that began last of those that run then, so that an outer pass comes back
 * when the inner one is over; between passes the last one; the first one before any; TD_NONE on a
 * tape without. */
uint32_t td_document_graph_task_at(TdDocument *self, uint64_t position);

/* td_document_start_position returns where a reader wants to begin: just after the first
 * graph_task_begin, or 0. */
uint64_t td_document_start_position(TdDocument *self);

/* td_document_get_process returns the process whose passes are shown, 0 at first.
 * td_document_set_process changes it, notified as "process". td_document_process_of returns the
 * process that made a node. */
uint32_t td_document_get_process(TdDocument *self);
void td_document_set_process(TdDocument *self, uint32_t process);
uint32_t td_document_process_of(TdDocument *self, uint32_t node);

/* td_document_get_pass_number returns the place, from 1, of a graph task among those shown, in the
 * order in which they begin, and writes how many they are. */
uint32_t td_document_get_pass_number(TdDocument *self, uint32_t graph_task, uint32_t *n);

/* td_document_get_pass_span writes the time of one graph task, with a little around it. */
void td_document_get_pass_span(TdDocument *self, uint32_t graph_task, double *from_ns,
                               double *to_ns);

/* td_document_get_backward_span writes the time from the first graph_task_begin to the last
 * graph_task_end, with a little around it: what most people come to see. The whole tape where there
 * is none. */
void td_document_get_backward_span(TdDocument *self, double *from_ns, double *to_ns);

/* td_document_get_problems returns all events of TD_LIST_problems, ascending.
 */
const td_graph_mention *td_document_get_problems(TdDocument *self, size_t *n);

/* td_document_find_anomaly copies the nth `anomaly` event, from 0, of a node before the present
 * position; FALSE where it has no more. */
gboolean td_document_find_anomaly(TdDocument *self, uint32_t node, uint32_t nth,
                                  td_event_anomaly *out);

/* td_document_is_reconstructed tells whether an event follows from what was seen and was not seen
 * itself. */
gboolean td_document_is_reconstructed(TdDocument *self, uint64_t seq);

/* td_document_dup_warning says what is missing from the tape (damage, dropped events), or returns
 * NULL. */
char *td_document_dup_warning(TdDocument *self);

/* td_document_dup_node_name returns "MulBackward0 #6"; td_document_dup_event_text what an event
 * tells. */
char *td_document_dup_node_name(TdDocument *self, uint32_t node);
char *td_document_dup_event_text(TdDocument *self, uint64_t seq);

/* td_document_dup_wait_text says what a node waits for at the playhead, or returns NULL;
 * td_document_dup_pop_text answers "why this one next?" for the pop of event `seq`. */
char *td_document_dup_wait_text(TdDocument *self, uint32_t node);
char *td_document_dup_pop_text(TdDocument *self, uint64_t seq);
