# SPDX-License-Identifier: LGPL-2.1-or-later
"""pytorch/examples, gat: graph attention with einsum"""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(13)


class GraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, n_heads, dropout=0.4, leaky_relu_slope=0.2):
        super().__init__()
        self.n_heads, self.dropout, self.n_hidden = n_heads, dropout, out_features // n_heads
        self.W = nn.Parameter(torch.empty(size=(in_features, self.n_hidden * n_heads)))
        self.a = nn.Parameter(torch.empty(size=(n_heads, 2 * self.n_hidden, 1)))
        self.leakyrelu = nn.LeakyReLU(leaky_relu_slope)
        self.softmax = nn.Softmax(dim=1)
        nn.init.xavier_normal_(self.W)
        nn.init.xavier_normal_(self.a)

    def scores(self, h_transformed):
        source = torch.matmul(h_transformed, self.a[:, :self.n_hidden, :])
        target = torch.matmul(h_transformed, self.a[:, self.n_hidden:, :])
        return self.leakyrelu(source + target.mT)

    def forward(self, h, adj_mat):
        n_nodes = h.shape[0]
        h_transformed = F.dropout(torch.mm(h, self.W), self.dropout, training=self.training)
        h_transformed = h_transformed.view(n_nodes, self.n_heads, self.n_hidden).permute(1, 0, 2)
        e = self.scores(h_transformed)
        connectivity_mask = -9e16 * torch.ones_like(e)
        e = torch.where(adj_mat > 0, e, connectivity_mask)
        attention = F.softmax(e, dim=-1)
        attention = F.dropout(attention, self.dropout, training=self.training)
        h_prime = torch.einsum('hij,hjk->hik', attention, h_transformed)
        return h_prime.permute(1, 0, 2).contiguous().view(n_nodes, -1)


n = 12
adj = (torch.rand(n, n) > 0.6).float()
adj.fill_diagonal_(1)
layer = GraphAttentionLayer(6, 8, 2)
head = nn.Linear(8, 3)
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=0.01)
h, labels = torch.randn(n, 6), torch.randint(0, 3, (n,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = F.cross_entropy(head(F.elu(layer(h, adj))), labels)
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.4f}')
