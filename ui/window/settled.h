/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tells tests when the window is settled: that no worker, layout, frame or animation is pending. A
 * test waits for that before it presses a key or looks. Main thread.
 *
 * Note [Settled]
 * With TAPEDECK_TEST=1, and only then, the process has the name org.tapedeck.Test.p<pid> on the
 * session bus. There, /org/tapedeck/Test has the interface org.tapedeck.Test:
 *
 *   Settle()     answers as soon as the window is settled
 *   Pending: as  what is pending now, for the message of a test that has waited too long
 *
 * What X or Wayland has of the keys and the pointer when Settle is called, the window handles
 * before it answers. Then what it drew is on the screen of X, and nothing of this is left:
 *
 *   window    none is shown yet
 *   document  a tape, a lesson or an example is being opened, or the playhead travels: see
 *             td_window_is_settled
 *   button    a key or a screen reader has pressed one, and it did not act yet
 *   worker    a thread works for the window, or nothing has taken its result yet
 *             (ui/model/base/worker.h)
 *   delay     work waits a moment; Settle lets it come now (ui/model/base/delay.h)
 *   frame     a window still changes: a layout, a picture, an animation, a spinner. QUIET_FRAMES
 *             frames in a row must bring nothing new
 *
 * A tape that plays is not pending: then Settle answers at once. Nor is what comes from outside,
 * such as news of a live program, nor a notice that stands until its time is over. The text cursor
 * does not blink under TAPEDECK_TEST. */
#pragma once

/* td_settled_tell does so, if TAPEDECK_TEST is set. Call it once, with a display, before the first
 * window. */
void td_settled_tell(void);
