/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fonts of pictures. Tapedeck may be installed on a machine that has none. Then it brings its
 * own: fonts.conf and the fonts are in share/tapedeck/fonts. */
#pragma once

/* td_fonts_find has fontconfig read our fonts.conf, if there is one and nobody named another.
 * Before the first text is drawn; main thread. */
void td_fonts_find(void);
