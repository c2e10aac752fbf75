# SPDX-License-Identifier: LGPL-2.1-or-later
"""A live session over ssh.

    test_remote.py pipe   a stand-in for ssh: what both ends do, and what they do if the other end is broken or hostile
    test_remote.py torch  the same stand-in, and the real PyTorch
    test_remote.py ssh    OpenSSH between two network namespaces; without root, on this machine; skipped if there is no sshd
"""
import base64
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import skipping
import torches
from remote_case import SSH, TAPEDECK, Desk, Server, wait_for, write_script
from sshd import Network, why_not

WHICH = sys.argv.pop(1) if len(sys.argv) > 1 else "pipe"


def change(path, chance):
    """Adds bytes or zeros, makes a hole, cuts the end off, or writes over something in the middle."""
    with open(path, "r+b") as file:
        size, kind = file.seek(0, os.SEEK_END), chance.randrange(5)
        if kind == 0:
            file.write(chance.randbytes(chance.randrange(200000)))
        elif kind == 1:
            file.write(bytes(chance.randrange(300000)))
        elif kind == 2:
            file.truncate(size + chance.randrange(500000))
        elif kind == 3:
            file.truncate(max(400, size - chance.randrange(100000)))
        else:
            file.seek(chance.randrange(size))
            file.write(chance.choice([bytes, chance.randbytes])(chance.randrange(90000)))
        file.seek(100)
        file.write(chance.randbytes(4))


class RemoteCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tapedeck-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.desks = 0

    def server(self, *options, inside=()):
        made = Server(self.folder / "server", *options, inside=inside)
        self.addCleanup(made.close)
        return made

    def open(self, address, *options, ssh, inside=()):
        self.desks += 1
        made = Desk(self.folder / f"desk{self.desks}", address, *options, ssh=ssh, inside=inside)
        self.addCleanup(made.close)
        return made

    def assert_same(self, desk, server):
        """The program stands, so its tape does."""
        tape = server.tape if server.tape.exists() else next(server.folder.glob("*.tape"))
        self.assertEqual(desk.tape.read_bytes(), tape.read_bytes())

    def walk(self, server, desk):
        """Steps, a breakpoint, a thread on hold, and to the end; the copy is never behind."""
        stop = desk.hear_until("stopped")
        self.assertEqual((stop["reason"], stop["kind"]), ("first", "graph_task_begin"))
        self.assert_same(desk, server)
        for _ in range(3):
            self.assertEqual(desk.step()["reason"], "step")
            self.assert_same(desk, server)
        desk.say("break add=op:ExpBackward0")
        self.assertEqual(desk.hear_until("gate").all("break"), ["op:ExpBackward0"])
        desk.say("continue")
        stop = desk.hear_until("stopped")
        self.assertEqual((stop["reason"], stop["condition"], stop["name"]), ("break", "op:ExpBackward0", "ExpBackward0"))
        self.assert_same(desk, server)
        desk.say(f"hold thread={stop['thread']}")
        self.assertEqual(desk.hear_until("gate").all("hold"), [stop["thread"]])
        desk.say(f"release thread={stop['thread']}")
        self.assertEqual(desk.hear_until("gate").all("hold"), [])
        desk.say("detach")
        self.assertEqual(desk.hear_until("over")["status"], "0")
        server.finish()
        wait_for("the end of the copy", lambda: desk.tape.read_bytes() == server.tape.read_bytes())
        self.assertEqual(subprocess.run([TAPEDECK, "check", desk.tape], capture_output=True).returncode, 0)


