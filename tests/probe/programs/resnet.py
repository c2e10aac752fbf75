"""The shape of a ResNet-18 with few channels, two steps of SGD."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, n_in, n_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(n_out)
        self.shortcut = nn.Identity()
        if stride != 1 or n_in != n_out:
            self.shortcut = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        y = self.norm2(self.conv2(y))
        y += self.shortcut(x)
        return F.relu(y, inplace=True)


def resnet18(n_classes):
    layers = [nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    n_in = 8
    for n_out, stride in ((8, 1), (16, 2), (32, 2), (64, 2)):
        layers += [Block(n_in, n_out, stride), Block(n_out, n_out, 1)]
        n_in = n_out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n_in, n_classes))


torch.manual_seed(1)
net = resnet18(10)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
images, labels = torch.randn(4, 3, 32, 32), torch.tensor([3, 1, 4, 1])
for step in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
    print(f'step {step} loss {loss.item():.6f}')
