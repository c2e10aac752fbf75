# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: sentences of different length in one batch"""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)
sentences = [torch.tensor([4, 2, 7, 1]), torch.tensor([3, 5]), torch.tensor([6, 1, 2])]
lengths = torch.tensor([len(s) for s in sentences])
padded = pad_sequence(sentences, batch_first=True, padding_value=0)
print(padded)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8, 6, padding_idx=0)
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
        self.fc = nn.Linear(10, 2)

    def forward(self, text, lengths):
        packed = pack_padded_sequence(self.embedding(text), lengths.cpu(), batch_first=True, enforce_sorted=False)
        packed_output, (hidden, cell) = self.lstm(packed)
        output, output_lengths = pad_packed_sequence(packed_output, batch_first=True)
        print(output.shape, output_lengths)
        return self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1))


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    loss = nn.functional.cross_entropy(model(padded, lengths), torch.tensor([0, 1, 0]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.4f}')
print(model.embedding.weight.grad[0], model.embedding.weight[0])
