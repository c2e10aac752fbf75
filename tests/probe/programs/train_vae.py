"""A variational autoencoder on blobs, in the manner of PyTorch's VAE example."""
import argparse

import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(64, 40)
        self.fc21 = nn.Linear(40, 6)
        self.fc22 = nn.Linear(40, 6)
        self.fc3 = nn.Linear(6, 40)
        self.fc4 = nn.Linear(40, 64)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 64))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def blobs(n, generator):
    places = torch.rand(n, 2, 1, 1, generator=generator) * 7
    rows, columns = torch.arange(8.).view(8, 1), torch.arange(8.).view(1, 8)
    return torch.exp(-((rows - places[:, 0]) ** 2 + (columns - places[:, 1]) ** 2) / 4).unsqueeze(1)


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction='sum')
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def train(args, model, optimizer, loader, epoch):
    model.train()
    train_loss = 0
    for batch_idx, (data,) in enumerate(loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                epoch, batch_idx * len(data), len(loader.dataset), 100. * batch_idx / len(loader),
                loss.item() / len(data)))
    print('====> Epoch: {} Average loss: {:.4f}'.format(epoch, train_loss / len(loader.dataset)))


def test(model, loader, epoch):
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data, in loader:
            recon_batch, mu, logvar = model(data)
            test_loss += loss_function(recon_batch, data, mu, logvar).item()
    print('====> Test set loss: {:.4f}'.format(test_loss / len(loader.dataset)))


def main():
    parser = argparse.ArgumentParser(description='VAE Example')
    parser.add_argument('--batch-size', type=int, default=32, metavar='N')
    parser.add_argument('--epochs', type=int, default=2, metavar='N')
    parser.add_argument('--seed', type=int, default=1, metavar='S')
    parser.add_argument('--log-interval', type=int, default=4, metavar='N')
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    loaders = [torch.utils.data.DataLoader(torch.utils.data.TensorDataset(blobs(n, generator)),
                                           batch_size=args.batch_size, shuffle=n == 256) for n in (256, 64)]
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, args.epochs + 1):
        train(args, model, optimizer, loaders[0], epoch)
        test(model, loaders[1], epoch)
        with torch.no_grad():
            sample = model.decode(torch.randn(4, 6))
            print('sample {:.4f}'.format(sample.mean().item()))


if __name__ == '__main__':
    main()
