/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * An open tape: its replay and the pictures that are built once, the timeline and a scene per graph
 * task. Worker threads open the tape and build pictures; everything else belongs to the main
 * thread. What a caller borrows from a document lives as long as the document.
 *
 * Note [The shown segment]
 * A long tape is cut into segments (engine/replay/segments.h). Then a document has the replay, the
 * catalog and the pictures of one segment. What is said of the tape as a whole comes from its
 * outline. Going to another segment means loading another document
 * (ui/model/playhead/travel.h), so opening costs the time and memory of one segment. That document
 * comes without a scene. The old one goes first, then the new scene is made; the canvas keeps the
 * old picture meanwhile. Position p is after event p - 1, so the segment of that event covers it.
 */
#pragma once

#include "engine/replay/replay.h"
#include "ui/draw/graph_scene.h"
#include "ui/draw/timeline_picture.h"
#include "ui/model/document/outline.h"

#include <gio/gio.h>

#define TD_TYPE_DOCUMENT (td_document_get_type())
G_DECLARE_FINAL_TYPE(TdDocument, td_document, TD, DOCUMENT, GObject)

/* td_document_new returns a document that is not loaded yet. Property "progress" goes from 0 to 1
 * while it loads. "scene" is notified when another graph task's picture is there, and "lives" when
 * the lives of its nodes are (document_lives.h). */
TdDocument *td_document_new(const char *path);

/* td_document_new_live returns a document of a tape that grew or grows while people look
 * at it. It opens at `position`, clamped to the length of the tape. Views that show an earlier
 * reading of the tape stay where they are. A `growing` tape has no trailer yet, and the document
 * does not call that damage. */
TdDocument *td_document_new_live(const char *path, uint64_t position, gboolean growing);
gboolean td_document_is_live(TdDocument *self);
gboolean td_document_is_growing(TdDocument *self);

/* td_document_new_segment returns a document of another segment of a document's tape: the one that
 * covers a position. It opens there. */
TdDocument *td_document_new_segment(TdDocument *other, uint64_t position);

/* A function that looks for the position to open at. It runs in the worker. The catalog is that of
 * the tape as a whole. If it returns FALSE, loading fails with G_IO_ERROR_NOT_FOUND. */
typedef gboolean (*TdFindPosition)(td_tape *tape, const td_catalog *whole, gpointer data,
                                   uint64_t *position);
void td_document_set_start(TdDocument *self, TdFindPosition find, gpointer data);

/* td_document_load_async opens the tape in a worker; finish returns FALSE with an error of
 * TD_ERROR, or G_IO_ERROR_CANCELLED. Before it succeeds callers may use the path alone. */
void td_document_load_async(TdDocument *self, GCancellable *cancellable, GAsyncReadyCallback done,
                            gpointer data);
gboolean td_document_load_finish(TdDocument *self, GAsyncResult *result, GError **error);

const char *td_document_get_path(TdDocument *self);
double td_document_get_progress(TdDocument *self);
td_replay *td_document_get_replay(TdDocument *self);
const td_catalog *td_document_get_catalog(TdDocument *self);
const td_state *td_document_get_state(TdDocument *self);
const td_tape_info *td_document_get_info(TdDocument *self);
td_timeline *td_document_get_timeline(TdDocument *self);

/* td_document_get_outline returns the outline of a tape that is cut, or NULL. */
td_outline *td_document_get_outline(TdDocument *self);

/* td_document_get_refusal says why the document does not show what people wanted to see of a long
 * tape, or returns NULL. It writes the position that they wanted to see. */
const char *td_document_get_refusal(TdDocument *self, uint64_t *position);
void td_document_set_refusal(TdDocument *self, uint64_t position, const char *why);

/* td_document_get_scene returns the picture of the graph task shown now, or NULL before the first
 * is built. A document of another segment has none until somebody calls
 * td_document_show_graph_task: until then, the segment shown before needs memory too. */
td_graph_scene *td_document_get_scene(TdDocument *self);
uint32_t td_document_get_graph_task(TdDocument *self);

/* td_document_get_root returns the node with which that graph task begins, or TD_NONE. */
uint32_t td_document_get_root(TdDocument *self);

/* td_document_pass_of returns the pass in which people look at a node: the graph task shown, if its
 * picture has the node, or TD_NONE. */
uint32_t td_document_pass_of(TdDocument *self, uint32_t node);

/* td_document_show_graph_task makes a graph task's picture the scene, building it in a worker if
 * needed. */
void td_document_show_graph_task(TdDocument *self, uint32_t graph_task);

/* td_document_graph_task_at returns the pass to look at after a position, of the process shown:
 * td_pass_at. */
uint32_t td_document_graph_task_at(TdDocument *self, uint64_t position);

/* td_document_get_process returns the process whose passes are shown, 0 at first.
 * td_document_set_process changes it, notified as "process". td_document_process_of returns the
 * process that made a node. */
uint32_t td_document_get_process(TdDocument *self);
void td_document_set_process(TdDocument *self, uint32_t process);
uint32_t td_document_process_of(TdDocument *self, uint32_t node);

/* td_document_get_causes returns what may have led to the first problems of the tape, and of how
 * many of them that is known. If the tape is cut, its outline tells. Outlines of older versions do
 * not. Then it is what the segment shown tells. */
const td_catalog_cause *td_document_get_causes(TdDocument *self, uint32_t *n);

/* td_document_is_reconstructed tells whether the recorder inferred an event instead of observing
 * it. */
gboolean td_document_is_reconstructed(TdDocument *self, uint64_t seq);
