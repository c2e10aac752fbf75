# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, 60 Minute Blitz: a classifier of small pictures"""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


net = Net()
print(net)
params = list(net.parameters())
print(len(params), params[0].size())
inputs, labels = torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for epoch in range(3):
    running_loss = 0.0
    for i in range(0, 8, 4):
        optimizer.zero_grad()
        outputs = net(inputs[i:i + 4])
        loss = criterion(outputs, labels[i:i + 4])
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(f'[{epoch + 1}] loss: {running_loss / 2:.4f}')
_, predicted = torch.max(net(inputs), 1)
print((predicted == labels).sum().item())
print(net.conv1.bias.grad[:3])
