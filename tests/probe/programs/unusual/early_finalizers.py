# SPDX-License-Identifier: LGPL-2.1-or-later
"""Three threads whose first passes, and whose first finalizers that call backward, come at once."""
import faulthandler
import gc
import threading

import torch

faulthandler.dump_traceback_later(60, exit=True)
x = torch.ones(3, requires_grad=True)


class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        (x * 2).sum().backward()


def work():
    for _ in range(40):
        Cycle()
        y = x * 3
        for _ in range(20):
            y = y * 1.0
        y.sum().backward()


gc.set_threshold(30)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
