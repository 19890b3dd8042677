"""The WSGI entry: `app` for a server; `python app.py` is `ridedash up`."""

from ridedash import create_app
from ridedash.cli import main

if __name__ == "__main__":
    main(["up"])
else:
    app = create_app()
