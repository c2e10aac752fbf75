"""A multilayer perceptron with dropout, three steps of Adam."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x, target = torch.randn(16, 20), torch.randint(0, 5, (16,))

for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), target)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
