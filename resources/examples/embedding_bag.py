"""nn.EmbeddingBag, whose weight gets a sparse gradient."""
import torch
from torch import nn


def model():
    return nn.EmbeddingBag(20, 8, sparse=True, mode='sum')


def loss(bags):
    return bags(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2])).sum()


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'sum {value.item():.4f}')
