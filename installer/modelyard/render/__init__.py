"""Overlays to objects: `kustomize build` in subprocesses, cached by content.

The warm path (fingerprint and cache) needs only the standard library; import `render.render` for the rest.
"""
