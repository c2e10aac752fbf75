/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/pass/scheduler.h"

const td_scheduler *td_scheduler_now;
