/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/display.h"

#include <gtk/gtk.h>
#include <malloc.h>

/* Without a graphics processor, OpenGL computes each pixel of a frame on the CPU. GTK's cairo
 * renderer computes only those that changed, in less than half the time. The variable of the person
 * wins. */
static void
choose_renderer(void) {
  static const char *const devices[] = {"/dev/dri", "/dev/nvidiactl", "/dev/dxg", "/dev/mali0",
                                        "/dev/kgsl-3d0"};
  for (size_t i = 0; i < G_N_ELEMENTS(devices); i++)
    if (g_file_test(devices[i], G_FILE_TEST_EXISTS)) return;
  g_setenv("GSK_RENDERER", "cairo", FALSE);
}

bool
td_display_open(void) {
  choose_renderer();
  mallopt(M_ARENA_MAX, 2); /* the layout of the next graph reuses the memory of the last one */
  return gtk_init_check();
}
