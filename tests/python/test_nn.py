# SPDX-License-Identifier: LGPL-2.1-or-later
"""nn on PyTorch and on Tapedeck: values, graphs, states, prints and texts."""
import os

import both_engines

HERE = os.path.dirname(os.path.abspath(__file__))


class Modules(both_engines.BothEngines):
    cases = os.path.join(HERE, 'module_cases.py')
    tolerances = {'forward_hooks': 1e-4}


class Layers(both_engines.BothEngines):
    cases = os.path.join(HERE, 'nn_cases.py')
    tolerances = dict.fromkeys(('F', 'layer', 'loss', 'attention_options', 'embeddings'), 2e-5)


class Utils(both_engines.BothEngines):
    cases = os.path.join(HERE, 'nn_utils_cases.py')
    tolerances = {'orthogonal': 1e-5, 'recurrent': 1e-5, 'clipped': 1e-6}


class Graphs(both_engines.BothEngines):
    cases = os.path.join(HERE, 'graph_cases.py')
    tolerances = {'recurrent': 2e-5, 'parts_of_an_lstm': 2e-5, 'in place': 1e-6, 'attention': 2e-5, 'writes_into_activations': 1e-6}


class GraphsOfTheFirst(Graphs):
    version = '1.13.1'


class GraphsOfTheNewest(Graphs):
    version = '2.15.0'


if __name__ == '__main__':
    both_engines.main()
