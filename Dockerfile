# syntax=docker/dockerfile:1
# Two stages, both from the same pinned base. The first runs the Makefile's own target, so what is installed here is
# what `make demo` installs, hash for hash; the second holds no compiler, no pip cache and no shell history.
FROM python:3.12.12-slim-bookworm AS build
WORKDIR /app
RUN apt-get update \
 && apt-get install --yes --no-install-recommends make=4.3-4.1 \
 && rm -rf /var/lib/apt/lists/*
COPY Makefile pyproject.toml README.md ./
COPY requirements/ requirements/
COPY proxy/ proxy/
COPY recognizers/ recognizers/
RUN make .venv/.run PYTHON=python3 \
 && .venv/bin/python -m compileall -q proxy recognizers

FROM python:3.12.12-slim-bookworm
LABEL org.opencontainers.image.title="caviardage" \
      org.opencontainers.image.licenses="Apache-2.0"
# Nothing is written at run time: works with --read-only, --user and --network limited to the upstream.
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OPENBLAS_NUM_THREADS=1 \
    TMPDIR=/dev/shm \
    PATH="/app/.venv/bin:$PATH" \
    CAVIARDAGE_HOST=0.0.0.0 \
    CAVIARDAGE_PORT=8484 \
    CAVIARDAGE_POLICY=/app/policies/default.yaml
WORKDIR /app
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin caviardage
COPY --from=build /app /app
COPY policies/ policies/
USER 10001
EXPOSE 8484
HEALTHCHECK --interval=15s --timeout=3s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import os, ssl; from urllib.request import urlopen as get; port = os.environ['CAVIARDAGE_PORT']; get(f'https://127.0.0.1:{port}/healthz', timeout=2, context=ssl._create_unverified_context()) if os.environ.get('CAVIARDAGE_TLS_CERT') else get(f'http://127.0.0.1:{port}/healthz', timeout=2)"]
ENTRYPOINT ["caviardage"]
CMD ["serve"]
