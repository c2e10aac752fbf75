# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Learn the Basics: save and load; recipes on state_dict and checkpoints"""
import os
import tempfile

import torch
from torch import nn, optim

torch.manual_seed(0)
folder = tempfile.mkdtemp()
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
net(torch.randn(3, 4)).sum().backward()
optimizer.step()
print("Model's state_dict:")
for param_tensor in net.state_dict():
    print(param_tensor, '\t', net.state_dict()[param_tensor].size())
for var_name in optimizer.state_dict():
    print(var_name, '\t', sorted(optimizer.state_dict()[var_name], key=str)[:1] if var_name == 'state' else 'groups')
path = os.path.join(folder, 'model.pt')
torch.save({'epoch': 5, 'model_state_dict': net.state_dict(), 'optimizer_state_dict': optimizer.state_dict(),
            'loss': 0.4}, path)
other = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
other_optimizer = optim.SGD(other.parameters(), lr=0.5, momentum=0.1)
checkpoint = torch.load(path, weights_only=True)
print(other.load_state_dict(checkpoint['model_state_dict']))
other_optimizer.load_state_dict(checkpoint['optimizer_state_dict'])
print(checkpoint['epoch'], checkpoint['loss'], other_optimizer.param_groups[0]['lr'])
x = torch.randn(2, 4)
print(torch.equal(net(x), other(x)))
other.eval()
for a, b in zip(net.parameters(), other.parameters()):
    print(torch.allclose(a, b))
