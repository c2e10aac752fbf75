"""nn.TransformerEncoderLayer, made of small operations as in PyTorch 1.13."""
import torch
from torch import nn


def model():
    return nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)


def loss(layer):
    return layer(torch.randn(2, 5, 32)).sum()


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print('sum is nearly', round(abs(value.item()), 2))
