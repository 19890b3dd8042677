"""The sandbox behind a real socket, by the server that the program uses (waitress) and by Flask's
own (werkzeug).
"""

import contextlib
import threading

from waitress.server import create_server
from werkzeug.serving import make_server


@contextlib.contextmanager
def waitress(app, threads=4):
    """The address of the app, served by waitress; closed at the end."""
    channels = {}
    server = create_server(app, host="127.0.0.1", port=0, threads=threads, map=channels)
    server.adj.asyncore_loop_timeout = 0.05  # seconds until a closed server notices
    thread = threading.Thread(target=run_until_closed, args=(server,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        stop(server, thread, channels)


def run_until_closed(server):
    with contextlib.suppress(OSError):  # its sockets are closed under it; that is how it ends
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
    """The address of the app, served by werkzeug; closed at the end."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join(60)
        server.server_close()
