"""A variational autoencoder: a gradient flows through a random sample."""
import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(64, 32)
        self.mean, self.log_variance = nn.Linear(32, 8), nn.Linear(32, 8)
        self.decode, self.out = nn.Linear(8, 32), nn.Linear(32, 64)

    def forward(self, x):
        h = F.relu(self.encode(x))
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(log_variance)
        return torch.sigmoid(self.out(F.relu(self.decode(z)))), mean, log_variance


def model():
    return VAE()


def loss(net):
    x = torch.rand(4, 64)
    seen, mean, log_variance = net(x)
    unlikely = F.binary_cross_entropy(seen, x, reduction='sum')
    return unlikely - 0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'loss {value.item():.2f}')
