# SPDX-License-Identifier: LGPL-2.1-or-later
"""The outputs of an epoch are kept, each with its loss. As reported in https://github.com/TRI-ML/packnet-sfm/issues/47"""
import torch

torch.manual_seed(0)
net = torch.nn.Conv2d(1, 4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
outputs = []
for batch in range(8):
    optimizer.zero_grad()
    output = {"loss": net(torch.randn(2, 1, 8, 8)).abs().mean(), "batch": batch}
    output["loss"].backward()
    optimizer.step()
    outputs.append(output)
print(sum(output["loss"] for output in outputs).item())
