/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture of the window as it was when somebody asked for it. The program and the playhead may go
 * on. A worker turns it into pixels or into a file: that may take seconds. Main thread. */
#pragma once

#include "ui/widgets/base/canvas.h"

/* TdShot is counted: td_shot_ref, td_shot_unref. */
typedef struct TdShot TdShot;

/* td_shot_new draws what a canvas shows now, for the worker to draw again. */
TdShot *td_shot_new(TdCanvas *canvas);
TdShot *td_shot_ref(TdShot *self);
void td_shot_unref(gpointer self);

/* td_shot_write_async writes a file; the ending of its name says as what. finish returns FALSE with
 * an error that says why not, or G_IO_ERROR_CANCELLED. Then there is no new file, and an older one
 * of that name stays. */
void td_shot_write_async(TdShot *self, const char *path, GCancellable *cancellable,
                         GAsyncReadyCallback done, gpointer data);
gboolean td_shot_write_finish(GAsyncResult *result, GError **error);

/* td_shot_texture_async makes pixels. finish returns a new reference. */
void td_shot_texture_async(TdShot *self, GAsyncReadyCallback done, gpointer data);
GdkTexture *td_shot_texture_finish(GAsyncResult *result);
