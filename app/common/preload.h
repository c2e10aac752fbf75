/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the probe gets into another program: ld.so loads what LD_PRELOAD names. ld.so divides
 * LD_PRELOAD at spaces and colons, so a library in a path with one of these needs another path. */
#pragma once

/* td_preload_path returns a path to `library`, an absolute path, that LD_PRELOAD can hold. If
 * `library` cannot stand there itself, the path goes through a link in a folder of this user's in
 * /tmp. The link stays there, for programs that outlive this one. Returns NULL and says why in
 * *problem if there can be no such link. The caller frees both. */
char *td_preload_path(const char *library, char **problem);

/* td_preload_set puts the probe's library before what LD_PRELOAD has in `environment`, but after
 * the runtimes of sanitizers. It takes `environment` and returns the new one, or NULL with *problem
 * as above. */
char **td_preload_set(char **environment, char **problem);
