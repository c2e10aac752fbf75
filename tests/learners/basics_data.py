# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Learn the Basics: datasets and data loaders"""
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Squares(Dataset):
    def __init__(self, n, transform=None, target_transform=None):
        self.n, self.transform, self.target_transform = n, transform, target_transform

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        x, y = torch.tensor([float(idx), 1.0]), idx ** 2
        if self.transform:
            x = self.transform(x)
        if self.target_transform:
            y = self.target_transform(y)
        return x, y


one_hot = lambda y: torch.zeros(10, dtype=torch.float).scatter_(0, torch.tensor(y % 10), value=1)  # noqa: E731
training_data = Squares(20, transform=lambda x: x / 20, target_transform=one_hot)
train_dataloader = DataLoader(training_data, batch_size=6, shuffle=True)
for batch, (x, y) in enumerate(train_dataloader):
    print(batch, x.shape, y.shape, x[:, 0].tolist(), y.argmax(1).tolist())
features, labels = next(iter(train_dataloader))
print(f'Feature batch shape: {features.size()}', f'Labels batch shape: {labels.size()}')
print(len(train_dataloader), len(train_dataloader.dataset))
