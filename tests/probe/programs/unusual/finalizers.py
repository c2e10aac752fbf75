# SPDX-License-Identifier: LGPL-2.1-or-later
"""The collector runs a finalizer that calls backward, at any moment of another pass."""
import faulthandler
import gc

import torch

faulthandler.dump_traceback_later(60, exit=True)
x = torch.ones(3, requires_grad=True)


class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        (x * 2).sum().backward()


y = x
for _ in range(30):
    y = y * 1.0
y = y.sum()
y.backward(retain_graph=True)
gc.collect()
gc.freeze()
for threshold in range(5, 300):
    gc.collect()
    gc.set_threshold(threshold)
    Cycle()
    y.backward(retain_graph=True)
print("done")
