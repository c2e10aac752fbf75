"""The order of a sum: the same three gradients add up to 1.0 or to 0.0."""
import torch


def gradient(factors):
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 1
    first, second, third = [y * factor for factor in factors]
    (first + second + third).backward()
    return x.grad.item()


# The node that was built last runs first, so the gradients arrive in the reverse of this order.
print('1, 1e8, -1e8:', gradient([1.0, 1e8, -1e8]))
print('-1e8, 1e8, 1:', gradient([-1e8, 1e8, 1.0]))
