"""The only network that the kit uses."""
import json
import socket
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(url, body=None, timeout_s=60):
    """GET, or POST of JSON; never through a proxy."""
    data = None if body is None else json.dumps(body).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, data), timeout=timeout_s) as response:
        return json.loads(response.read() or b"{}")
