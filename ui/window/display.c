/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/window/display.h"

#include "ui/draw/theme.h"
#include "ui/window/language.h"

#include <gtk/gtk.h>
#include <malloc.h>

#define LARGE_BYTES (4 << 20)

/* Without OpenGL, GTK need not load a compiler for it. That takes 50 MB. */
static void
leave_out_opengl(void) {
  bool is_old = gtk_check_version(4, 14, 0) != NULL; /* then the variable has another name */
  const char *variable = is_old ? "GDK_DEBUG" : "GDK_DISABLE", *word = is_old ? "gl-disable" : "gl";
  const char *before = g_getenv(variable);
  g_autofree char *words = g_strconcat(word, before ? "," : NULL, before, NULL);
  g_setenv(variable, words, TRUE);
}

/* Without a graphics processor, OpenGL computes each pixel of a frame on the CPU. GTK's cairo
 * renderer computes only those that changed, in less than half the time. The variable of the person
 * wins. */
static void
choose_renderer(void) {
  static const char *const devices[] = {"/dev/dri", "/dev/nvidiactl", "/dev/dxg", "/dev/mali0",
                                        "/dev/kgsl-3d0"};
  for (size_t i = 0; i < G_N_ELEMENTS(devices); i++)
    if (g_file_test(devices[i], G_FILE_TEST_EXISTS)) return;
  if (g_getenv("GSK_RENDERER")) return;
  g_setenv("GSK_RENDERER", "cairo", FALSE);
  leave_out_opengl();
}

/* The layout of the next graph reuses the memory of the last one. What is large goes back to the
 * system at once: by itself, malloc would put it between small things and keep the gaps. */
static void
set_up_memory(void) {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

/* Pictures have the font of the desktop. It stays for the whole run: graphs are measured with it.
 */
static void
take_font(void) {
  static char *families;
  g_autofree char *name = NULL;
  g_object_get(gtk_settings_get_default(), "gtk-font-name", &name, NULL);
  if (!name || families) return;
  PangoFontDescription *font = pango_font_description_from_string(name);
  const char *family = pango_font_description_get_family(font);
  if (family) families = g_strconcat(family, ", Cantarell, sans-serif", NULL);
  if (families) td_theme_set_font(families);
  pango_font_description_free(font);
}

bool
td_display_open(void) {
  choose_renderer();
  set_up_memory();
  td_language_begin();
  gtk_disable_setlocale(); /* it would take the user's decimal comma too, and JSON has none */
  bool is_open = gtk_init_check();
  if (is_open) take_font();
  return is_open;
}
