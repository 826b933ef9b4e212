#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Terminal and job control of cgnet-run: as if CMD ran alone.

Usage: run_tty.py CGNET-RUN OPTION... --; prints "ok NAME" or "not ok NAME: WHY" for each case.
"""
import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time

RUN = sys.argv[1:]

# What runs as CMD: tells what it gets, and goes on.
CMD = r"""
import os, signal, sys, time
def caught(n, _):
    print('<got %s>' % signal.Signals(n).name, flush=True)
for name in sys.argv[1].split():
    signal.signal(getattr(signal, 'SIG' + name), caught)
print('<ready %d>' % os.getpid(), flush=True)
end = time.time() + 20
while time.time() < end:
    time.sleep(0.05)
"""


class Terminal:
    """A process on a terminal of its own, of which it is the session leader."""

    def __init__(self, argv):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(PS1="$ ", TERM="dumb", HISTFILE="", INPUTRC="/dev/null")
            os.execvp(argv[0], argv)

    def read(self, seconds):
        end = time.time() + seconds
        while (left := end - time.time()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                try:
                    got = os.read(self.fd, 4096).decode(errors="replace")
                except OSError:
                    return
                self.text += got
                return

    def expect(self, pattern, seconds=20):
        """Waits for the pattern and drops the text up to its end."""
        end = time.time() + seconds
        while True:
            found = re.search(pattern, self.text)
            if found:
                self.text = self.text[found.end():]
                return found
            if time.time() > end:
                raise AssertionError(f"no {pattern!r} in {self.text!r}")
            self.read(0.2)

    def expect_once(self, pattern):
        """Waits for the pattern, which must not come again right after."""
        self.expect(pattern)
        end = time.time() + 0.3
        while time.time() < end:
            self.read(end - time.time())
        again = len(re.findall(pattern, self.text))
        assert not again, f"{pattern!r} came {again + 1} times"

    def send(self, text):
        os.write(self.fd, text.encode())

    def send_until(self, text, pattern):
        """Sends the text again and again until the pattern comes."""
        for _ in range(60):
            self.send(text)
            try:
                return self.expect(pattern, 0.3)
            except AssertionError:
                pass
        raise AssertionError(f"no {pattern!r} after {text!r} in {self.text!r}")

    def status(self, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            self.read(0.05)
        raise AssertionError("it does not end")

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGTERM)
            self.status()
        os.close(self.fd)


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return f.read().rpartition(")")[2].split()[0]


def wait_state(pid, wanted):
    for _ in range(400):
        if state(pid) in wanted:
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} is {state(pid)}, not {wanted}")


def wait_gone(pid):
    for _ in range(400):
        if not os.path.exists(f"/proc/{pid}"):
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} is still there")


def cmd(*signals):
    return [*RUN, "python3", "-c", CMD, " ".join(signals)]


def quoted(argv):
    return " ".join(shlex.quote(a) for a in argv)


def keyboard():
    """Each signal of the terminal reaches CMD once."""
    t = Terminal(cmd("INT", "QUIT", "TSTP", "WINCH", "HUP"))
    t.expect("<ready")
    for key, name in ("\x03", "INT"), ("\x1c", "QUIT"), ("\x1a", "TSTP"):
        t.send(key)
        t.expect_once(f"<got SIG{name}>")
    fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
    t.expect_once("<got SIGWINCH>")
    t.close()


def interrupt():
    """CMD dies of Ctrl-C, and cgnet-run says so."""
    t = Terminal(cmd())
    t.expect("<ready")
    t.send("\x03")
    assert t.status() in (1, 130)  # python ends itself
    t.close()
    t = Terminal([*RUN, "sh", "-c", "echo '<ready>'; exec sleep 20"])
    t.expect("<ready>")
    t.send("\x03")
    assert t.status() == 130
    t.close()


def stdin():
    """CMD reads from the terminal: it is in its foreground process group."""
    t = Terminal([*RUN, "sh", "-c", "read x; echo \"<$x $(ps -o pgid= -p $$)>\"; exit 4"])
    t.send("hello\n")
    assert int(t.expect(r"<hello +(\d+)>")[1]) == t.pid
    assert t.status() == 4
    t.close()


def hangup():
    """A terminal that goes away: CMD hears it although only the session leader is told."""
    t = Terminal([*RUN, "python3", "-c", CMD.replace(
        "print('<got %s>' % signal.Signals(n).name, flush=True)",
        "os.kill(os.getpid(), signal.SIGUSR1)"), "HUP"])
    child = int(t.expect(r"<ready (\d+)>")[1])
    os.close(t.fd)
    os.waitpid(t.pid, 0)
    wait_gone(child)


def shell():
    t = Terminal(["bash", "--norc", "--noprofile", "--noediting", "-i"])
    t.expect(r"\$ ")
    t.send("unset PROMPT_COMMAND; stty -echo\n")
    t.expect(r"\$ ")
    return t


def job_control():
    """Ctrl-Z, fg, bg, kill as with any job."""
    t = shell()
    t.send(quoted([*RUN, "sh", "-c", 'echo "<ready $$>"; exec sleep 20']) + "\n")
    child = int(t.expect(r"<ready (\d+)>")[1])
    for _ in range(3):
        t.send("\x1a")
        t.expect("Stopped")
        t.expect(r"\$ ")
        wait_state(child, "T")
        t.send("fg\n")
        wait_state(child, "SR")
    t.send("\x1a")
    t.expect("Stopped")
    t.send("bg\n")
    wait_state(child, "SR")
    t.send_until("jobs\n", "Running")
    t.send("kill -STOP %1\n")
    t.send_until("jobs\n", "Stopped")
    wait_state(child, "T")
    t.send("kill %1\n")
    t.send_until("jobs\n", "Exit 143")
    wait_gone(child)
    t.send("exit\n")
    t.status()
    t.close()


def own_stop():
    """CMD stops itself, as an editor does on Ctrl-Z."""
    t = shell()
    t.send(quoted([*RUN, "sh", "-c", "kill -STOP $$; echo '<awake>'; kill -TSTP $$; echo '<again>'"]) + "\n")
    for word in "<awake>", "<again>":
        t.expect("Stopped")
        t.expect(r"\$ ")
        t.send("fg\n")
        t.expect(word)
    t.send("exit\n")
    t.status()
    t.close()


def background_read():
    """A job in the background that reads the terminal is stopped, and goes on in front."""
    t = shell()
    t.send(quoted([*RUN, "sh", "-c", "read x; echo \"<$x>\""]) + " &\n")
    t.expect(r"\$ ")
    t.send_until("jobs\n", "Stopped")
    t.send("fg\n")
    t.send("hello\n")
    t.expect("<hello>")
    t.send("exit\n")
    t.status()
    t.close()


def inner_shell():
    """An interactive shell as CMD, with jobs of its own, which can be suspended."""
    t = shell()
    t.send("PS1='outer$ '\n")
    t.expect(r"outer\$ ")
    t.send(quoted([*RUN, "bash", "--norc", "--noprofile", "--noediting", "-i"]) + "\n")
    t.expect(r"\$ ")
    t.send("PS1='in''ner$ '; sh -c 'echo \"<sleeps>\"; exec sleep 20'\n")
    t.expect("<sleeps>")
    t.send("\x1a")
    t.expect("Stopped")
    t.expect(r"inner\$ ")
    t.send("fg\n")
    t.expect("sh -c")
    t.send_until("\x03", r"inner\$ ")
    t.send("suspend -f\n")
    t.expect(r"outer\$ ")
    t.send("fg\n")
    t.send("echo '<back'\\>\n")
    t.expect("<back>")
    t.send("exit 3\n")
    t.expect(r"outer\$ ")
    t.send("echo \"<status $?>\"\n")
    t.expect("<status 3>")
    t.send("exit\n")
    t.status()
    t.close()


def left_group():
    """CMD in a session of its own still hears Ctrl-C, which reaches cgnet-run only."""
    t = Terminal([*RUN, "setsid", "python3", "-c", CMD, "INT"])
    t.expect("<ready")
    t.send("\x03")
    t.expect_once("<got SIGINT>")
    t.close()


def main():
    failed = False
    for case in (keyboard, interrupt, stdin, hangup, job_control, own_stop, background_read,
                 inner_shell, left_group):
        try:
            case()
            print(f"ok {case.__name__}")
        except (AssertionError, OSError) as e:
            failed = True
            print(f"not ok {case.__name__}: {e}".replace("\n", "\\n").replace("\r", ""))
    sys.exit(failed)


main()
