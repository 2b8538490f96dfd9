"""Drives the console in a headless Chromium by its DevTools protocol: see console.sh.

Each check that fails is told, and the exit status is 1 if any did.
"""

import base64
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import uuid

import websocket

HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
# Marks that turn text around, print nothing, or hide other text: they are shown by their numbers.
MARKS = "\u202e\u180e\u200b\ufff9\U000e0041"
DISGUISED = "Ann " + MARKS + "gnp.exe"
SHOWN = "Ann " + "".join("\\u{%x}" % ord(mark) for mark in MARKS) + "gnp.exe"
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("NOT SO:", what)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(ask, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = ask()
        if value:
            return value
        time.sleep(0.05)
    raise SystemExit(f"never: {what}")


class Server:
    """A server for trying things out, with records that users have named to do harm."""

    def __init__(self, program, folder, database):
        self.program = program
        self.port, self.admin = free_port(), free_port()
        self.program = program = str(pathlib.Path(program).resolve())
        self.database = database or f"sqlite:{folder}/console.sqlite"
        self.data = pathlib.Path(folder, "tidemark-data") if database else pathlib.Path(folder)
        self.process = subprocess.Popen(
            [program, "serve", "--dev", "--listen", f"127.0.0.1:{self.port}", "--database", self.database,
             "--admin-listen", f"127.0.0.1:{self.admin}", "--limit", "LOG_DAYS=7"],
            stdout=subprocess.PIPE, stderr=open(f"{folder}/server.log", "wb"), cwd=folder)
        self.process.stdout.readline()
        self.operator = (self.data / "dev_admin_token").read_text().strip()

    def token(self, user):
        return subprocess.run([self.program, "token", "--dev", "--dev-data", str(self.data), "--user", user], check=True, capture_output=True,
                              text=True).stdout.strip()

    def post(self, path, user, body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(),
            {"Authorization": "Bearer " + self.token(user), "Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request))

    def device(self, user):
        client = str(uuid.uuid4())
        self.post("/v1/clients", user, {"client": client})
        return client

    def push(self, user, client, number, *ops):
        made = {"id": str(uuid.uuid4()), "at": 1, "ops": list(ops)}
        return self.post("/v1/push", user, {"client": client, "conn": 1_000 + number, "first": number, "acked": 0, "m": [made],
                                            "app": "chat/1.0"})

    def socket(self, user, client):
        one = websocket.create_connection(f"ws://127.0.0.1:{self.port}/v1/sync", subprotocols=["tidemark.1.json"],
                                          suppress_origin=True)
        one.send(json.dumps({"t": "hello", "v": [1], "token": self.token(user), "client": client, "conn": 100, "acked": 0,
                             "scopes": []}))
        one.recv()
        return one


class Browser:
    """One page of a headless Chromium."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             "--remote-allow-origins=*", f"--user-data-dir={folder}/profile", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--no-first-run", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=open(f"{folder}/chromium.log", "wb"))
        mark = pathlib.Path(folder, "profile", "DevToolsActivePort")
        port = until(lambda: mark.exists() and mark.read_text().split("\n")[0], "Chromium listens")
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list"))
        self.wire = websocket.create_connection([page for page in pages if page["type"] == "page"][0]["webSocketDebuggerUrl"])
        self.number, self.requests, self.problems = 0, [], []
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"]:
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.number += 1
        self.wire.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.wire.recv())
            self.note(message)
            if message.get("id") == self.number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("a dialog of a script: " + parameters["message"])
            self.wire.send(json.dumps({"id": 10**6, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}))
        elif method == "Runtime.exceptionThrown":
            self.problems.append("an exception: " + json.dumps(parameters["exceptionDetails"])[:300])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ["error", "warning"]:
            if "401" not in parameters["entry"]["text"]:
                self.problems.append(parameters["entry"]["text"])

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, name, code, text=""):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, text=text)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def size(self, width, height=900, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def screenshot(self, name, whole=True):
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(self.folder, name + ".png").write_bytes(base64.b64decode(image["data"]))


# An audit of accessibility on the present page: names, labels, headings, tables, contrast, sizes.
AUDIT = r"""
(() => {
  const found = [], seen = (node) => { const box = node.getBoundingClientRect(); return box.width > 0 && box.height > 0; };
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  const back = (node) => { for (let one = node; one; one = one.parentElement) { const c = rgb(getComputedStyle(one).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  for (const node of document.querySelectorAll("body *")) {
    if (!seen(node) || !Array.from(node.childNodes).some((one) => one.nodeType === 3 && one.data.trim())) continue;
    if (node.closest(".skip")) continue;
    const a = light(rgb(getComputedStyle(node).color)), b = light(back(node));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) found.push("contrast " + ratio.toFixed(2) + ": " + node.textContent.slice(0, 40));
  }
  for (const node of document.querySelectorAll("input, select, textarea")) if (!node.labels || !node.labels.length || !node.labels[0].textContent.trim()) found.push("a field without a label: " + node.name);
  for (const node of document.querySelectorAll("button, a")) {
    if (!node.textContent.trim() && !node.getAttribute("aria-label")) found.push("without a name: " + node.outerHTML.slice(0, 60));
    const box = node.getBoundingClientRect();
    if (seen(node) && node.tagName === "BUTTON" && (box.height < 24 || box.width < 24)) found.push("smaller than 24 px: " + node.textContent);
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption || !table.caption.textContent.trim()) found.push("a table without a caption");
    for (const th of table.querySelectorAll("th")) if (th.scope !== "col") found.push("a heading without a scope: " + th.textContent);
  }
  let level = 1;
  for (const node of document.querySelectorAll("h1, h2, h3")) { const now = Number(node.tagName[1]); if (now > level + 1) found.push("a heading that leaves out a level: " + node.textContent); level = now; }
  const ids = Array.from(document.querySelectorAll("[id]")).map((node) => node.id);
  if (new Set(ids).size !== ids.length) found.push("an id that comes twice");
  if (!document.documentElement.lang || !document.title) found.push("no language or title");
  if (document.querySelectorAll("main, nav, header").length !== 3) found.push("no landmarks");
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push("wider than the window: " + document.documentElement.scrollWidth);
  return found;
})()
"""


def show(browser, server, page, settled="document.body.dataset.page"):
    name = page.split("?")[0]
    browser.value("document.body.removeAttribute('data-page')")
    browser.value(f"location.hash = '#' + {json.dumps(page)}; show()")
    until(lambda: browser.value("document.body.dataset.page") == name, page)


def fill(server):
    bob, ann, evil = (server.device(user) for user in ["bob", "ann", HOSTILE])
    sockets = [server.socket("ann", ann), server.socket(HOSTILE, evil)]
    room, message, profile = (str(uuid.uuid4()) for _ in range(3))
    server.push("ann", ann, 1, {"o": "put", "c": "conversations", "i": room,
                                "f": {"kind": "group", "participantIds": ["ann", "bob"], "name": HOSTILE}})
    server.push("ann", ann, 2, {"o": "put", "c": "messages", "i": message,
                                "f": {"conversationId": room, "text": HOSTILE, "sentAt": 1}})
    server.push("ann", ann, 3, {"o": "put", "c": "users", "i": profile, "f": {"displayName": HOSTILE}})
    server.push("ann", ann, 4, {"o": "patch", "c": "users", "i": profile, "set": {"displayName": "Ann " + HOSTILE}})
    server.push("bob", bob, 1, {"o": "del", "c": "conversations", "i": room})
    server.push("ann", ann, 5, {"o": "patch", "c": "users", "i": profile, "set": {"displayName": DISGUISED}})
    server.push("ann", ann, 6, {"o": "patch", "c": "conversations", "i": room, "rem": {"participantIds": ["bob"]}})
    return dict(bob=bob, ann=ann, evil=evil, room=room, message=message, profile=profile), sockets


def main(program, folder, database=""):
    work = tempfile.mkdtemp()
    server = Server(program, work, database)
    browser = None
    try:
        ids, sockets = fill(server)
        gone = server.socket("bob", ids["bob"])
        gone.close()
        browser = Browser(work)
        browser.folder = folder
        drive(browser, server, ids)
        for one in sockets:
            one.close()
    finally:
        for process in [browser and browser.process, server.process]:
            if process:
                process.terminate()
                process.wait()
        shutil.rmtree(work, ignore_errors=True)
    if failures:
        raise SystemExit(f"{len(failures)} checks failed")
    print("all checks hold; screenshots are in", folder)


def drive(browser, server, ids):
    origin = f"http://127.0.0.1:{server.admin}"
    browser.size(1280)
    browser.call("Page.navigate", url=origin + "/")
    until(lambda: browser.value("document.querySelector('input[type=password]') !== null"), "the token is asked for")
    check(browser.value("document.activeElement.type") == "password", "the field for the token has the focus")
    browser.screenshot("login")
    # First a wrong token, with the keyboard alone.
    browser.type("wrong")
    browser.key("Enter", 13, "\r")
    until(lambda: browser.value("document.querySelector('[role=alert]') !== null"), "a wrong token is refused")
    browser.type(server.operator)
    browser.key("Enter", 13, "\r")
    until(lambda: browser.value("document.body.dataset.page") == "search", "the console opens")
    check(browser.value("document.cookie") == "", "no cookie")
    check(browser.value("Object.keys(localStorage).length") == 0, "nothing is kept beyond the tab")

    # Tab reaches everything, and the focus is visible.
    names, outlined = [], True
    browser.call("Page.reload")
    until(lambda: browser.value("document.body && document.body.dataset.page") == "search", "the tab keeps the token")
    for _ in range(24):
        browser.key("Tab", 9)
        names.append(browser.value("document.activeElement.tagName + ' ' + (document.activeElement.name || document.activeElement.textContent.slice(0, 20))"))
        outlined = outlined and browser.value("document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'")
    check(any(name.startswith("INPUT q") for name in names), f"Tab comes to the search: {names}")
    check(names[0].startswith("A To the content"), "the first stop leads to the content")
    check(outlined, "the focus can be seen everywhere")

    where = "default"
    pages = {
        "search": f"search?workspace={where}&q={ids['room']}", "why": f"why?workspace={where}&user=bob&record={ids['message']}",
        "connections": "connections?sort=bytes&order=desc", "refused": "refused", "workspaces": "workspaces",
        "scope": f"scope?workspace={where}&scope={ids['room']}", "record": f"record?workspace={where}&record={ids['profile']}",
        "devices": f"devices?workspace={where}", "device": f"device?workspace={where}&client={ids['ann']}", "backups": "backups",
        "audit": "audit", "may": "may",
    }
    for width in [1280, 400]:
        for dark in [False, True]:
            browser.size(width, dark=dark)
            for name, page in pages.items():
                show(browser, server, page)
                check(not browser.value("!!document.getElementById('problem')"), f"{name} has an answer: "
                      + str(browser.value("(document.getElementById('problem') || {}).textContent")))
                for problem in browser.value(AUDIT):
                    check(False, f"{name} at {width}{' dark' if dark else ''}: {problem}")
                browser.screenshot(f"{name}-{width}{'-dark' if dark else ''}")
    # 200 % of a window of 1280 is one of 640.
    browser.size(640)
    for name, page in pages.items():
        show(browser, server, page)
        for problem in browser.value(AUDIT):
            check(False, f"{name} at 200 %: {problem}")

    browser.size(1280)
    show(browser, server, pages["why"])
    sentence = browser.value("document.getElementById('sentence').textContent")
    check("is not a member of its scope" in sentence and "any more since" in sentence, "why: " + sentence)
    show(browser, server, pages["record"])
    text = browser.value("document.querySelector('main').textContent")
    check(HOSTILE.replace('"', '\\"') in text, "what users wrote is shown as text")
    check("changed" in text and "created" in text, "a record is shown with its writes")
    check(SHOWN in text, "marks that disguise a name are shown by their numbers")
    check(not any(mark in text for mark in MARKS), "no such mark is in the page")
    show(browser, server, f"search?workspace={where}&q={urllib.parse.quote(DISGUISED)}")
    label = browser.value("document.querySelector('main [role=region]').getAttribute('aria-label')")
    check(SHOWN in label and not any(mark in label for mark in MARKS), f"a label has no such mark either: {label!r}")
    check(browser.value("document.querySelector('input[name=q]').value") == DISGUISED, "a field keeps the sent value")
    show(browser, server, f"devices?workspace={where}")
    check(HOSTILE in browser.value("document.querySelector('main').textContent"), "a user's name is shown as text")
    check(browser.value("document.querySelectorAll('main script, main img').length") == 0, "no markup of a user")
    check(browser.value("document.title").startswith("Devices"), "no script of a user ran")
    show(browser, server, pages["connections"])
    check(browser.value("document.querySelectorAll('tbody tr').length") >= 3, "connections, and one that ended")
    check(browser.value("document.querySelector('th[aria-sort]').textContent").startswith("Bytes"), "the sorted column is announced")
    check("connections to this server" in browser.value("document.querySelector('[aria-live]').textContent"), "the count is announced")
    show(browser, server, pages["refused"])
    check("forbidden" in browser.value("document.querySelector('main').textContent"), "a refused write")

    # The rule dry run, with its form.
    show(browser, server, "may")
    browser.value(f"""(() => {{ const form = document.querySelector('main form'); const set = (name, value) => form.elements[name].value = value;
      set('workspace', '{where}'); set('user', 'bob'); set('action', 'delete'); set('collection', 'messages'); set('record', '{ids['message']}'); form.requestSubmit(); }})()""")
    sentence = until(lambda: browser.value("(document.getElementById('sentence') || {}).textContent"), "the dry run answers")
    check("may not delete" in sentence and "not_found" in sentence, "dry run: " + sentence)

    # A dangerous button shows the line, asks for the name, and does nothing for another one.
    show(browser, server, f"device?workspace={where}&client={ids['bob']}")
    browser.value("document.querySelector('button.danger').click()")
    check(f"tidemark devices revoke {ids['bob']}" in browser.value("document.getElementById('dialog').textContent"), "the line for a shell")
    browser.screenshot("dialog")
    for problem in browser.value(AUDIT):
        check(False, f"dialog: {problem}")
    browser.value("(() => { const form = document.querySelector('dialog form'); form.elements.name.value = 'other'; form.requestSubmit(); })()")
    check("nothing was done" in browser.value("document.querySelector('dialog [role=alert]').textContent"), "another name does nothing")
    browser.value(f"(() => {{ const form = document.querySelector('dialog form'); form.elements.why.value = {json.dumps(HOSTILE)}; form.elements.name.value = '{ids['bob']}'; form.requestSubmit(); }})()")
    until(lambda: not browser.value("document.getElementById('dialog').open"), "the dialog closes")
    show(browser, server, "audit")
    text = browser.value("document.querySelector('tbody').textContent")
    check("revoke" in text and ids["bob"] in text and HOSTILE in text, "the act is in the audit, with its reason as text")
    show(browser, server, f"device?workspace={where}&client={ids['bob']}")
    check("are revoked" in browser.value("document.getElementById('sentence').textContent"), "the device is signed out")

    # An inline script or a call to another server would be stopped.
    stopped = browser.value("""new Promise((done) => { addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), { once: true });
      fetch('http://127.0.0.1:9/').catch(() => {}); })""")
    check(stopped == "connect-src", f"calls to other servers are stopped: {stopped}")
    browser.problems = [one for one in browser.problems if "127.0.0.1:9/" not in one and "Content Security Policy" not in one]
    strangers = [url for url in browser.requests if not url.startswith(origin + "/") and not url.startswith(("data:", "about:", "chrome:")) and url != "http://127.0.0.1:9/"]
    check(not strangers, f"no other server is contacted: {strangers}")
    check(not browser.problems, f"the browser reports no problem: {browser.problems}")
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    nameless = [node for node in tree if node.get("role", {}).get("value") in ["button", "link", "textbox", "combobox", "table"]
                and not node.get("ignored") and not node.get("name", {}).get("value")]
    check(not nameless, f"everything has a name for a screen reader: {nameless[:3]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
