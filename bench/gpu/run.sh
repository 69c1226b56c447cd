#!/bin/sh
# Unpacks what the kit carries and runs it: sh run.sh [--scale S] [--simulate]. Results in $OUT (default: ./out).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
OUT=${OUT:-$PWD/out}
mkdir -p "$OUT"
export PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}
if [ -f "$root/node.xz" ] && [ ! -x "$root/node" ]; then
  "$python" -c "import lzma, os, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[2] + '.part', 'wb') as out: shutil.copyfileobj(packed, out)
os.chmod(sys.argv[2] + '.part', 0o755); os.rename(sys.argv[2] + '.part', sys.argv[2])" "$root/node.xz" "$root/node"
fi
if [ -x "$root/node" ]; then set -- --node "$root/node" "$@"; fi
exec "$python" "$here/kit.py" --root "$root" --out "$OUT" "$@"
