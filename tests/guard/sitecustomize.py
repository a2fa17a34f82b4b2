"""Put first on PYTHONPATH: no process started with it, nor any that it starts, connects or resolves beyond loopback.

An attempt is noted in the file that GUARD_LOG names, and fails. May import: the standard library.
"""

from __future__ import annotations

import os
import sys
from typing import Any

LOOPBACK = ("127.", "::1", "localhost")


def _outside(event: str, arguments: tuple[Any, ...]) -> str | None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) and address else None  # a str is a UNIX socket
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"):
        found = arguments[0]
        host = found[0] if isinstance(found, tuple) else found
    else:
        return None
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    return name if isinstance(name, str) and name and not name.startswith(LOOPBACK) else None


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    host = _outside(event, arguments)
    if host is not None:
        with open(os.environ["GUARD_LOG"], "a") as log:
            log.write(f"{event} {host}\n")
        raise PermissionError(f"{event} beyond loopback")


sys.addaudithook(_guard)
