# SPDX-License-Identifier: LGPL-2.1-or-later
"""Handlers of signals that raise: in backward, in an optimizer's step, as a graph dies. No exception may be lost."""
import signal

import torch


class Late(Exception):
    pass


def loses_exceptions(frame):
    """PyTorch's record_function logs what is raised while it ends, and goes on."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(("profiler.py", "weakref.py")):
            return True
        frame = frame.f_back
    return False


def on_alarm(_, frame):
    global armed, raised
    if loses_exceptions(frame):
        signal.setitimer(signal.ITIMER_REAL, 0.0001)
    elif armed:
        armed = False
        raised += 1
        raise Late


def interrupt(run, n):
    global armed
    caught = 0
    for i in range(n):
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.00002 * (i % 40))
            while armed:
                run()
        except Late:
            caught += 1
        torch.set_grad_enabled(True)  # step() may have been interrupted between its own two calls
    return caught


armed, raised = False, 0
signal.signal(signal.SIGALRM, on_alarm)
x = torch.ones(3, requires_grad=True)
y = x
for _ in range(50):
    y = y * 1.0
y = y.sum()
y.backward(retain_graph=True)
optimizer = torch.optim.SGD([x, torch.ones(1, requires_grad=True)], 0.1)
print(interrupt(lambda: y.backward(retain_graph=True), 60) == raised)
raised = 0
print(interrupt(optimizer.step, 300) == raised)
raised = 0
print(interrupt(lambda: (x * 2).sum().backward(), 100) == raised)
y.backward()
print(x.grad.shape)
