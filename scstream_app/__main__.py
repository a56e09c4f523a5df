"""`python -m scstream_app` is the command `scstream`."""

import sys

from scstream_app.cli import main

if __name__ == "__main__":
    sys.exit(main())
