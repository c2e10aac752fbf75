"""A list of losses keeps the graph of each step in memory: item() is what is missing."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
losses = []
for step in range(6):
    loss = net(torch.randn(2, 4)).square().mean()
    loss.backward()
    losses.append(loss)  # the tensor, and with it its graph

print(f'{len(losses)} losses, the last one {losses[-1].item():.3f}')
