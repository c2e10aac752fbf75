"""Two writes in place: one is harmless, and one spoils what a node saved."""
import torch

x = torch.tensor([0.5], requires_grad=True)
h = x.sin()
y = h.exp()
z = h + 1
z.mul_(3)  # no node saved z
y.add_(1)  # but exp saved y
loss = y * z
for _ in range(2):
    try:
        loss.backward()
    except RuntimeError as error:
        print(str(error)[:40])
