/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The window's colours as a style sheet of variables, light and dark. Private to ui/page. */
#pragma once

#include <stdio.h>

void td_page_colours_write(FILE *out);
