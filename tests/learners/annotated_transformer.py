# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Annotated Transformer: encoder, decoder, label smoothing, the copy task"""
import copy
import math

import torch
import torch.nn as nn
from torch.nn.functional import log_softmax, pad

torch.manual_seed(0)


def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2, self.b_2, self.eps = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features)), eps

    def forward(self, x):
        mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


def subsequent_mask(size):
    attn_shape = (1, size, size)
    return torch.triu(torch.ones(attn_shape), diagonal=1).type(torch.uint8) == 0


def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k, self.h, self.linears = d_model // h, h, clones(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
                             for lin, x in zip(self.linears, (query, key, value))]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        return self.linears[-1](x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k))


class Seq2Seq(nn.Module):
    def __init__(self, vocab, d_model=16, h=2):
        super().__init__()
        self.embed, self.norms = nn.Embedding(vocab, d_model), clones(LayerNorm(d_model), 5)
        self.own, self.masked, self.cross = (MultiHeadedAttention(h, d_model) for _ in range(3))
        self.ff = clones(nn.Sequential(nn.Linear(d_model, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, d_model)), 2)
        self.proj, self.d_model = nn.Linear(d_model, vocab), d_model
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, src, tgt, src_mask, tgt_mask):
        x = self.embed(src) * math.sqrt(self.d_model)
        x = x + self.own(*[self.norms[0](x)] * 3, src_mask)
        memory = x + self.ff[0](self.norms[1](x))
        y = self.embed(tgt) * math.sqrt(self.d_model)
        y = y + self.masked(*[self.norms[2](y)] * 3, tgt_mask)
        y = y + self.cross(self.norms[3](y), memory, memory, src_mask)
        y = y + self.ff[1](self.norms[4](y))
        return log_softmax(self.proj(y), dim=-1)


class LabelSmoothing(nn.Module):
    def __init__(self, size, padding_idx, smoothing=0.0):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction='sum')
        self.padding_idx, self.confidence, self.smoothing, self.size = padding_idx, 1.0 - smoothing, smoothing, size

    def forward(self, x, target):
        true_dist = x.data.clone()
        true_dist.fill_(self.smoothing / (self.size - 2))
        true_dist.scatter_(1, target.data.unsqueeze(1), self.confidence)
        true_dist[:, self.padding_idx] = 0
        mask = torch.nonzero(target.data == self.padding_idx)
        if mask.dim() > 0:
            true_dist.index_fill_(0, mask.squeeze(), 0.0)
        return self.criterion(x, true_dist.clone().detach())


V = 11
model, criterion = Seq2Seq(V), LabelSmoothing(V, 0, 0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.5, betas=(0.9, 0.98), eps=1e-9)
rate = lambda step: 16 ** -0.5 * min((step or 1) ** -0.5, (step or 1) * 20 ** -1.5)  # noqa: E731
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=rate)
for batch in range(5):
    data = torch.randint(1, V, size=(8, 6))
    data[:, 0] = 1
    src, tgt, tgt_y = data, data[:, :-1], data[:, 1:]
    src_mask = (src != 0).unsqueeze(-2)
    tgt_mask = (tgt != 0).unsqueeze(-2) & subsequent_mask(tgt.size(-1)).type_as((tgt != 0).data)
    out = model(src, tgt, src_mask, tgt_mask)
    loss = criterion(out.contiguous().view(-1, V), tgt_y.contiguous().view(-1)) / (tgt_y != 0).data.sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    scheduler.step()
    print(batch, f"{loss.item():.4f} {optimizer.param_groups[0]['lr']:.2e}")
print(pad(torch.ones(1, 2), (0, 2), value=0), subsequent_mask(3))
