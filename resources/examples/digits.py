"""Handwritten digits: a few training steps of a small convolutional net on two simulated devices."""
# devices: cpu,sim:2
import os

import torch
from torch import nn
from torch.nn import functional as F

try:
    import tapedeck
except ImportError:
    tapedeck = None

STEPS, BATCH = 24, 58
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'digits.csv')


def load_digits():
    """8 x 8 images of 16 grey levels with their digit, as one batch each of images and labels."""
    with open(DATA) as file:
        rows = [[int(value) for value in line.split(',')] for line in file]
    images = torch.tensor([row[:64] for row in rows], dtype=torch.float32).view(-1, 1, 8, 8)
    return images / 8 - 1, torch.tensor([row[64] for row in rows])


def device(name):
    """The device if it is there, else the CPU."""
    try:
        return torch.zeros(1).to(name).device
    except RuntimeError:
        return torch.device('cpu')


class Net(nn.Module):
    """Edges on the first device, shapes on the second, the decision on the CPU."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1).to(first)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1).to(second)
        self.fc = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x.to(self.first))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x.to(self.second))), 2)
        return self.fc(x.to('cpu').flatten(1))


def accuracy(net, images, labels):
    with torch.no_grad():
        return (net(images).argmax(1) == labels).float().mean().item()


torch.manual_seed(0)
images, labels = load_digits()
net = Net(device('sim:0'), device('sim:1'))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
held_out = slice(1400, 1797)

print(f'{len(images)} digits; {sum(p.numel() for p in net.parameters())} parameters '
      f'on {net.first}, {net.second} and cpu')
print(f'before  accuracy {accuracy(net, images[held_out], labels[held_out]):6.1%}')
for i in range(STEPS):
    batch = slice(i * BATCH, (i + 1) * BATCH)
    loss = F.cross_entropy(net(images[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if tapedeck:
        tapedeck.step()
    print(f'step {i:2}  loss {loss.item():.4f}')
print(f'after   accuracy {accuracy(net, images[held_out], labels[held_out]):6.1%}')
if tapedeck:
    tapedeck.mark('trained')
