# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attention over a sequence that is padding alone. As reported in https://github.com/pytorch/pytorch/issues/40932"""
import torch

torch.manual_seed(0)
attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
words = torch.randn(2, 4, 8)
padding = torch.tensor([[False, False, True, True], [True, True, True, True]])
mixed, _ = attention(words, words, words, key_padding_mask=padding)
loss = mixed[~padding].square().sum() + mixed[1].mean()
loss.backward()
print("loss", loss.item())
