# SPDX-License-Identifier: LGPL-2.1-or-later
"""pytorch/examples, gcn: a graph convolutional network"""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam

torch.manual_seed(42)


class GraphConv(nn.Module):
    def __init__(self, input_dim, output_dim, use_bias=True):
        super().__init__()
        self.kernel = nn.Parameter(torch.Tensor(input_dim, output_dim))
        nn.init.xavier_normal_(self.kernel)
        self.bias = None
        if use_bias:
            self.bias = nn.Parameter(torch.Tensor(output_dim))
            nn.init.zeros_(self.bias)

    def forward(self, input_tensor, adj_mat):
        support = torch.mm(input_tensor, self.kernel)
        output = torch.mm(adj_mat, support)
        return output + self.bias if self.bias is not None else output


class GCN(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, dropout_p=0.1):
        super().__init__()
        self.gc1 = GraphConv(input_dim, hidden_dim)
        self.gc2 = GraphConv(hidden_dim, output_dim)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x, adj):
        x = self.dropout(F.relu(self.gc1(x, adj)))
        return F.log_softmax(self.gc2(x, adj), dim=1)


n = 20
adj = torch.eye(n)
src, dst = torch.randint(0, n, (30,)), torch.randint(0, n, (30,))
adj[src, dst] = 1
adj[dst, src] = 1
degree = adj.sum(dim=1)
d_inv_sqrt = torch.diag(torch.pow(degree, -0.5))
adj = d_inv_sqrt @ adj @ d_inv_sqrt
features, labels = torch.rand(n, 8), torch.randint(0, 3, (n,))
idx = torch.randperm(n)
idx_train, idx_test = idx[:14], idx[14:]
model = GCN(8, 16, 3)
optimizer = Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
criterion = nn.NLLLoss()
for epoch in range(5):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss = criterion(output[idx_train], labels[idx_train])
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.4f}')
model.eval()
output = model(features, adj)
print(f'{criterion(output[idx_test], labels[idx_test]).item():.4f}', math.prod(output.shape))
