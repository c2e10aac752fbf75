"""A perceptron of three layers with dropout and GELU under cross entropy."""
import torch
from torch import nn
from torch.nn import functional as F


def model():
    return nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.1),
                         nn.Linear(32, 32), nn.GELU(),
                         nn.Linear(32, 5))


def loss(net):
    return F.cross_entropy(net(torch.randn(8, 20)), torch.tensor([0, 1, 2, 3, 4, 0, 1, 2]))


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'loss {value.item():.4f}')
