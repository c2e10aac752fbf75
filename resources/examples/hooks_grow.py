"""Each training step registers one hook more on the same weight: the fifth step calls it five times."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)


def clip(gradient):
    return gradient.clamp(-1, 1)


for step in range(5):
    net.weight.register_hook(clip)  # belongs before the loop
    net(torch.randn(3, 4)).sum().backward()

print('bias.grad', net.bias.grad)
