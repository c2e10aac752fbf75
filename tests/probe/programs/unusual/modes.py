# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mode that counts the calls of functions, and an optimizer that answers for what it lacks."""
import torch

try:
    from torch.overrides import TorchFunctionMode
except ImportError:
    TorchFunctionMode = None


class Careful(torch.optim.SGD):
    asked = []

    def __getattr__(self, name):
        self.asked.append(name)
        raise AttributeError(name)


def train(optimizer, net):
    for _ in range(3):
        net(torch.ones(2, 3)).sum().backward()
        optimizer.step()


net = torch.nn.Linear(3, 3)
left_out = torch.nn.Parameter(torch.ones(1))
optimizer = Careful([*net.parameters(), left_out], 0.1)
train(optimizer, net)
print(optimizer.asked)
if TorchFunctionMode:
    class Count(TorchFunctionMode):
        seen = []

        def __torch_function__(self, function, types, args=(), kwargs=None):
            self.seen.append(getattr(function, "__name__", str(function)))
            return function(*args, **(kwargs or {}))

    with Count():
        train(optimizer, net)
        torch.autograd.backward([net(torch.ones(2, 3)).sum()])
    print(len(Count.seen))
