# SPDX-License-Identifier: LGPL-2.1-or-later
"""How rows write a trace: nodes with their numbers in the order of evaluation, and dependency counts."""
from harness import of_kind

LEAF = 2**64 - 1


def short(name):
    return 'Leaf' if name == 'AccumulateGrad' else name.split('Backward')[0]


def order(events):
    made = {event['node']: event for event in of_kind(events, 'node_new')}
    depths = {event['graph_task']: event['depth'] for event in of_kind(events, 'graph_task_begin')}

    def write(node, depth):
        number = 'M' if node['sequence_nr'] == LEAF else node['sequence_nr']
        return f'{short(node["node_name"])}[{number},{node["topological_nr"]}]' + (f'^{depth}' if depth else '')
    return ' '.join(write(made[event['node']], depths[event['graph_task']]) for event in of_kind(events, 'node_begin'))


def counts(events):
    """'name count' for each dependency, sorted."""
    return sorted(f'{short(event["node_name"])} {event["count"]}' for event in of_kind(events, 'dependency'))
