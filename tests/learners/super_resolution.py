# SPDX-License-Identifier: LGPL-2.1-or-later
"""pytorch/examples, super_resolution: sub-pixel convolution"""
import torch
import torch.nn as nn
import torch.nn.init as init
import torch.optim as optim

torch.manual_seed(123)


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 8, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(8, 8, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(8, 4, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(4, upscale_factor ** 2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain('relu'))
        init.orthogonal_(self.conv2.weight, init.calculate_gain('relu'))
        init.orthogonal_(self.conv3.weight, init.calculate_gain('relu'))
        init.orthogonal_(self.conv4.weight)


model = Net(2)
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)
target = torch.rand(4, 1, 12, 12)
small = nn.functional.avg_pool2d(target, 2)
for epoch in range(3):
    optimizer.zero_grad()
    loss = criterion(model(small), target)
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.4f} {10 * torch.log10(1 / loss).item():.3f} dB')
