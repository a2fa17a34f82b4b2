"""Every way a request can be refused, as one tree.

    Refusal                       the client gets a provider-shaped error, nothing (more) is forwarded
      BadRequest          400     malformed JSON, wrong types, wrong charset
      UnsupportedByPolicy 400     a field, part or endpoint that is not inspected
      ExpiredState        400     something stored earlier that is not kept any more
      UnknownState        404     something stored that this tenant does not have
      UnknownKey          401     a key that no tenant has
      BlockedEntity       400     the policy blocks an entity that was found
      ContextLengthExceeded 400   prompt + requested completion over the served limit
      TokenBudgetExceeded 429     the tenant has asked for as many tokens as it may for now
      RateExceeded        429     the tenant, or its key, has made as many requests as it may for now
      TooManyAtOnce       429     as many of its requests are running as it may have
      BodyTooLarge        413
      Unavailable         503     a fault on our side: analyzer error or deadline, queue full, shutting down
      BadAnswer           502     the upstream's answer cannot belong to this prompt, or cannot be read
      UpstreamUnreachable 502/504 no connection, or no answer in time

Messages are written here or built from closed vocabularies (paths, entity types, numbers): never from a value.
May import: model, the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proxy.model import Finding


class Refusal(Exception):
    """A request or an answer that stops here. `message` is shown to the client and must hold no value."""

    status = 400
    kind = "invalid_request_error"
    code = "invalid_request"
    retry = False

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param

    def body(self) -> dict[str, dict[str, str | None]]:
        """The error in the shape of the OpenAI API: `{"error": {"message", "type", "param", "code"}}`."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}

    def headers(self) -> dict[str, str]:
        """`x-should-retry` overrides every official SDK's own idea of what to retry."""
        return {"x-should-retry": "true", "retry-after": "1"} if self.retry else {"x-should-retry": "false"}


class BadRequest(Refusal):
    code = "invalid_json"


class UnsupportedByPolicy(Refusal):
    """Something that is not inspected: names the JSON path or endpoint and, if there is one, the policy switch."""

    code = "unsupported_by_policy"


class ExpiredState(Refusal):
    code = "state_expired"

    def __init__(self, *, param: str | None = None) -> None:
        super().__init__(
            "What this id stands for has expired: the placeholders in it can no longer be restored. "
            "Send the whole conversation instead.",
            param=param,
        )


class UnknownState(Refusal):
    """Also said of what belongs to another tenant: whether it is there is not told."""

    status = 404
    code = "state_not_found"

    def __init__(self, *, param: str | None = None) -> None:
        super().__init__("There is nothing stored under this id.", param=param)


class BlockedEntity(Refusal):
    kind = "content_policy_violation"
    code = "blocked_entity"

    """`findings` is all that was found, leaf by leaf, for the trail; `counts` what of it blocks the request."""

    def __init__(self, counts: Mapping[str, int], findings: Sequence[Sequence[Finding]] = ()) -> None:
        found = ", ".join(f"{entity}={count}" for entity, count in sorted(counts.items()))
        super().__init__(f"The policy blocks requests that hold these entities: {found}. Nothing was forwarded.")
        self.counts = dict(counts)
        self.findings = findings


class ContextLengthExceeded(Refusal):
    """Same words, type and code as the OpenAI API, since clients and frameworks look for them."""

    code = "context_length_exceeded"

    def __init__(self, limit: int, prompt: int, completion: int, *, param: str = "messages") -> None:
        total = prompt + completion
        super().__init__(
            f"This model's maximum context length is {limit} tokens. However, you requested {total} tokens "
            f"({prompt} in the messages, {completion} in the completion). "
            f"Please reduce the length of the messages or completion. Cut at least {total - limit} tokens.",
            param=param,
        )
        self.limit, self.prompt, self.completion = limit, prompt, completion


_SOON = 60


class TokenBudgetExceeded(Refusal):
    """In the words of the OpenAI API. `wait` is seconds until there is room, None if this request never has any.

    Clients are told to try again where that may help soon: SDKs wait as long as `retry-after` says up to a minute.
    """

    status = 429
    kind = "tokens"
    code = "token_budget_exceeded"
    retry = True

    def __init__(self, budget: int, window: str, tokens: int, wait: int | None) -> None:
        again = "This request alone has more." if wait is None else f"Please try again in {wait} s."
        super().__init__(
            f"Rate limit reached for this tenant on tokens per {window}: limit {budget}, requested {tokens}. {again}"
        )
        self.wait = wait
        self.retry = wait is not None and wait <= _SOON

    def headers(self) -> dict[str, str]:
        said = {} if self.wait is None else {"retry-after": str(self.wait)}
        return {"x-should-retry": "true" if self.retry else "false", **said}


class UnknownKey(Refusal):
    """In the words of the OpenAI API, without the key."""

    status = 401
    code = "invalid_api_key"

    def __init__(self) -> None:
        super().__init__("Incorrect API key provided.")


class RateExceeded(Refusal):
    """In the words of the OpenAI API. `wait` is seconds until there is room."""

    status = 429
    kind = "requests"
    code = "rate_limit_exceeded"
    retry = True

    def __init__(self, limit: int, wait: int) -> None:
        super().__init__(
            f"Rate limit reached for this tenant on requests per minute: limit {limit}. Please try again in {wait} s."
        )
        self.wait = wait

    def headers(self) -> dict[str, str]:
        return {"x-should-retry": "true", "retry-after": str(self.wait)}


class TooManyAtOnce(Refusal):
    status = 429
    kind = "requests"
    code = "concurrency_limit_exceeded"
    retry = True

    def __init__(self, limit: int) -> None:
        super().__init__(f"Limit reached for this tenant on requests at one time: limit {limit}.")


class BodyTooLarge(Refusal):
    status = 413
    code = "body_too_large"


class Unavailable(Refusal):
    """Our own fault stopped the request. `retry` only where trying again can help (queue full, draining)."""

    status = 503
    kind = "server_error"
    code = "unavailable"

    def __init__(self, message: str, *, code: str = "unavailable", retry: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.retry = retry


class BadAnswer(Refusal):
    """The upstream answered, but not in a way that may be handed on."""

    status = 502
    kind = "server_error"

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class UpstreamUnreachable(Refusal):
    status = 502
    kind = "server_error"
    code = "upstream_unreachable"

    def __init__(self, message: str, *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.status = 504 if timed_out else 502
        self.code = "upstream_timeout" if timed_out else "upstream_unreachable"
