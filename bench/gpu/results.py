"""The results as at most eight files of at most 16 MiB, in the shape of test/fixtures/gpu/MODEL/."""
import gzip
import json
import os
import shutil
import tarfile

MAX_BYTES = 16 << 20


def zipped(source, target):
    # No name and no time in the header: the same content gives the same bytes.
    with open(source, "rb") as plain, open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as out:
        shutil.copyfileobj(plain, out)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


def pack(work, out):
    """Copies what is there of the run's files; gives name and size of each result."""
    os.makedirs(out, exist_ok=True)
    for name in ("manifest.json", "levels.md"):
        if os.path.exists(f"{work}/{name}"):
            shutil.copyfile(f"{work}/{name}", f"{out}/{name}")
    for name, target in {
        "levels.jsonl": "levels.jsonl.gz",
        "profile_export.jsonl": "profile_export.jsonl.gz",
        "labels.json": "labels.json.gz",
        "report.json": "report.json.gz",
        "agent.db": "agent.db.gz",
    }.items():
        if os.path.exists(f"{work}/{name}"):
            zipped(f"{work}/{name}", f"{out}/{target}")
    with tarfile.open(f"{out}/raw.tar.gz", "w:gz", compresslevel=9) as archive:
        archive.add(f"{work}/raw", arcname="raw")
    sizes = {name: os.path.getsize(f"{out}/{name}") for name in sorted(os.listdir(out))}
    for name, size in sizes.items():
        if size > MAX_BYTES:
            print(f"kit: {name} is {size} bytes, more than {MAX_BYTES}: it may not come back", flush=True)
    return sizes
