"""An OpenTelemetry collector of our own: takes OTLP over HTTP and keeps what it gets, as bytes and read."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """Listens on a free port until it is closed. `status` is what it answers."""

    def __init__(self) -> None:
        self.raw: list[bytes] = []
        self.spans: list[Any] = []
        self.lines: list[str] = []
        self.status = 200
        ours = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                if ours.status == 200:
                    ours.keep(self.path, body)
                self.send_response(ours.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def keep(self, path: str, body: bytes) -> None:
        self.raw.append(body)
        if path == "/v1/traces":
            for scope in (s for r in ExportTraceServiceRequest.FromString(body).resource_spans for s in r.scope_spans):
                self.spans += scope.spans
        else:
            for logs in (s for r in ExportLogsServiceRequest.FromString(body).resource_logs for s in r.scope_logs):
                self.lines += [record.body.string_value for record in logs.log_records]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
