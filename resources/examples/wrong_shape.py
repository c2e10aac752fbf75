"""The backward function of a custom Function returns a gradient of the wrong shape: the engine refuses it."""
import torch


class Widen(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.cat([x, x])

    @staticmethod
    def backward(ctx, gradient):
        return gradient  # six numbers for three: the two halves are not added up


x = torch.ones(3, requires_grad=True)
try:
    Widen.apply(x).sum().backward()
except RuntimeError as error:
    print(error)
