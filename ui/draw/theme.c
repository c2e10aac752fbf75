/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/draw/theme.h"

#define RGB(hex)                                                                                   \
  { (((hex) >> 16) & 255) / 255.0, (((hex) >> 8) & 255) / 255.0, ((hex)&255) / 255.0, 1 }

/* Hues are those of Okabe and Ito's palette, which all common kinds of colour vision tell apart. */
static td_theme light = {
    .dark = false,
    .background = RGB(0xf6f7f9),
    .foreground = RGB(0x1d222b),
    .dim = RGB(0x667084),
    .line = RGB(0xc3cad5),
    .accent = RGB(0x0f62c4),
    .error = RGB(0xd0021b),
    .warning = RGB(0xe69f00),
    .card = RGB(0xffffff),
    .hot = RGB(0xd55e00),
    .node_fill = {[TD_NODE_created] = RGB(0xaab3c2),
                  [TD_NODE_waiting] = RGB(0x8490a5),
                  [TD_NODE_partial] = RGB(0x38a0e0),
                  [TD_NODE_queued] = RGB(0xe69f00),
                  [TD_NODE_running] = RGB(0x0f62c4),
                  [TD_NODE_done] = RGB(0x00936b),
                  [TD_NODE_skipped] = RGB(0x8d8f96),
                  [TD_NODE_captured] = RGB(0xb75a90),
                  [TD_NODE_failed] = RGB(0xd0021b),
                  [TD_NODE_released] = RGB(0x86b8a8),
                  [TD_NODE_absent] = RGB(0xcdd3dd)},
    .thread_fill = {[TD_thread_activity_outside] = RGB(0xd9dee6),
                    [TD_thread_activity_idle] = RGB(0xd9dee6),
                    [TD_thread_activity_processing] = RGB(0x0f62c4),
                    [TD_thread_activity_scattering] = RGB(0x56b4e9),
                    [TD_thread_activity_completed] = RGB(0x00936b),
                    [TD_thread_activity_post_processing] = RGB(0x4fae91),
                    [TD_thread_activity_notify_owner] = RGB(0xe69f00),
                    [TD_thread_activity_reentrant_wait] = RGB(0xb75a90),
                    [TD_thread_activity_spawn_thread] = RGB(0x8d6fc0),
                    [TD_thread_activity_ended] = RGB(0xe9ecf1)},
    .device_stripe = {RGB(0x5d6b82), RGB(0xd55e00), RGB(0x8a4fbf), RGB(0x0f8f8a), RGB(0xb8860b),
                      RGB(0xc2417c), RGB(0x4f7d1f), RGB(0x2f55a4)},
    .font = "Cantarell, sans-serif",
};

static td_theme dark = {
    .dark = true,
    .background = RGB(0x15181d),
    .foreground = RGB(0xe9ecf1),
    .dim = RGB(0x98a2b3),
    .line = RGB(0x454d5b),
    .accent = RGB(0x4f9cf5),
    .error = RGB(0xff4d5e),
    .warning = RGB(0xf5b731),
    .card = RGB(0x21262e),
    .hot = RGB(0xf06a00),
    .node_fill = {[TD_NODE_created] = RGB(0x5f6a7c),
                  [TD_NODE_waiting] = RGB(0x8793a7),
                  [TD_NODE_partial] = RGB(0x56b4e9),
                  [TD_NODE_queued] = RGB(0xf0b030),
                  [TD_NODE_running] = RGB(0x2f7fe6),
                  [TD_NODE_done] = RGB(0x2cc295),
                  [TD_NODE_skipped] = RGB(0x7f838c),
                  [TD_NODE_captured] = RGB(0xdf8fbb),
                  [TD_NODE_failed] = RGB(0xff4d5e),
                  [TD_NODE_released] = RGB(0x4d7f70),
                  [TD_NODE_absent] = RGB(0x3f4754)},
    .thread_fill = {[TD_thread_activity_outside] = RGB(0x353c48),
                    [TD_thread_activity_idle] = RGB(0x353c48),
                    [TD_thread_activity_processing] = RGB(0x3d8cf0),
                    [TD_thread_activity_scattering] = RGB(0x56b4e9),
                    [TD_thread_activity_completed] = RGB(0x2cc295),
                    [TD_thread_activity_post_processing] = RGB(0x3f9a7e),
                    [TD_thread_activity_notify_owner] = RGB(0xf0b030),
                    [TD_thread_activity_reentrant_wait] = RGB(0xdf8fbb),
                    [TD_thread_activity_spawn_thread] = RGB(0xa78be0),
                    [TD_thread_activity_ended] = RGB(0x262b33)},
    .device_stripe = {RGB(0x8795ad), RGB(0xf07f2e), RGB(0xb183e0), RGB(0x37bdb5), RGB(0xdcb03a),
                      RGB(0xe877aa), RGB(0x8cbf4a), RGB(0x7d9cf0)},
    .font = "Cantarell, sans-serif",
};

const td_theme *
td_theme_default(bool want_dark) {
  return want_dark ? &dark : &light;
}

void
td_theme_set_font(const char *families) {
  light.font = dark.font = families;
}

/* Background and text of most difference; what is dim or thin comes near to the text. */
void
td_theme_raise_contrast(td_theme *theme) {
  td_colour black = RGB(0x000000), white = RGB(0xffffff);
  theme->background = theme->card = theme->dark ? black : white;
  theme->foreground = theme->dark ? white : black;
  theme->dim = td_colour_mix(theme->foreground, theme->background, 0.25);
  theme->line = td_colour_mix(theme->foreground, theme->background, 0.45);
}

void
td_theme_source(cairo_t *cr, td_colour colour) {
  cairo_set_source_rgba(cr, colour.r, colour.g, colour.b, colour.a);
}

td_colour
td_colour_mix(td_colour from, td_colour to, double share) {
  return (td_colour){from.r + (to.r - from.r) * share, from.g + (to.g - from.g) * share,
                     from.b + (to.b - from.b) * share, from.a + (to.a - from.a) * share};
}

td_colour
td_colour_fade(td_colour colour, double alpha) {
  colour.a *= alpha;
  return colour;
}

td_colour
td_theme_device(const td_theme *theme, int32_t device) {
  size_t n = sizeof theme->device_stripe / sizeof theme->device_stripe[0];
  return device < 0 ? theme->device_stripe[0]
                    : theme->device_stripe[1 + (uint32_t)device % (n - 1)];
}
