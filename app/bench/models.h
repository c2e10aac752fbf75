/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

extern const char td_bench_steps[]; /* made of app/bench/steps.py */
