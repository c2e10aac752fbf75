# SPDX-License-Identifier: LGPL-2.1-or-later
"""read_perfetto.py TRACE DEFINITIONS: prints a trace of Perfetto's as JSON, by the description of its messages that the
package `perfetto` has. It fails if a line of DEFINITIONS (perfetto.def) contradicts that description. For the
Python of build/readers."""
import json
import re
import sys

from google.protobuf import json_format
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

trace, definitions = sys.argv[1:]
with open(definitions, encoding="utf-8") as file:
    fields = re.findall(r"^TD_PROTO\((\w+), (\w+), (\d+)\)", file.read(), re.M)
assert len(fields) > 30
for message, field, number in fields:
    described = getattr(messages, message).DESCRIPTOR.fields_by_name[field].number
    assert described == int(number), (message, field, described)
with open(trace, "rb") as file:
    decoded = messages.Trace.FromString(file.read())
json.dump([json_format.MessageToDict(packet, preserving_proto_field_name=True) for packet in decoded.packet], sys.stdout)
