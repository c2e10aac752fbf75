/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/colours.h"

#include "ui/draw/shapes.h"

#include <math.h>

static int
byte_of(double share) {
  return (int)lround(fmin(fmax(share, 0), 1) * 255);
}

static void
write_colour(FILE *out, const char *name, const char *of, td_colour colour) {
  fprintf(out, "--%s%s:#%02x%02x%02x;", name, of, byte_of(colour.r), byte_of(colour.g),
          byte_of(colour.b));
}

static void
write_number(FILE *out, const char *name, int number, td_colour colour) {
  char of[16];
  snprintf(of, sizeof of, "%d", number);
  write_colour(out, name, of, colour);
}

static void
write_theme(FILE *out, const td_theme *theme) {
  fprintf(out, "color-scheme:%s;", theme->dark ? "dark" : "light");
  write_colour(out, "background", "", theme->background);
  write_colour(out, "foreground", "", theme->foreground);
  write_colour(out, "dim", "", theme->dim);
  write_colour(out, "line", "", theme->line);
  write_colour(out, "accent", "", theme->accent);
  write_colour(out, "error", "", theme->error);
  write_colour(out, "warning", "", theme->warning);
  write_colour(out, "card", "", theme->card);
  for (int i = 0; i < TD_N_NODE_STATES; i++) {
    const char *name = td_node_state_name((td_node_state)i);
    write_colour(out, "state-", name, theme->node_fill[i]);
    write_colour(out, "ground-", name, td_shape_fill_colour((td_node_state)i, theme));
    write_colour(out, "text-", name, td_shape_text_colour((td_node_state)i, theme));
  }
  for (int i = 0; i < TD_thread_activity_LIMIT; i++)
    write_colour(out, "activity-", td_enum_word(TD_FIELD_ENUM_thread_activity, (uint64_t)i),
                 theme->thread_fill[i]);
  for (int device = -1; device < 7; device++)
    write_number(out, "device-", device + 1, td_theme_device(theme, device));
}

void
td_page_colours_write(FILE *out) {
  const td_theme *light = td_theme_default(false), *dark = td_theme_default(true);
  fputs(":root{", out);
  write_theme(out, light);
  fputs("}\n@media (prefers-color-scheme:dark){:root{", out);
  write_theme(out, dark);
  fputs("}}\n:root[data-theme=light]{", out);
  write_theme(out, light);
  fputs("}\n:root[data-theme=dark]{", out);
  write_theme(out, dark);
  fputs("}\n", out);
}
