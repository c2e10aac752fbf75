"""Four threads run backward on one weight. Each gradient is added under the lock of the weight's node, so the threads wait for one another."""
import threading

import torch

weight = torch.ones(800, 800, requires_grad=True)
weight.grad = torch.zeros(800, 800)
start = threading.Barrier(4)


def work():
    loss = weight.sum()
    start.wait()
    for step in range(20):
        loss.backward(retain_graph=True)


threads = [threading.Thread(target=work, name=f'worker {number}') for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print('weight.grad', weight.grad[0, 0])
