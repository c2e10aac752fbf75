"""+inf and -inf meet in an input buffer: the sum makes the NaN, and no node is to blame."""
# anomaly: nonfinite
import torch

x = torch.tensor([2.0], requires_grad=True)
z = x.sin()
infinity = float('inf')
((z * infinity).sum() + (z * -infinity).sum()).backward()

print('x.grad', x.grad)