@unittest.skipUnless(WHICH == "pipe", "another part")
class Pipe(RemoteCase):
    def setUp(self):
        super().setUp()
        self.ssh = write_script(self.folder / "ssh", SSH.format(folder=self.folder))

    def ssh_pids(self):
        return [int(word) for word in (self.folder / "ssh-pids").read_text().split()]

    def test_session(self):
        server = self.server()
        desk = self.open(server.address, ssh=self.ssh).connect()
        self.assertIn("--remote", desk.words)
        self.walk(server, desk)
        self.assertEqual(desk.close_window(), 128 + signal.SIGTERM)
        self.assertEqual(desk.leftovers(), [])

    def test_output_stays(self):
        server = self.server()
        tape = self.folder / "mine.tape"
        desk = self.open(server.address, "-o", str(tape), ssh=self.ssh).connect()
        desk.hear_until("stopped")
        desk.close_window()
        server.finish()
        self.assertTrue(server.tape.read_bytes().startswith(tape.read_bytes()))
        self.assertGreater(tape.stat().st_size, 100)
        again = self.open(server.address, "-o", str(tape), ssh=self.ssh)
        self.assertEqual((again.process.wait(60), again.text()), (2, f"tapedeck: {tape}: exists already\n"))

    def test_two_desks(self):
        """Both see each stop. If one leaves, the other still holds the program."""
        server = self.server()
        first, second = (self.open(server.address, ssh=self.ssh).connect() for _ in range(2))
        first.hear_until("stopped")
        second.hear_until("stopped")
        first.step()
        second.hear_until("stopped")
        first.close_window()
        self.assertEqual(second.step()["reason"], "step")
        self.assert_same(second, server)
        second.close_window()
        server.finish()

    def test_lost(self):
        """ssh dies: the window is told no end of the program, the tape stays, and the program runs on."""
        server = self.server()
        (server.folder / "stay").touch()
        desk = self.open(server.address, ssh=self.ssh).connect()
        desk.hear_until("stopped")
        desk.step()
        os.kill(self.ssh_pids()[0], signal.SIGKILL)
        self.assertIsNone(desk.hear_until("over"))
        self.assertGreater(desk.tape.stat().st_size, 100)
        (server.folder / "stay").unlink()
        server.finish()
        desk.close_window()
        self.assertEqual(desk.leftovers(), [])

    def test_lost_and_back(self):
        """A second desk comes, stops the program again, and interrupts it there."""
        server = self.server()
        (server.folder / "stay").touch()
        self.open(server.address, ssh=self.ssh).connect().close_window()
        desk = self.open(server.address, ssh=self.ssh).connect()
        desk.say("pause")
        desk.hear_until("stopped")
        self.assert_same(desk, server)
        desk.say("interrupt")
        desk.say("detach")
        desk.hear_until("over")
        self.assertNotEqual(server.process.wait(120), 0)
        self.assertIn("KeyboardInterrupt", server.text())

    def test_flight_recorder(self):
        """--keep cuts the tape while it comes: what is written over comes again."""
        server = self.server("--keep", "1MB")
        (server.folder / "stay").touch()
        desk = self.open(server.address, ssh=self.ssh).connect()
        desk.hear_until("stopped")
        desk.say("detach")
        wait_for("a cut", lambda: server.tape.exists() and server.tape.stat().st_size > 4 << 20)
        (server.folder / "stay").unlink()
        desk.hear_until("over")
        server.finish()
        wait_for("the end of the copy", lambda: desk.tape.read_bytes() == server.tape.read_bytes())
        self.assertEqual(subprocess.run([TAPEDECK, "info", desk.tape], capture_output=True).returncode, 0)

    def test_any_change(self):
        """A file that changes at random, with holes and cuts; its head says so. The copy is the same at each stop."""
        chance = random.Random(1)
        tape = self.folder / "any.tape"
        tape.write_bytes(b"HEAD" * 100)
        hub = socket.socket(socket.AF_UNIX)
        self.addCleanup(hub.close)
        hub.bind(str(self.folder / "session"))
        hub.listen()
        program = subprocess.Popen(["sleep", "600"], env=dict(os.environ, TAPEDECK_SESSION=str(self.folder / "session")))
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        desk = self.open(f"ssh://host/{program.pid}?tapedeck={TAPEDECK}", ssh=self.ssh)
        viewer, _ = hub.accept()
        self.addCleanup(viewer.close)

        def say(line):
            viewer.sendall(f"{line} pid={program.pid}\n".encode())

        say(f"target path={tape} live=1")
        say(f"tape path={tape}")
        desk.connect()
        for step in range(60):
            change(tape, chance)
            say("stopped thread=0 kind=node_begin reason=step")
            desk.hear_until("stopped")
            self.assertEqual(desk.tape.read_bytes(), tape.read_bytes(), f"step {step}")

    def refused(self, address, *sentences, ssh=None):
        desk = self.open(address, ssh=ssh or self.ssh)
        self.assertEqual(desk.process.wait(60), 2, desk.text())
        for sentence in sentences:
            self.assertIn(sentence, desk.text())
        self.assertEqual(len(re.findall("(?m)^tapedeck: ", desk.text())), 1, desk.text())
        self.assertFalse(desk.viewer_file.exists())
        self.assertEqual(desk.leftovers(), [])
        return desk.text()

    def test_refusals(self):
        program = f"?tapedeck={TAPEDECK}"
        self.refused(f"ssh://me@host/{2**22 + 1}{program}", "me@host: process 4194305: there is no such process")
        self.refused(f"ssh://host/{os.getpid()}{program}", "that process is not recorded")
        self.refused("ssh://host/1", "host: no tapedeck was found there")
        self.refused("ssh://host/1?tapedeck=/usr/bin/false", "no session came about")
        self.refused("ssh://host/1?tapedeck=/usr/bin/true", "no session came about")
        self.refused("ssh://host/1", "cannot start", ssh=self.folder / "missing")
        fails = write_script(self.folder / "fails", "#!/bin/sh\necho ssh: no route >&2\nexit 255\n")
        self.assertIn("ssh: no route", self.refused("ssh://host/1", "host: ssh could not connect", ssh=fails))

    def test_addresses(self):
        for address in ("ssh://-oProxyCommand=x/1", "ssh://host/x", "ssh://-l@host/1", "ssh://host/1?tapedeck=x", "ssh:///1", "ssh://host/0",
                        "ssh://host/1?other=/x", "ssh://ho st/1", "ssh://host;x/1", "ssh://host/1#x", "ssh://host:99999/1", "ssh://host/-1"):
            done = subprocess.run([TAPEDECK, "open", address], capture_output=True, text=True, timeout=60,
                                  env=dict(os.environ, TAPEDECK_SSH="/usr/bin/false"))
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), (address, done.stderr))
            self.assertIn("it looks like ssh://USER@HOST/PID", done.stderr)

    def test_list(self):
        server = self.server()
        done = subprocess.run([TAPEDECK, "open", f"ssh://host?tapedeck={TAPEDECK}"], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, TAPEDECK_SSH=str(write_script(
                                  self.folder / "ssh-with-place", SSH.format(folder=self.folder).replace(
                                      "PATH=", f"XDG_RUNTIME_DIR={server.folder} PATH=")))))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, rf"(?m)^ *{server.pid} ")

    def hostile(self, *lines, then="exit 0"):
        """What a desk does with a relay that says these lines."""
        (self.folder / "lines").write_bytes(b"".join(lines))
        return write_script(self.folder / f"hostile{self.desks}", f"#!/bin/sh\ncat {self.folder}/lines\n{then}\n")

    def test_hostile_relays(self):
        hello, copy = b"relay protocol=1 tapedeck=1 pid=7\n", b"copy path=/x/a.tape n=5\n"
        nonsense = "the other end talks nonsense"
        for lines, sentence in (
                ([os.urandom(50000)], "no session came about"),
                ([b"x" * 200000], "prints too much"),
                ([hello, b"y" * 200000], nonsense),
                ([hello, b"\x00\n"], nonsense),
                ([hello, copy, copy], nonsense),
                ([hello, b"bytes at=0 data=QUJD\n"], nonsense),
                ([hello, copy, b"bytes at=1 data=QUJD\n"], nonsense),
                ([hello, copy, b"bytes at=0 data=\n"], nonsense),
                ([hello, copy, b"bytes at=-1 data=QUJD\n"], nonsense),
                ([hello, copy, b"zeros at=0 n=18446744073709551615\n"], nonsense),
                ([hello, copy, b"cut n=1\n"], nonsense),
                ([hello, b"sorry\n"], "no reason was given"),
                ([hello, b"sorry problem=%1b[31mred%0atwo\n"], "red"),
                ([hello], "no session came about"),
                ([hello, copy], "no session came about"),
                ([hello, b"stopped pid=7 thread=1\n" * 300000], "does not read"),
                ([b"relay protocol=2 tapedeck=9.9 pid=7\n"], "Tapedeck 9.9 there and"),
        ):
            with self.subTest(lines[-1][:40]):
                text = self.refused("ssh://host/7", sentence, ssh=self.hostile(*lines))
                self.assertNotIn("\x1b", text)
                self.assertEqual(text.count("\n"), 1)

    def test_hostile_names(self):
        """The copy has a plain name of its own in the private folder, and a tape of nonsense opens as nothing worse."""
        hello = b"relay protocol=1 tapedeck=1 pid=7\n"
        for path in (b"/../../x/..", b"../../../../../tmp/evil.tape", b"/x/.bashrc", b"/x/-rf.tape", b"/x/" + b"y" * 300 + b".tape", b"a%0ab.tape"):
            data = b"bytes at=0 data=" + base64.b64encode(b"no tape") + b"\n"
            ssh = self.hostile(hello, b"copy n=5 path=" + path + b"\n", data, b"tape pid=7 path=x\n", then="cat >/dev/null")
            desk = self.open("ssh://host/7", ssh=ssh).connect()
            self.assertEqual(desk.tape.parent.parent, desk.folder / "tmp")
            self.assertIn(desk.tape.name, ("remote.tape", "evil.tape"))
            self.assertEqual(desk.tape.parent.stat().st_mode & 0o777, 0o700)
            desk.close_window()
            self.assertEqual(desk.leftovers(), [])

    def test_signals(self):
        """A desk that a signal ends before the window opens leaves nothing."""
        hello = b"relay protocol=1 tapedeck=1 pid=7\n"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # whoever started the tests in the background had them ignore some
            self.addCleanup(signal.signal, number, signal.signal(number, signal.SIG_DFL))
            ssh = self.hostile(hello, b"copy n=5 path=/x/a.tape\n", b"bytes at=0 data=QUJD\n", then="cat >/dev/null")
            desk = self.open("ssh://host/7", ssh=ssh)
            wait_for("the copy", lambda: any(path.read_bytes() == b"ABC" for path in (desk.folder / "tmp").glob("*/a.tape")))
            desk.process.send_signal(number)
            self.assertEqual(desk.process.wait(60), -number)
            self.assertEqual(desk.leftovers(), [])

    def test_hostile_desk(self):
        """A relay whose desk talks nonsense, or reads nothing, ends; and the program runs on."""
        server = self.server()
        relay = subprocess.Popen([TAPEDECK, "relay", str(server.pid)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 env=dict(os.environ, XDG_RUNTIME_DIR=""))
        relay.stdin.write(b"\x00" * 100000)
        relay.stdin.close()
        self.assertEqual(relay.wait(60), 1)
        server.finish()


@unittest.skipUnless(WHICH == "torch", "another part")
class Torch(RemoteCase):
    def test_session(self):
        """`tapedeck record` of each PyTorch: the tape has another name at the end, and the copy has its last bytes."""
        ssh = write_script(self.folder / "ssh", SSH.format(folder=self.folder))
        torches.need_compiler()
        for version, python in torches.each():
            with self.subTest(version):
                server = Server(self.folder / version, python=str(python))
                self.addCleanup(server.close)
                self.walk(server, self.open(server.address, ssh=ssh).connect())


@unittest.skipUnless(WHICH == "ssh", "another part")
class Ssh(RemoteCase):
    def setUp(self):
        super().setUp()
        self.network = Network(self.folder)
        self.addCleanup(self.network.close)

    def test_session(self):
        server = self.server(inside=self.network.at_server)
        desk = self.open(server.address_as(self.network.address), ssh=self.network.ssh, inside=self.network.at_desk).connect()
        self.walk(server, desk)
        desk.close_window()
        self.assertEqual(desk.leftovers(), [])

    def test_lost(self):
        server = self.server(inside=self.network.at_server)
        (server.folder / "stay").touch()
        desk = self.open(server.address_as(self.network.address), ssh=self.network.ssh, inside=self.network.at_desk).connect()
        desk.hear_until("stopped")
        self.network.kill_connections()
        self.assertIsNone(desk.hear_until("over"))
        (server.folder / "stay").unlink()
        server.finish()

    def test_strange_key(self):
        """Who has no key of the user comes nowhere."""
        server = self.server(inside=self.network.at_server)
        desk = self.open(server.address_as(self.network.address), ssh=self.network.ssh_of_stranger, inside=self.network.at_desk)
        self.assertEqual(desk.process.wait(120), 2)
        self.assertIn("Permission denied", desk.text())
        self.assertIn("ssh could not connect", desk.text())

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user(self):
        """They find no session, enter no folder, and read no tape's place."""
        server = self.server(inside=self.network.at_server)
        open_to_all = tempfile.mkdtemp(prefix="tapedeck-test-")
        self.addCleanup(shutil.rmtree, open_to_all)
        os.chmod(open_to_all, 0o755)
        program = shutil.copy(TAPEDECK + "-whole", open_to_all)
        nobody = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--reset-env"]
        done = subprocess.run([*self.network.at_server, *nobody, program, "relay", str(server.pid)], capture_output=True, text=True,
                              cwd="/", stdin=subprocess.DEVNULL, timeout=60)
        self.assertIn("sorry problem=", done.stdout)
        self.assertIn("another%20user's", done.stdout)
        hub = next(path for path in server.folder.glob("tapedeck-*/session"))
        (server.folder.parent).chmod(0o755)
        dial = f"import socket; socket.socket(socket.AF_UNIX).connect({str(hub)!r})"
        done = subprocess.run([*nobody, sys.executable, "-c", dial], capture_output=True, text=True, cwd="/", timeout=60)
        self.assertIn("PermissionError", done.stderr)


if __name__ == "__main__":
    if WHICH == "ssh" and (reason := why_not()):
        raise skipping.Missing(reason)
    skipping.main()
