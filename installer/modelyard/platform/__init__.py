"""The application layer: a file and a top function for each command. It reads as the command's story.

`cli/` makes one request object from options and prints what comes back; what is done with clusters of each kind is in
`clusters/`, and all else in the rooms below.
"""
