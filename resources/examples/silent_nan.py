"""The loss is NaN, but every gradient is finite: the NaN is in a constant that is added, and the backward pass never sees it."""
# anomaly: nonfinite
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
errors = torch.zeros(3)
share = errors.sum() / (errors > 0).sum()  # 0 / 0
loss = (x * x).sum() + share
loss.backward()

print('loss', loss.item(), 'x.grad', x.grad)
