"""Image references as registries allow them, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from modelyard.images import Mirror, Reference

_label = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
_port = st.one_of(st.just(""), st.integers(1, 65535).map(lambda port: f":{port}"))
registries = st.one_of(
    st.builds(lambda labels, port: ".".join(labels) + port, st.lists(_label, min_size=2, max_size=3), _port),
    st.just("localhost:5000"),
)
_component = st.from_regex(r"[a-z0-9]{1,6}((\.|_|__|-{1,2})[a-z0-9]{1,6}){0,2}", fullmatch=True)
repositories = st.lists(_component, min_size=1, max_size=3).map("/".join)
tags = st.from_regex(r"v?[0-9]{1,3}(\.[0-9]{1,3}){0,2}(-[a-z0-9]{1,6})?", fullmatch=True)
digests = st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True)
references = st.builds(Reference, registries, repositories, tags, st.one_of(st.just(""), digests))
mirrors = st.builds(Mirror, registries, st.one_of(st.just(""), repositories))
