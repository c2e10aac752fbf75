/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Output file: what a command writes gets its name when it is whole. If the command fails, or a
 * signal ends it, nothing is left and an older file of that name stays. Main thread. */
#pragma once

#include <stdbool.h>

typedef struct td_output_file {
  char *path; /* (owned) its name; a link's target */
  char
      *part; /* (owned) write here: a file beside it. If `path` is no regular file: the same path */
} td_output_file;

/* td_output_file_begin chooses the path to write to. Then either td_output_file_keep gives the
 * written file its name, or td_output_file_drop removes it; both free what `file` owns. keep
 * returns false with errno if it failed, and the file is gone then. */
void td_output_file_begin(td_output_file *file, const char *path);
bool td_output_file_keep(td_output_file *file, bool overwrite);
void td_output_file_drop(td_output_file *file);

/* td_output_is_special returns true if the path leads to something that is no regular file: a
 * device, a pipe, a folder. */
bool td_output_is_special(const char *path);

/* td_output_is_taken returns true if something has that name. A symbolic link counts, even if it
 * leads to nothing. */
bool td_output_is_taken(const char *path);

/* td_output_rename renames a file. Without `overwrite` it fails if `to` exists. Returns false with
 * errno. */
bool td_output_rename(const char *from, const char *to, bool overwrite);
