# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Deep Learning for NLP: a bidirectional LSTM with a conditional random field"""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(1)
START, STOP = 2, 3


def argmax(vec):
    _, idx = torch.max(vec, 1)
    return idx.item()


def log_sum_exp(vec):
    max_score = vec[0, argmax(vec)]
    max_score_broadcast = max_score.view(1, -1).expand(1, vec.size()[1])
    return max_score + torch.log(torch.sum(torch.exp(vec - max_score_broadcast)))


class BiLSTM_CRF(nn.Module):
    def __init__(self, vocab_size, n_tags, embedding_dim, hidden_dim):
        super().__init__()
        self.hidden_dim, self.n_tags = hidden_dim, n_tags
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True)
        self.hidden2tag = nn.Linear(hidden_dim, n_tags)
        self.transitions = nn.Parameter(torch.randn(n_tags, n_tags))
        self.transitions.data[START, :] = -10000
        self.transitions.data[:, STOP] = -10000

    def features(self, sentence):
        hidden = (torch.randn(2, 1, self.hidden_dim // 2), torch.randn(2, 1, self.hidden_dim // 2))
        embeds = self.word_embeds(sentence).view(len(sentence), 1, -1)
        lstm_out, hidden = self.lstm(embeds, hidden)
        return self.hidden2tag(lstm_out.view(len(sentence), self.hidden_dim))

    def forward_alg(self, feats):
        forward_var = torch.full((1, self.n_tags), -10000.)
        forward_var[0][START] = 0.
        for feat in feats:
            alphas_t = []
            for next_tag in range(self.n_tags):
                emit_score = feat[next_tag].view(1, -1).expand(1, self.n_tags)
                trans_score = self.transitions[next_tag].view(1, -1)
                alphas_t.append(log_sum_exp(forward_var + trans_score + emit_score).view(1))
            forward_var = torch.cat(alphas_t).view(1, -1)
        return log_sum_exp(forward_var + self.transitions[STOP])

    def score_sentence(self, feats, tags):
        score = torch.zeros(1)
        tags = torch.cat([torch.tensor([START], dtype=torch.long), tags])
        for i, feat in enumerate(feats):
            score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        return score + self.transitions[STOP, tags[-1]]

    def neg_log_likelihood(self, sentence, tags):
        feats = self.features(sentence)
        return self.forward_alg(feats) - self.score_sentence(feats, tags)


sentence, tags = torch.tensor([0, 1, 2, 3, 1]), torch.tensor([0, 1, 1, 0, 1])
model = BiLSTM_CRF(4, 4, 5, 4)
optimizer = optim.SGD(model.parameters(), lr=0.01, weight_decay=1e-4)
for epoch in range(5):
    model.zero_grad()
    loss = model.neg_log_likelihood(sentence, tags)
    loss.backward()
    optimizer.step()
    print(f'{loss.item():.4f}')
print(model.transitions.grad[:2, :2])
