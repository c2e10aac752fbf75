# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: residual blocks of small pictures"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super(BasicBlock, self).__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(nn.Conv2d(in_planes, self.expansion * planes, kernel_size=1, stride=stride, bias=False),
                                          nn.BatchNorm2d(self.expansion * planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), BasicBlock(8, 8), BasicBlock(8, 16, 2),
                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
for m in net.modules():
    if isinstance(m, nn.Conv2d):
        nn.init.kaiming_normal_(m.weight, mode='fan_out', nonlinearity='relu')
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
inputs, targets = torch.randn(8, 3, 8, 8), torch.randint(10, (8,))
for epoch in range(4):
    net.train()
    optimizer.zero_grad()
    outputs = net(inputs)
    loss = F.cross_entropy(outputs, targets, label_smoothing=0.1)
    loss.backward()
    optimizer.step()
    _, predicted = outputs.max(1)
    print(epoch, f'{loss.item():.4f}', predicted.eq(targets).sum().item())
net.eval()
print(net(inputs).shape, [name for name, _ in net.named_buffers()][:3])
