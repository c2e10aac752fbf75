/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Trust: which files may become code in a program of this user. The file and all folders above it
 * must belong to the user or to root, and nobody else may write into them. So nobody else can put
 * another file there between the check and the use. Any thread; no state. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>
#include <sys/stat.h>

/* td_trust_holds judges one file or folder for a user. Others may write into a folder with the
 * sticky bit, because they cannot replace what is not theirs. */
bool td_trust_holds(const struct stat *info, uid_t user);

/* td_trust_check judges a path for the effective user. Links are followed, and *real becomes the
 * path without them (the caller frees). TD_IO names what is wrong, and then *real is unchanged. */
td_status td_trust_check(const char *path, char **real, td_error *error);
