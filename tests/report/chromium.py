"""A headless Chromium, driven over a pipe by its DevTools protocol, with nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATH = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    *("--no-default-browser-check", "--disable-extensions", "--remote-debugging-pipe"),
)
_SECONDS = 30.0
_KEYS = {
    **{"Enter": 13, "Escape": 27, "End": 35, "Home": 36, "Tab": 9},
    **{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40},
}


class Page:
    """A page of a browser.

    ``complaints`` collects what the page wrote to its console or threw, ``requests`` the addresses it asked for.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._number, self._rest = 0, b""
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **words: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": words}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)
        raise TimeoutError(method)

    def open(self, file: Path, *, width: int = 1280, height: int = 900, mobile: bool = False, scale: int = 1) -> None:
        """Load a file and wait until its script has run."""
        self.size(width, height, mobile=mobile, scale=scale)
        self.call("Page.navigate", url=file.resolve().as_uri())
        self.until("document.readyState === 'complete' && (window.handful !== undefined || !document.scripts.length)")
        self.frame()

    def size(self, width: int, height: int, *, mobile: bool = False, scale: int = 1) -> None:
        """Give the page a window of this size."""
        words = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}
        self.call("Emulation.setDeviceMetricsOverride", **words)

    def prefer(self, scheme: str) -> None:
        """Let the system wish for light or dark colours."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def ask(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + _SECONDS
        while not self.ask(f"Boolean({script})"):
            if time.monotonic() > deadline:
                raise TimeoutError(script)
            time.sleep(0.02)

    def frame(self) -> None:
        """Wait until the page has been drawn."""
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def hover(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.frame()

    def click(self, x: float, y: float) -> None:
        """Press and release where the pointer is moved to."""
        self.hover(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.frame()

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press, move and release."""
        self.hover(*start)
        words = {"button": "left", "buttons": 1, "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], **words)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=end[0], y=end[1], **words)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], **words)
        self.frame()

    def wheel(self, x: float, y: float, by: float) -> None:
        """Turn the wheel."""
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)
        self.frame()

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        words = {"key": key, "windowsVirtualKeyCode": _KEYS.get(key, ord(key[0].upper()))}
        self.call("Input.dispatchKeyEvent", type="keyDown", **words, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **words)
        self.frame()

    def screenshot(self, file: Path, *, whole: bool = False) -> None:
        """Write what is seen, or the whole page, as PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        file.write_bytes(base64.b64decode(found["data"]))

    def print(self, file: Path) -> None:
        """Write the page as it would be printed, as PDF."""
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._reading, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, words = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(words["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(words["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(words["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(words["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {words['message']}")


@contextmanager
def browser() -> Iterator[Page]:
    """Start Chromium with an empty profile, and end it."""
    if PATH is None:
        raise RuntimeError("no Chromium is installed")
    to_browser, writing = os.pipe()
    reading, from_browser = os.pipe()
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        # Chromium reads commands from descriptor 3 and answers on 4.
        command = 'exec "$0" "$@" 3<&"$HEARS" 4>&"$SAYS"'
        process = subprocess.Popen(
            ["bash", "-c", command, PATH, *_FLAGS, f"--user-data-dir={profile}"],
            env={**os.environ, "HEARS": str(to_browser), "SAYS": str(from_browser)},
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(reading, writing)
        finally:
            process.kill()
            process.wait()
            os.close(reading)
            os.close(writing)
