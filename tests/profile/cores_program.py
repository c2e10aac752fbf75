# SPDX-License-Identifier: LGPL-2.1-or-later
"""Threads that run backward passes at the same time, and what the kernel says of each of them:

  cores_program.py THREADS PASSES PRODUCTS SIZE LOG

The log has "waited": for how many ns each thread waited for a core inside its calls of backward. And "descriptors": how many the
process had at the end, while all threads lived."""
import json
import os
import sys
import threading

import torch

torch.set_num_threads(1)
threads, passes, products, size = map(int, sys.argv[1:5])
waited, descriptors = [0] * threads, []
together = threading.Barrier(threads)


def account():
    with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as file:
        return int(file.read().split()[1])


def work(number):
    weight = torch.full((size, size), 0.01, requires_grad=True)
    for _ in range(passes):
        y = torch.full((size, size), 0.01)
        for _ in range(products):
            y = y @ weight
        loss = y.sum()
        together.wait()
        before = account()
        loss.backward()
        waited[number] += account() - before
    if together.wait() == 0:
        descriptors.append(len(os.listdir("/proc/self/fd")))
    together.wait()


workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
with open(sys.argv[5], "w") as file:
    json.dump({"waited": waited, "descriptors": descriptors[0]}, file)
