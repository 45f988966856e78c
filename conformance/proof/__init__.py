"""Which test has proved which component, and with what: recorded by a run, compared without one.

marks.py     what the tests say that they prove
code.py      a digest of a test, as far as its comments do not matter
parts.py     a digest of what a component is: its objects on `local`, what its images are built from
record.py    the committed file
recorder.py  what a run of conformance adds to it
standing.py  what is proved today, and why not
"""
