/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck export --to html`: one backward pass as a page (ui/page/page.h). The thread that owns
 * the tape. */
#pragma once

#include "engine/exchange/export.h"

/* td_export_html writes the page of a pass: the wished one, or the largest. As the functions of
 * engine/exchange/export.h. */
td_status td_export_html(td_tape *tape, const td_export_wish *wish, FILE *out, td_error *error);
