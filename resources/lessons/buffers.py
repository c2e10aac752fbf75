"""Three gradients meet in one input buffer: the order in which they arrive decides the sum."""
import torch

BIG = 2.0 ** 27


def gradient(*branches):
    """The gradient of x after one pass. The branches are built in this order."""
    x = torch.tensor([0.0], requires_grad=True)
    y = x.exp()
    first, second, third = [branch(y) for branch in branches]
    (first + second + third).backward()
    return x.grad.item()


def one(y):
    return y - 1


def plus(y):
    return y * BIG


def minus(y):
    return y / (-1 / BIG)


print('one, plus, minus:', gradient(one, plus, minus))
print('minus, plus, one:', gradient(minus, plus, one))
