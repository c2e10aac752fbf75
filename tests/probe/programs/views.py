"""Views and in-place operations: CopySlices, histories that change, views of views, indexing."""
import torch

torch.manual_seed(11)
w = torch.randn(4, 4, requires_grad=True)

base = w.clone()
base[0] = base[1] * 2
base[:, 1].mul_(3)
base.t()[2:].add_(1)
view = base.view(16)[4:12].view(2, 4)
view.exp_()
loss = base.sum() + view.norm()
print(loss.grad_fn.name(), base.grad_fn.name())
loss.backward()
print(w.grad)

w.grad = None
x = w * 1
x.mul_(2).add_(w)
y = torch.as_strided(x, (3, 3), (4, 1), 1)
y[torch.tensor([0, 2])] = w[:2, :3]
parts = x.chunk(2, 1)
total = parts[0].sum() + torch.cat([parts[1].t()[:, :3], y[:2].expand(2, 2, 3)[0]], 0).prod(1).sum()
total.backward()
print(w.grad)

w.grad = None
z = torch.zeros(5)
z[1:3] = w[0, :2]
z.index_add_(0, torch.tensor([0, 4]), w[1, :2])
z.masked_fill_(torch.tensor([False, True, False, False, False]), 7.)
(z * torch.arange(5.)).sum().backward()
print(w.grad)

with torch.no_grad():
    w.sub_(0.1 * w.grad)
(w.diagonal().abs().sqrt().sum() + w.unfold(1, 2, 2).max() + w.squeeze().unsqueeze(0).permute(2, 1, 0).std()).backward()
print(w.grad)
