"""A two-layer perceptron with cross entropy: five training steps, each a backward pass."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 10)
target = (x.sum(1) > 0).long()
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)

for i in range(5):
    loss = nn.functional.cross_entropy(net(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f'step {i}  loss {loss.item():.4f}')
