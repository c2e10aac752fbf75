/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The trial of a new observer. A child process runs engine/probe/trial.py under it. Its tape must
 * keep the engine's rules, and must say what engine/probe/trial.txt says. So an observer that
 * misreads PyTorch harms no program. Any thread. */
#pragma once

#include "app/session/observer/subprocess.h"
#include "app/session/observer/torch_files.h"

#include <sys/types.h>

/* The Python to try an observer with. */
typedef struct td_trial_host {
  char *python;       /* (owned) its path, or NULL: the program is no Python */
  char **environment; /* (owned) */
} td_trial_host;

/* td_trial_host_new takes a Python with our environment. td_trial_host_of_process takes the
 * Python that a process is, with its environment and its virtual environment. */
td_trial_host *td_trial_host_new(const char *python);
td_trial_host *td_trial_host_of_process(pid_t pid);
void td_trial_host_free(td_trial_host *self);

typedef enum td_trial_verdict {
  TD_TRIAL_PASSED,
  TD_TRIAL_FAILED, /* the observer is wrong */
  TD_TRIAL_OPEN,   /* something else was in the way */
} td_trial_verdict;

/* td_observer_try tries an observer in `folder`, which the trial may write into. If it does not
 * pass, *complaint becomes the reason (free it). What the child says is added to `log`. */
td_trial_verdict td_observer_try(const td_trial_host *host, const td_torch_files *torch,
                                 const char *observer, const char *folder,
                                 const td_progress *progress, GString *log, char **complaint);
