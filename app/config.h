/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the window remembers between runs, in the user's config folder: its size, its panes, recent
 * tapes. Losing the file is harmless. Main thread. */
#pragma once

#include <glib.h>

typedef struct TdConfig TdConfig;

/* td_config_load reads the file, or starts empty; td_config_save writes it, silently giving up
 * where it cannot. */
TdConfig *td_config_load(void);
void td_config_save(TdConfig *self);
void td_config_free(TdConfig *self);

/* A number of the window, or `fallback` where none is remembered. */
int td_config_get_int(TdConfig *self, const char *key, int fallback);
void td_config_set_int(TdConfig *self, const char *key, int value);

/* td_config_dup_recent returns paths of tapes that still exist, latest first; td_config_add_recent
 * puts one first. */
char **td_config_dup_recent(TdConfig *self);
void td_config_add_recent(TdConfig *self, const char *path);
