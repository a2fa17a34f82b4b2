"""The command line, one command a file; `proxy.__main__` puts them together."""
