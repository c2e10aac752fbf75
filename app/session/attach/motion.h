/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whether threads of a process run, by two looks at the kernel's account of them. Any thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef enum td_motion {
  TD_MOTION_UNKNOWN, /* the kernel does not say, or the thread is new */
  TD_MOTION_RUNS,    /* it was on a core, or wanted one */
  TD_MOTION_SLEEPS   /* in both looks, and it had no time of a processor between them */
} td_motion;

/* td_motion_look returns what the kernel says of each thread of a process now. Free with
 * td_motions_free. */
typedef struct td_motions td_motions;
td_motions *td_motion_look(pid_t pid);
void td_motions_free(td_motions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(td_motions, td_motions_free)

/* td_motion_between says what a thread did between two looks. */
td_motion td_motion_between(const td_motions *before, const td_motions *after, guint32 lwp);
