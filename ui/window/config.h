/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the window remembers between runs: its size, its panes, recent tapes. The file is in the
 * user's config folder. Losing it is harmless. Main thread. */
#pragma once

#include <glib.h>

typedef struct TdConfig TdConfig;

/* td_config_load reads the file. If it cannot, it starts empty. td_config_save writes the file.
 * If it cannot, it says nothing. */
TdConfig *td_config_load(void);
void td_config_save(TdConfig *self);
void td_config_free(TdConfig *self);

/* td_config_get_int returns a number of the window, or `fallback` if none is stored. */
int td_config_get_int(TdConfig *self, const char *key, int fallback);
void td_config_set_int(TdConfig *self, const char *key, int value);

/* td_config_dup_recent returns the paths of recent tapes that still exist, latest first.
 * td_config_add_recent puts one first. */
char **td_config_dup_recent(TdConfig *self);
void td_config_add_recent(TdConfig *self, const char *path);
