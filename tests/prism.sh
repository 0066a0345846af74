#!/usr/bin/env bash
# SendGrid's own specification, played by a server that nobody here wrote: installs prism into build/ and tests against it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/prism
if [[ ! -x $folder/node_modules/.bin/prism ]]; then
    npm install --no-audit --no-fund --prefix "$folder" @stoplight/prism-cli@5.14.2 # newer ones want Node 24
fi
exec .venv/bin/python -m pytest tests/mail/providers/test_prism.py "$@"
