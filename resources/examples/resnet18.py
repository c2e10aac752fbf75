"""ResNet-18's shape: a stem, four stages of two residual blocks, a pooled linear head."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """Two convolutions, and a way around them: plain, or a 1x1 convolution where the sizes change."""

    def __init__(self, channels, wider, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, wider, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(wider)
        self.conv2 = nn.Conv2d(wider, wider, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(wider)
        self.shortcut = nn.Identity()
        if stride != 1 or wider != channels:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, wider, 1, stride, bias=False), nn.BatchNorm2d(wider))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        y = self.norm2(self.conv2(y))
        y += self.shortcut(x)
        return F.relu(y, inplace=True)


class ResNet18(nn.Module):
    def __init__(self, width=16, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
                                  nn.MaxPool2d(3, 2, 1))
        stages, channels = [], width
        for wider, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
            stages += [Block(channels, wider, stride), Block(wider, wider, 1)]
            channels = wider
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(torch.flatten(self.pool(self.stages(self.stem(x))), 1))


def model(width=16):
    return ResNet18(width)


def loss(net, images=2):
    return F.cross_entropy(net(torch.randn(images, 3, 64, 64)), torch.arange(images))


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'loss {value.item():.4f}')
