"""Shared parts of the commands: options, messages, progress and exit codes."""
