/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a page tells of mistakes: the findings of the whole tape, as `tapedeck findings` has them.
 * Private to ui/page. One thread. */
#pragma once

#include "engine/base/json.h"
#include "engine/profile/findings/findings.h"

/* td_page_findings_write writes an object with the findings. */
void td_page_findings_write(const td_findings *findings, td_json *json);
