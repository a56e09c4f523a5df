"""Exit codes of the program; docs/command.md explains them."""

FAILED = 1
WRONG_USAGE = 2
#: Ctrl-C: 128 + SIGINT, as shells report it.
INTERRUPTED = 130
#: The reader of standard output closed it, as in `scstream info | head -1`: 128 + SIGPIPE, as shells report it.
CLOSED_PIPE = 141
