"""One module a kind of reference page; each returns Markdown and writes nothing."""
