"""WSGI servers for tests: waitress, as the program uses it, and werkzeug."""

import contextlib
import threading

from waitress.server import create_server
from werkzeug.serving import make_server


@contextlib.contextmanager
def waitress(app, threads=4):
    """Serve the app with waitress on a free port. Yields its address."""
    channels = {}
    server = create_server(app, host="127.0.0.1", port=0, threads=threads, map=channels)
    server.adj.asyncore_loop_timeout = 0.05  # seconds until the server notices that it was closed
    thread = threading.Thread(target=run_until_closed, args=(server,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        stop(server, thread, channels)


def run_until_closed(server):
    with contextlib.suppress(OSError):  # stop() closes the sockets, which ends run()
        server.run()


def stop(server, thread, channels):
    server.pull_trigger()
    server.close()
    thread.join(60)
    assert not thread.is_alive()
    for dispatcher in list(channels.values()):
        dispatcher.close()


@contextlib.contextmanager
def werkzeug(app):
    """Serve the app with werkzeug on a free port. Yields its address."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join(60)
        server.server_close()
