# SPDX-License-Identifier: LGPL-2.1-or-later
"""A headless Chromium that opens a page, runs scripts in it and takes pictures. It speaks the browser's own protocol
over two pipes, so it needs nothing else."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

PROGRAM = shutil.which("chromium")


class Browser:
    """Use as a context. `console` has what pages wrote to the console, and errors that no script caught. `asked` has
    the addresses that pages asked for."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()

        def take_pipes():
            """The browser reads from descriptor 3 and writes to 4."""
            ends = os.dup(read_commands), os.dup(write_answers)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.rest, self.number, self.session, self.console, self.asked = b"", 0, None, [], []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], 60)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, facts = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(one.get("value", one.get("description"))) for one in facts["args"]))
        if method == "Runtime.exceptionThrown":
            self.console.append(str(facts["exceptionDetails"].get("exception", {}).get("description", facts)))
        if method == "Log.entryAdded":
            self.console.append(facts["entry"]["text"])
        if method == "Network.requestWillBeSent":
            self.asked.append(facts["request"]["url"])

    def send(self, method, **facts):
        self.number += 1
        message = {"id": self.number, "method": method, "params": facts}
        if self.session:
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.commands, text):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def open(self, path, fragment=""):
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=f"file://{path}{fragment}")
        while self.run("location.href === 'about:blank' || document.readyState !== 'complete'"):
            pass

    def run(self, script):
        """The value of an expression, or of the promise that it is."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", script))
        return answer["result"].get("value")

    def resize(self, width, height, scheme="light"):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, modifiers=8 if shift else 0)

    def click(self, selector):
        x, y = self.run("(() => { const box = document.querySelector(%s).getBoundingClientRect();"
                        " return [box.x + box.width / 2, box.y + box.height / 2]; })()" % json.dumps(selector))
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def picture(self, path):
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot")["data"]))
