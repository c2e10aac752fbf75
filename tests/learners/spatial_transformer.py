# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, spatial transformers: a net that finds its own crop"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(nn.Conv2d(1, 4, kernel_size=5), nn.MaxPool2d(2, stride=2), nn.ReLU(True))
        self.fc_loc = nn.Sequential(nn.Linear(4 * 4 * 4, 16), nn.ReLU(True), nn.Linear(16, 3 * 2))
        self.fc = nn.Linear(144, 10)
        self.fc_loc[2].weight.data.zero_()
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def stn(self, x):
        xs = self.localization(x).view(-1, 64)
        theta = self.fc_loc(xs).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)

    def forward(self, x):
        return F.log_softmax(self.fc(self.stn(x).flatten(1)), dim=1)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data, target = torch.randn(8, 1, 12, 12), torch.randint(10, (8,))
for epoch in range(3):
    optimizer.zero_grad()
    loss = F.nll_loss(model(data), target)
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.4f}')
