"""What goes to an OpenTelemetry collector: spans of requests and stages, audit lines. Off unless one is named.

May import: audit, opentelemetry, requests, the standard library.

Spans are made from audit events once a request is over, so nothing can be in them that may not be written down.
The exporters have connections of their own, which take no proxy from the environment; what the SDK logs is silenced
like every other library's log.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import requests
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from proxy.audit import AuditEvent

PREFIX = "caviardage"


class Tracer:
    """An audit sink that sends a span for each request and one for each of its stages. Full or down: spans are lost."""

    def __init__(self, collector: str) -> None:
        exporter = OTLPSpanExporter(f"{collector}/v1/traces", session=_session())
        self._provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(PREFIX)

    def __call__(self, event: AuditEvent) -> None:
        if event.verdict in ("forward", "reload"):
            return
        whole = self._tracer.start_span(
            event.endpoint,
            kind=SpanKind.SERVER,
            attributes=attributes(event),
            start_time=int(event.time * 1e9),
        )
        if event.status >= 500 or event.verdict == "block":
            whole.set_status(Status(StatusCode.ERROR, event.reason))
        for name, began, ended in event.marks:
            stage = self._tracer.start_span(name, context=set_span_in_context(whole), start_time=began)
            stage.end(ended)
        whole.end(time.time_ns())

    def close(self) -> None:
        """Sends what is left."""
        self._provider.shutdown()


class Collector:
    """Sends sealed audit lines as OpenTelemetry logs; what the collector does not take is an `OSError`."""

    def __init__(self, collector: str) -> None:
        self._exporter = OTLPLogExporter(f"{collector}/v1/logs", session=_session(), timeout=3)
        self._resource = _resource()

    def __call__(self, lines: Sequence[str]) -> int:
        result = self._exporter.export([self._record(line) for line in lines])
        if result is not LogRecordExportResult.SUCCESS:
            raise OSError("the collector did not take the lines")
        return len(lines)

    def _record(self, line: str) -> ReadableLogRecord:
        record = LogRecord(
            timestamp=time.time_ns(),
            severity_text="INFO",
            severity_number=SeverityNumber.INFO,
            body=line,
            event_name=f"{PREFIX}.audit",
        )
        return ReadableLogRecord(record, self._resource)


def attributes(event: AuditEvent) -> dict[str, str | int | bool]:
    """What a request's span says: a part of its audit line."""
    found: dict[str, str | int | bool] = {
        "http.response.status_code": event.status,
        "http.route": event.endpoint,
        f"{PREFIX}.request_id": event.request_id,
        f"{PREFIX}.verdict": event.verdict,
        f"{PREFIX}.reason": event.reason,
        f"{PREFIX}.policy": event.policy,
        f"{PREFIX}.stream": event.stream,
        f"{PREFIX}.entities": sum(event.entities.values()),
        f"{PREFIX}.bytes_in": event.bytes_in,
        f"{PREFIX}.bytes_out": event.bytes_out,
    }
    tokens = {"tokens_before": event.tokens_before, "tokens_after": event.tokens_after, "limit": event.limit}
    return found | {f"{PREFIX}.{name}": value for name, value in tokens.items() if value is not None}


def _session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    return session


def _resource() -> Resource:
    return Resource.create({"service.name": PREFIX})
