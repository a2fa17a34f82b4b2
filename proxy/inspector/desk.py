"""The inspector as an ASGI application of its own beside ingress: three files, three questions.

    GET  /inspector              the page; style.css and page.js below it
    GET  /inspector/api/live     the policy in force, its text, and what can be asked
    POST /inspector/api/lint     {"policy"} -> {"faults"}
    POST /inspector/api/inspect  {"endpoint", "input", "model", "policy"} -> what `view` shows

Nothing that is asked here is forwarded, kept or logged: the trail gets a line without counts or content.

May import: the neighbours, detect, measure, policy, audit, ingress, logs, wire, the standard library.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, TypeVar

from proxy import measure
from proxy.audit import Audit, AuditEvent
from proxy.detect import Detector
from proxy.errors import BadRequest, BodyTooLarge, Refusal, Unavailable, UnsupportedByPolicy
from proxy.ingress import Receive, Scope, Send, request_id_of
from proxy.inspector import access, edited, view
from proxy.inspector.borrowed import Borrowed
from proxy.inspector.compare import differences
from proxy.inspector.inspection import CHAT, Inspection, as_chat, inspect
from proxy.logs import Log, describe
from proxy.model import JSON
from proxy.policy import Policy, PolicyError
from proxy.wire.base import parse_strict
from proxy.wire.endpoints import ENDPOINTS
from recognizers.analyzer import Settings

T = TypeVar("T")
ROOT = "/inspector"
MAX_BYTES = 1 << 20
"""Of what is asked: an input and a policy."""
SECONDS = 30.0
"""For a question to arrive."""
AT_ONCE, WAITING = 2, 16
_FILES = {
    "": ("index.html", "text/html; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
HEADERS = (
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
)
"""No script but the page's own, nothing from elsewhere, in nobody's frame, in no cache."""


class Live(Protocol):
    """The policy in force, its detector and tokenizers, and the file that it came from."""

    @property
    def policy(self) -> Policy: ...

    @property
    def file(self) -> Path: ...

    @property
    def detector(self) -> Detector: ...

    @property
    def counters(self) -> measure.Counters: ...


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    kind: str
    body: bytes = field(repr=False)
    more: tuple[tuple[str, str], ...] = ()


class Desk:
    """Answers what begins with `/inspector`. Of `live` each request borrows once, until it is answered."""

    def __init__(
        self, live: Callable[[], AbstractContextManager[Live]], audit: Audit, log: Log, key: bytes = b""
    ) -> None:
        self._live = live
        self._audit = audit
        self._log = log
        self._key = key
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._inside = 0

    @staticmethod
    def owns(scope: Scope) -> bool:
        """Whether a request is for the inspector."""
        path = str(scope.get("path", ""))
        return scope["type"] == "http" and (path == ROOT or path.startswith(f"{ROOT}/"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        request_id = request_id_of(pairs)
        try:
            if len({name for name, _ in pairs}) < len(pairs):
                raise BadRequest("A header is sent twice.")
            answer = await self._answer(scope, dict(pairs), receive, request_id)
        except Refusal as refusal:
            answer = self._refused(request_id, refusal)
        except Exception as error:
            self._log.error("fault", request_id=request_id, **describe(error))
            answer = self._refused(request_id, Unavailable("Internal fault.", code="internal_fault"))
        await _send(answer, send)

    async def _answer(self, scope: Scope, headers: dict[str, str], receive: Receive, request_id: str) -> _Answer:
        method, path = scope["method"], str(scope["path"]).removeprefix(ROOT)
        peer = (scope.get("client") or ("",))[0]
        access.admit(method, peer, headers, self._key)
        if scope.get("query_string"):
            raise BadRequest("The inspector takes no query string.")
        match method, path:
            case "GET", "" | "/style.css" | "/page.js":
                return _file(*_FILES[path])
            case "GET", "/api/live":
                with self._live() as live:
                    return _json(await _apart(_about, live))
            case "POST", "/api/lint":
                asked = await _asked(headers, receive)
                return _json({"faults": view.faults(await self._in_turn(self._lint(_text(asked, "policy"))))})
            case "POST", "/api/inspect":
                asked = await _asked(headers, receive)
                return await self._inspected(asked, request_id)
        raise UnsupportedByPolicy("The inspector has no such page.")

    async def _lint(self, text: str) -> tuple[Any, ...]:
        with self._live() as live:
            try:
                await _apart(_tryable, text, live)
            except PolicyError as error:
                return error.faults
        return ()

    async def _inspected(self, asked: dict[str, JSON], request_id: str) -> _Answer:
        self._audit.check()
        with self._live() as live:
            shown, policy = await self._in_turn(self._look(asked, live))
        event = AuditEvent(
            request_id=request_id,
            verdict="inspect",
            status=200,
            endpoint=ROOT,
            policy=f"{policy.name}@{policy.digest}",
        )
        self._audit.write(event)
        return _json(shown)

    async def _look(self, asked: dict[str, JSON], live: Live) -> tuple[dict[str, JSON], Policy]:
        endpoint, given = _text(asked, "endpoint"), _text(asked, "input")
        path, body = (CHAT, as_chat(given, _text(asked, "model"))) if endpoint == "text" else (endpoint, given.encode())
        if path not in ENDPOINTS:
            raise BadRequest("There is no such endpoint.", param="endpoint")
        if "policy" not in asked:
            return {**view.shown(await self._run(live, live.policy, None, path, body)), "faults": []}, live.policy
        try:
            policy, settings = await _apart(_tryable, _text(asked, "policy"), live)
        except PolicyError as error:
            return {"faults": view.faults(error.faults)}, live.policy
        as_is = await self._run(live, live.policy, None, path, body)
        changed = await self._run(live, policy, settings, path, body)
        told = {**view.shown(changed), "changes": view.changes(differences(as_is, changed)), "faults": []}
        return {**told, "live": {"forwarded": as_is.sent is not None, "tokens": as_is.tokens_after}}, policy

    async def _run(self, live: Live, policy: Policy, under: Settings | None, path: str, body: bytes) -> Inspection:
        def on_fault(error: Exception) -> None:
            self._log.error("fault", **describe(error))

        detector = Borrowed(live.detector, live.policy.detection.deadline_seconds, under)
        return await inspect(policy, detector, live.counters, on_fault, path, body)

    async def _in_turn(self, work: Any) -> Any:
        """A few at a time, so that looking never takes the workers from requests."""
        if self._inside >= WAITING:
            work.close()
            raise Unavailable("Too many inspections are waiting.", code="busy", retry=True)
        self._inside += 1
        try:
            async with self._turn:
                return await work
        finally:
            self._inside -= 1

    def _refused(self, request_id: str, refusal: Refusal) -> _Answer:
        event = AuditEvent(
            request_id=request_id, verdict="refuse", status=refusal.status, endpoint=ROOT, reason=refusal.code
        )
        try:
            self._audit.write(event)
        except Unavailable:
            self._log.error("fault", code="audit_unavailable")
        more = (("www-authenticate", access.USER_REALM),) if isinstance(refusal, access.Unknown) else ()
        return _Answer(refusal.status, "application/json", json.dumps(refusal.body()).encode("ascii"), more)


def _about(live: Live) -> JSON:
    try:
        text = live.file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    return {
        "policy": {"name": live.policy.name, "digest": live.policy.digest, "mode": live.policy.mode},
        "text": text,
        "endpoints": list(ENDPOINTS),
        "languages": list(live.detector.settings.languages),
        "max_bytes": MAX_BYTES,
    }


def _tryable(text: str, live: Live) -> tuple[Policy, Settings]:
    """An edited policy and its settings. Raises `PolicyError`."""
    policy = edited.read(text, live.file.name)
    return policy, edited.settings(policy, live.detector.settings, live.file.name)


def _file(name: str, kind: str) -> _Answer:
    return _Answer(200, kind, resources.files("proxy.inspector").joinpath("page", name).read_bytes())


def _json(told: JSON) -> _Answer:
    return _Answer(200, "application/json", json.dumps(told).encode("ascii"))


def _text(asked: dict[str, JSON], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"The field {name} must be a string.", param=name)
    return value


async def _asked(headers: dict[str, str], receive: Receive) -> dict[str, JSON]:
    """The question. Raises `BadRequest`, `BodyTooLarge`, `UnsupportedByPolicy`."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedByPolicy("The content-type must be application/json.")
    if "content-encoding" in headers:
        raise UnsupportedByPolicy("The inspector takes no compressed body.")
    try:
        async with asyncio.timeout(SECONDS):
            body = await _body(receive)
    except TimeoutError:
        raise BadRequest("The request body did not arrive in time.") from None
    asked = await _apart(parse_strict, body)
    if not isinstance(asked, dict):
        raise BadRequest("The body must be a JSON object.")
    return asked


async def _body(receive: Receive) -> bytes:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadRequest("The client left before its request was complete.")
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BYTES:
            raise BodyTooLarge(f"The inspector takes at most {MAX_BYTES} bytes.")
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


async def _apart(function: Callable[..., T], *arguments: Any) -> T:
    """In a thread, so that requests go on meanwhile."""
    return await asyncio.to_thread(function, *arguments)


async def _send(answer: _Answer, send: Send) -> None:
    pairs = [("content-type", answer.kind), ("content-length", str(len(answer.body))), *HEADERS, *answer.more]
    headers = [(name.encode("ascii"), value.encode("ascii")) for name, value in pairs]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})
