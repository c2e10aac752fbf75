/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output folder: what a command writes into several files gets its name when all are whole. If the
 * command fails, or a signal ends it, nothing is left. As app/common/output_file.h. Main thread. */
#pragma once

#include <stdbool.h>

typedef struct td_output_folder {
  char *path;   /* (owned) its name */
  char *part;   /* (owned) write here: a folder beside it */
  char **names; /* (owned) of the files that it will have; ends with NULL */
} td_output_folder;

/* td_output_folder_begin makes the folder to write into. False with errno: then there is nothing to
 * end. Else either td_output_folder_keep gives it its name, or td_output_folder_drop removes it. If
 * a folder of that name exists, keep moves the files into it, and leaves its other files alone.
 * keep returns false with errno if it failed, and the files are gone then. */
bool td_output_folder_begin(td_output_folder *folder, const char *path, const char *const *names);
bool td_output_folder_keep(td_output_folder *folder, bool overwrite);
void td_output_folder_drop(td_output_folder *folder);
