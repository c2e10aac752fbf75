/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fonts of pictures. Tapedeck may be installed on a machine that has none. Then it brings its
 * own: fonts.conf.in and the fonts are in share/tapedeck/fonts. */
#pragma once

/* td_fonts_find has fontconfig read these settings, if they are there and nobody named others.
 * Before the first text is drawn; main thread. */
void td_fonts_find(void);
