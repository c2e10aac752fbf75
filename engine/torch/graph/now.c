/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/now.h"

_Thread_local td_now td_now_self = {.graph_task_id = TD_NONE};
