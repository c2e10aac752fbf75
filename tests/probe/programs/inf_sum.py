"""+Inf and -Inf meet in a sum that is no node's: at a leaf, and one node above it. Nobody computes the NaN but the sum."""
import torch

infinity = float('inf')
x = torch.tensor([2.0], requires_grad=True)
((x * infinity).sum() + (x * -infinity).sum()).backward()
print('at a leaf', x.grad)

x = torch.tensor([2.0], requires_grad=True)
y = x.sin()
((y * infinity).sum() + (y * -infinity).sum()).backward()
print('one node up', x.grad)

x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x * 2
(y * torch.tensor([1.0, infinity])).sum().backward()
print('only an Inf', x.grad)

x = torch.tensor([0.0, 1.0], requires_grad=True)
(x.sqrt() * 0).sum().backward()
print('in a node', x.grad)
