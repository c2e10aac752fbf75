# SPDX-License-Identifier: LGPL-2.1-or-later
"""A loss of the chosen classes alone: argmax. As reported in https://github.com/Ugenteraan/Deep_Hierarchical_Classification/issues/6"""
import torch

torch.manual_seed(0)
class Levels(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.coarse, self.fine = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2), torch.nn.Linear(8, 5)
    def forward(self, x):
        h = self.trunk(x).relu()
        return self.coarse(h), self.fine(h)
net = Levels()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    coarse, fine = net(torch.randn(6, 4))
    wrong = (coarse.argmax(1) != torch.zeros(6, dtype=torch.long)).float()
    loss = torch.nn.functional.cross_entropy(fine, torch.zeros(6, dtype=torch.long)) + wrong.mean()
    loss.backward()
    optimizer.step()
