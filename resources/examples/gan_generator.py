"""The generator of a GAN, with transposed convolutions: it learns to make images that pass as real."""
import torch
from torch import nn
from torch.nn import functional as F


def model():
    return nn.Sequential(nn.ConvTranspose2d(3, 8, 4, 2, 1), nn.BatchNorm2d(8), nn.LeakyReLU(0.2),
                         nn.Conv2d(8, 1, 3, 1, 1), nn.Tanh())


def loss(generator):
    verdict = generator(torch.randn(4, 3, 8, 8)).mean((1, 2, 3))
    return F.binary_cross_entropy_with_logits(verdict, torch.ones(4))


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'loss {value.item():.4f}')
