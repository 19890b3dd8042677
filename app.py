"""The WSGI entry: `app` for a server; `python app.py` is `ridedash up`."""

if __name__ == "__main__":
    from ridedash.cli import main

    main(["up"])
else:
    from ridedash.wsgi import app

    __all__ = ["app"]
