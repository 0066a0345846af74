# A tag can be moved by its owner. Where builds must be repeatable, pin the digest that you have checked:
#   docker buildx imagetools inspect python:3.11.14-slim-bookworm    and then    FROM python:3.11.14-slim-bookworm@sha256:...
FROM python:3.11.14-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/scout

# First what changes seldom: every package by its hash. Then Scout itself, which brings no further ones.
COPY requirements.lock .
RUN python -m pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY ledger ledger
COPY mail mail
COPY scan scan
COPY app app
RUN python -m pip install --no-deps --no-build-isolation -e . && python -m compileall -q app ledger mail scan

# The SQLite file and the outbox live on a volume; with Firestore and a mail provider nothing is written there.
RUN useradd --system --uid 10001 --no-create-home scout && install -d -o scout -g scout /data
VOLUME /data
ENV SCOUT_STORE=sqlite:////data/scout.db SCOUT_MAIL=outbox:////data/outbox PORT=8000
USER scout
EXPOSE 8000

# Unhealthy once no run has been completed for SCOUT_STALE_AFTER_S.
HEALTHCHECK --interval=60s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]

CMD ["scout", "serve", "--host", "0.0.0.0"]
