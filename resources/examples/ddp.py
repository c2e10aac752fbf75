"""Data-parallel training in small: two ranks, here threads. A hook fills buckets with gradients, and a full bucket is averaged while backward goes on."""
import threading

import torch

RANKS, BUCKET = 2, 2
meet = threading.Barrier(RANKS, timeout=10)
sent = [{} for rank in range(RANKS)]


class Reducer:
    """Hooks each AccumulateGrad, as DistributedDataParallel does. The last parameters are ready first, so they share a bucket."""

    def __init__(self, rank, model):
        self.rank = rank
        parameters = list(model.parameters())[::-1]
        self.buckets = [parameters[i:i + BUCKET] for i in range(0, len(parameters), BUCKET)]
        self.missing = [len(bucket) for bucket in self.buckets]
        self.leaves = []  # a hook goes with its node, and nobody else keeps the node
        for number, bucket in enumerate(self.buckets):
            for parameter in bucket:
                leaf = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
                leaf.register_hook(lambda *unused, number=number: self.arrived(number))
                self.leaves.append(leaf)

    def arrived(self, number):
        self.missing[number] -= 1
        if self.missing[number] == 0:
            self.average(number)

    def average(self, number):
        """All-reduce: each rank sends its bucket, waits for the others, and takes the mean."""
        bucket = self.buckets[number]
        sent[self.rank][number] = [parameter.grad.clone() for parameter in bucket]
        meet.wait()
        for i, parameter in enumerate(bucket):
            total = sent[0][number][i]
            for other in sent[1:]:
                total = total + other[number][i]
            parameter.grad.copy_(total / RANKS)
        meet.wait()


def work(rank, model, x):
    model(x).sum().backward()


models = []
for rank in range(RANKS):
    torch.manual_seed(0)
    models.append(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)))
reducers = [Reducer(rank, model) for rank, model in enumerate(models)]
threads = [threading.Thread(target=work, args=(rank, models[rank], torch.randn(5, 4)), name=f'rank {rank}') for rank in range(RANKS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
pairs = zip(models[0].parameters(), models[1].parameters())
print('ranks agree:', all((a.grad - b.grad).abs().max().item() < 1e-6 for a, b in pairs))
