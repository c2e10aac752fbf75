/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/tensor/accelerators.h"

const td_accelerators *td_accelerators_now;
