"""Two NaNs: a node makes the first, and the sum in an input buffer makes the second."""
import torch

x = torch.tensor([0.0], requires_grad=True)
root = x.sqrt()
safe = torch.where(x > 0, root, x)  # takes x here, because x is 0
safe.backward()
print('x.grad', x.grad)

w = torch.tensor([0.0], requires_grad=True)
z = w.sin()
plus = z * 1e30 * 1e30
minus = z * 1e30 * -1e30
(plus + minus).backward()
print('w.grad', w.grad)
