# SPDX-License-Identifier: LGPL-2.1-or-later
"""A variance is the exponential of an output that grows. As reported in https://github.com/pankajmishra000/VT-ADL/issues/10"""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 2)
with torch.no_grad():
    net.bias.copy_(torch.tensor([0.0, -120.0]))
x = torch.randn(5, 3)
mean, logvar = net(x).unbind(1)
loss = (logvar + (1.0 - mean).square() / logvar.exp()).sum()
loss.backward()
print(loss.item(), net.weight.grad)
