/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A running program that Tapedeck records, as the window sees it. The session is connected to the
 * hub of `tapedeck run` or `record`. It knows the stopped threads and what the gate will stop on,
 * and it sends commands. The recording itself is the tape. When the session emits "stopped", the
 * tape is whole up to that stop. Main thread. */
#pragma once

#include "engine/events/event.h"

#include <gio/gio.h>

#define TD_TYPE_LIVE_SESSION (td_live_session_get_type())
G_DECLARE_FINAL_TYPE(TdLiveSession, td_live_session, TD, LIVE_SESSION, GObject)

typedef enum TdLiveState {
  TD_LIVE_RUNNING,  /* no thread is stopped */
  TD_LIVE_STOPPED,  /* some thread is */
  TD_LIVE_DETACHED, /* a window let it go, or none was there; a pause takes it back */
  TD_LIVE_WATCHED,  /* it was recorded without --live: nobody can stop it */
  TD_LIVE_ENDED,    /* the recording is over: the tape is whole */
} TdLiveState;

/* Where a thread is stopped. Strings are the session's. */
typedef struct TdLiveStop {
  uint32_t thread;
  uint32_t node;         /* or TD_NONE */
  const char *kind;      /* of the event it stopped after: "node_begin" */
  const char *name;      /* of the node, or NULL */
  const char *reason;    /* first, pause, step, break or hold */
  const char *condition; /* that held, or NULL */
} TdLiveStop;

/* td_live_session_new connects to a hub of this user and looks at one of its processes. It emits
 * "changed" when a function below may answer differently, and "ended" once. It emits "answered"
 * after td_live_session_choose, with why the choice was refused, or "". It emits "stopped" when a
 * thread has stopped and the recorder has written the tape up to there. */
TdLiveSession *td_live_session_new(const char *path, uint32_t process, GError **error);

TdLiveState td_live_session_get_state(TdLiveSession *self);

/* td_live_session_is_lost tells whether the session ended, but the program did not say that it did:
 * a connection broke. */
gboolean td_live_session_is_lost(TdLiveSession *self);

/* td_live_session_get_stop returns the latest stop of a thread that still stands, or NULL.
 * td_live_session_find_stop returns the stop of one thread. Both are borrowed until the next
 * change. */
const TdLiveStop *td_live_session_get_stop(TdLiveSession *self);
const TdLiveStop *td_live_session_find_stop(TdLiveSession *self, uint32_t thread);
guint td_live_session_get_n_stopped(TdLiveSession *self);

/* td_live_session_get_chosen returns the node that was chosen to be popped next, or TD_NONE if
 * nobody chose one since the program went on. */
uint32_t td_live_session_get_chosen(TdLiveSession *self);

/* What the gate stops on: conditions, as --break writes them, and threads on hold. */
const char *const *td_live_session_get_conditions(TdLiveSession *self);
gboolean td_live_session_has_condition(TdLiveSession *self, const char *condition);
gboolean td_live_session_is_held(TdLiveSession *self, uint32_t thread);

/* Commands. A step of TD_NONE lets the thread go that has waited longest. */
void td_live_session_step(TdLiveSession *self, uint32_t thread);
void td_live_session_continue(TdLiveSession *self);
void td_live_session_pause(TdLiveSession *self);
void td_live_session_detach(TdLiveSession *self);

/* td_live_session_choose has a ready task popped next from its queue. Tapedeck's engine does that,
 * PyTorch's cannot. */
void td_live_session_choose(TdLiveSession *self, uint32_t queue, uint32_t node);

/* td_live_session_interrupt has the program get SIGINT, as Ctrl+C does, and lets it go. It hears
 * the signal first, so it cannot come to its end before. */
void td_live_session_interrupt(TdLiveSession *self);

void td_live_session_set_condition(TdLiveSession *self, const char *condition, gboolean wanted);
void td_live_session_set_held(TdLiveSession *self, uint32_t thread, gboolean held);
