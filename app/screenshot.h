/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A picture of the window, for tests and documents. Main thread. */
#pragma once

#include "app/window.h"
#include "app/window_request.h"

/* td_screenshot_when_settled writes request->screenshot when the window has loaded and drawn
 * everything. Then it closes the window. */
void td_screenshot_when_settled(TdWindow *window, const TdWindowRequest *request);

/* td_screenshot_status returns an exit status. It is not 0 if the picture could not be written. */
int td_screenshot_status(void);
