# SPDX-License-Identifier: LGPL-2.1-or-later
"""Forks while eight other threads call backward: forks.py cold|warm FORKS. Cold: the first backward pass of all comes
after the threads have begun. Each child calls backward and ends. It prints how many children did, and how many waited
for ever for a lock that PyTorch's own threads held: those are PyTorch's matter. Any other child that waits is an error."""
import os
import re
import sys
import threading
import time

import torch

N_THREADS, PATIENCE_S = 8, float(os.environ.get('PATIENCE_S', '60'))
FUTEX = {'x86_64': '202', 'aarch64': '98'}[os.uname().machine]


def work():
    x = torch.ones(4, requires_grad=True)
    y = x
    for _ in range(6):
        y = (y * 1.5 + x).tanh()
    y.sum().backward()
    return x.grad.sum().item()


def lock_owner(pid):
    """The library in whose variables the lock lies that a process waits for; '' if it is in none."""
    with open(f'/proc/{pid}/syscall') as file:
        number, address = (file.read().split() + ['', ''])[:2]
    if number != FUTEX:
        return ''
    path, end = '', 0
    with open(f'/proc/{pid}/maps') as file:
        for line in file:  # variables without a value follow those of the library's file
            low, high, own = re.match(r'(\w+)-(\w+) \S+ \S+ \S+ \S+ *(.*)', line).groups()
            path = own or (path if int(low, 16) == end else '')
            end = int(high, 16)
            if int(low, 16) <= int(address, 16) < end:
                return path
    return ''


def wait_for(pid):
    """'worked', or 'held up' if the child waits for a lock of PyTorch's."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 7, f'a child ended with {os.waitstatus_to_exitcode(status)}'
            return 'worked'
        time.sleep(0.005)
        if time.monotonic() > deadline - PATIENCE_S + 3 and 'torch' in os.path.basename(lock_owner(pid)):
            break
    owner = lock_owner(pid)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    if 'torch' not in os.path.basename(owner):
        print('a child hangs', owner, flush=True)
        os._exit(1)
    return 'held up'


def main(is_warm, n_forks):
    torch.set_num_threads(1)
    stopping, ready = threading.Event(), threading.Barrier(N_THREADS + 1)

    def loop():
        torch.ones(1) + 1  # what a thread's first operation takes in PyTorch
        ready.wait()
        while not stopping.is_set():
            work()

    torch.ones(1) + 1
    if is_warm:
        work()
    threads = [threading.Thread(target=loop) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    ready.wait()
    ends = []
    for _ in range(n_forks):
        time.sleep(0.02 if is_warm else 0)
        pid = os.fork()
        if pid == 0:
            os._exit(7 if work() == work() else 8)
        ends.append(wait_for(pid))
    stopping.set()
    for thread in threads:
        thread.join()
    print(ends.count('worked'), ends.count('held up'), flush=True)


if __name__ == '__main__':
    main(sys.argv[1] == 'warm', int(sys.argv[2]))
