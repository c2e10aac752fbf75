/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/pass/scheduler.h"

const td_scheduler *td_scheduler_now;
