"""The way in: the command `scstream`, and `python -m scstream_app`."""

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command. Loading it takes a second or two, and Ctrl-C may come in that time as well."""
    try:
        from scstream_app.cli import main as command

        return command()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
