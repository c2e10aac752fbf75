# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that are no Unicode, of globals, attributes, parameters; and what they leave behind for the next look-up."""
import torch

globals()["\udc80"] = torch.ones(3, requires_grad=True)
net = torch.nn.Linear(3, 3)
net._parameters["\udc81"] = torch.nn.Parameter(torch.ones(3))
net._modules["\udc82"] = torch.nn.Linear(3, 3)
for _ in range(3):
    loss = (net(globals()["\udc80"]) * net._parameters["\udc81"]).sum()
    loss.backward()
    print(getattr(net, "nothing", None), len(str(loss)) > 0, net._parameters["\udc81"].grad is not None)
try:
    (loss * 2).sum().register_hook(lambda gradient: 1 / 0)
    y = globals()["\udc80"].exp()
    y.register_hook(lambda gradient: exec("raise ValueError('\\udc83')"))
    y.sum().backward()
except ValueError as error:
    print(repr(str(error)))
