# SPDX-License-Identifier: LGPL-2.1-or-later
"""pytorch/examples, mnist_forward_forward: layers with losses of their own"""
import torch
import torch.nn as nn
from torch.optim import Adam

torch.manual_seed(1)


def overlay_y_on_x(x, y, classes=4):
    x_ = x.clone()
    x_[:, :classes] *= 0.0
    x_[range(x.shape[0]), y] = x.max()
    return x_


class Layer(nn.Linear):
    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features)
        self.relu = torch.nn.ReLU()
        self.opt = Adam(self.parameters(), lr=0.03)
        self.threshold, self.num_epochs = 1.5, 5

    def forward(self, x):
        x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(x_direction, self.weight.T) + self.bias.unsqueeze(0))

    def train_layer(self, x_pos, x_neg):
        for i in range(self.num_epochs):
            g_pos = self.forward(x_pos).pow(2).mean(1)
            g_neg = self.forward(x_neg).pow(2).mean(1)
            loss = torch.log(1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        print(f'{loss.item():.4f}')
        return self.forward(x_pos).detach(), self.forward(x_neg).detach()


x, y = torch.rand(32, 16), torch.randint(0, 4, (32,))
x_pos, x_neg = overlay_y_on_x(x, y), overlay_y_on_x(x, (y + torch.randint(1, 4, (32,))) % 4)
for layer in (Layer(16, 24), Layer(24, 24)):
    x_pos, x_neg = layer.train_layer(x_pos, x_neg)
