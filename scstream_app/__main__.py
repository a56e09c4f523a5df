"""Entry point of `scstream` and of `python -m scstream_app`."""

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command-line program; handles Ctrl-C also during its imports, which take a second or two."""
    try:
        from scstream_app.cli import main as command

        return command()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
