/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture of the window, for tests and documents. Main thread. */
#pragma once

#include "app/window.h"
#include "app/window_request.h"

/* td_screenshot_when_settled writes request->screenshot once everything is loaded and drawn, then
 * closes the window. */
void td_screenshot_when_settled(TdWindow *window, const TdWindowRequest *request);

/* td_screenshot_status returns an exit status: not 0 where a picture was wanted and could not be
 * written. */
int td_screenshot_status(void);
