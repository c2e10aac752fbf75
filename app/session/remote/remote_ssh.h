/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The process of ssh that leads to a relay. It stays in this process's group, so it can ask for a
 * passphrase on the terminal. Its standard error is ours. Main thread. */
#pragma once

#include "app/session/remote_address.h"

typedef struct td_remote_ssh {
  GPid pid;
  int in, out; /* (owned) its standard files; -1: the caller has taken the file */
  bool runs;
  int status; /* as waitpid has it, once it has ended */
} td_remote_ssh;

/* td_remote_ssh_start starts `tapedeck ARGUMENTS` at an address. If it cannot, it returns false and
 * sets *problem to the reason (free it). */
bool td_remote_ssh_start(td_remote_ssh *ssh, const td_remote_address *address,
                         const char *arguments, char **problem);

/* td_remote_ssh_end closes the files and waits for the end of ssh; after two seconds it ends it. */
void td_remote_ssh_end(td_remote_ssh *ssh);

/* td_remote_ssh_explain says of an ssh that has ended why there was no relay, in a sentence. */
const char *td_remote_ssh_explain(const td_remote_ssh *ssh);
