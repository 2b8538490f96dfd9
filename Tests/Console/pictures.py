"""Takes the pictures of the README from a real server and two real devices: see console.sh --pictures."""

import fcntl
import html
import os
import pathlib
import pty
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from console import Browser, Server, show, until

COLUMNS, ROWS = 62, 13
# The looks of ClientSDK/Terminal/Chat/Text/StyledLine.swift.
LOOKS = {"0": "", "1": "strong", "2": "dim", "7": "bar", "31": "bad", "32": "good", "33": "warning", "36": "own"}
PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 16px; background: #eef1f4; display: flex; gap: 16px; font: 13px/1.4 "DejaVu Sans", sans-serif; }
figure { margin: 0; } figcaption { margin-top: 8px; color: #3c4a57; }
pre { margin: 0; width: 62ch; padding: 12px; border-radius: 6px; background: #14202b; color: #dbe4ec; font: 13px/1.35 "DejaVu Sans Mono", monospace; }
.strong { font-weight: bold; } .dim { color: #93a4b3; } .bar { background: #dbe4ec; color: #14202b; }
.bad { color: #ff8a80; } .good { color: #7bd88f; } .warning { color: #ffd479; } .own { color: #6fd3e8; }
</style>"""


class Messenger:
    """`tide chat` in a terminal of its own, whose screen is kept as lines of pieces with looks."""

    def __init__(self, program, folder, server, user, *options):
        self.lines = [[] for _ in range(ROWS)]
        self.process_id, self.terminal = pty.fork()
        if self.process_id == 0:
            os.chdir(folder)
            os.execve(program, [program, "chat", "--dev", "--dev-data", str(server.data), "--user", user,
                                "--server", f"http://127.0.0.1:{server.port}", "--database", f"{user}.sqlite", *options],
                      {"TERM": "xterm-256color", "LANG": "C.UTF-8", "TZ": "UTC", "PATH": os.environ["PATH"]})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.text = ""
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        received = b""
        while True:
            try:
                received += os.read(self.terminal, 65536)
            except OSError:
                return
            # A frame ends by showing the cursor; what follows belongs to the next one.
            whole, mark, rest = received.rpartition(b"\x1b[?2026l")
            if mark:
                received = rest
                self.draw(whole.decode("utf-8"))

    def draw(self, frames):
        for row, line in re.findall(r"\x1b\[(\d+);1H\x1b\[2K((?:(?!\x1b\[\d+;\d+H).)*)", frames, re.S):
            if int(row) <= ROWS:
                self.lines[int(row) - 1] = self.pieces(line)
        self.text = "\n".join("".join(text for _, text in line) for line in self.lines)

    @staticmethod
    def pieces(line):
        found, look = [], ""
        for code, text in re.findall(r"\x1b\[([?\d;]*[A-Za-z])|([^\x1b]+)", line):
            if text:
                found.append((look, text.replace("\r", "").replace("\n", "")))
            elif code.endswith("m"):
                look = LOOKS.get(code[:-1], "")
        return found

    def say(self, text, pause=0.4):
        os.write(self.terminal, text.encode() + b"\r")
        time.sleep(pause)

    def shows(self, text):
        until(lambda: text in self.text, f"a screen shows '{text}':\n{self.text}")

    def picture(self):
        rows = ["".join(f'<span class="{look}">{html.escape(text)}</span>' for look, text in line) for line in self.lines]
        return "<pre>" + "\n".join(row or " " for row in rows) + "</pre>"

    def end(self):
        os.write(self.terminal, b"/quit\r")
        os.waitpid(self.process_id, 0)


def talk(ann, bob):
    """A conversation with an answer, and marks that it was read."""
    ann.say("The tide is out at six tomorrow. Shall we walk to the lighthouse?")
    bob.shows("lighthouse?")
    bob.say("Yes! I bring the thermos.")
    ann.shows("thermos")
    ann.say("Then I bring the map, there is no signal behind the dunes.")
    bob.shows("dunes")
    bob.say("Write anyway, it arrives when we are back :-)")
    ann.shows("when we are back")
    time.sleep(1)


def message_id(file):
    """The id of the first message that a device shows."""
    with sqlite3.connect(file) as device:
        return device.execute("SELECT local_id FROM messages ORDER BY local_id LIMIT 1").fetchone()[0]


def take_messenger(browser, work, figures):
    page = pathlib.Path(work, "messenger.html")
    page.write_text(PAGE + "".join(f"<figure>{picture}<figcaption>{html.escape(caption)}</figcaption></figure>"
                                   for picture, caption in figures), encoding="utf-8")
    browser.size(1070, 310)
    browser.call("Page.navigate", url=page.as_uri())
    until(lambda: browser.value("document.readyState === 'complete' && document.fonts.status === 'loaded'"), "the page is drawn")
    browser.screenshot("messenger")


def take_console(browser, server, message):
    """The answer to an operator's most frequent question, about a user who is no member."""
    browser.size(1070, 560)
    browser.call("Page.navigate", url=f"http://127.0.0.1:{server.admin}/")
    until(lambda: browser.value("document.querySelector('input[type=password]') !== null"), "the token is asked for")
    browser.type(server.operator)
    browser.key("Enter", 13, "\r")
    until(lambda: browser.value("document.body.dataset.page") == "search", "the console opens")
    show(browser, server, f"why?workspace=default&user=cat&record={message}")
    until(lambda: browser.value("document.getElementById('sentence') !== null"), "the question is answered")
    browser.value("document.activeElement.blur()")
    browser.screenshot("console", whole=False)


def main(tidemark, tide, folder):
    work = tempfile.mkdtemp()
    server, browser, devices = Server(tidemark, work, ""), None, []
    try:
        ann = Messenger(tide, work, server, "ann", "--conversation", "Saturday walk", "--with", "bob")
        devices.append(ann)
        ann.shows("online")
        bob = Messenger(tide, work, server, "bob", "--conversation", "Saturday walk")
        devices.append(bob)
        bob.shows("online")
        talk(ann, bob)
        browser = Browser(work)
        browser.folder = folder
        take_console(browser, server, message_id(pathlib.Path(work, "ann.sqlite")))
        together = ann.picture()
        server.process.terminate()
        server.process.wait()
        bob.shows("ffline")
        bob.say("At the dunes. Where are you?")
        bob.shows("1 waiting")
        take_messenger(browser, work, [(together, "Ann, connected"), (bob.picture(), "Bob, when the server has stopped")])
    finally:
        for device in devices:
            device.end()
        for process in [browser and browser.process, server.process]:
            if process and process.poll() is None:
                process.terminate()
                process.wait()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
