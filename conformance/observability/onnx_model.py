"""The smallest ONNX model: its output is its input. Written byte by byte, so that no framework has to train one.

Field numbers: https://github.com/onnx/onnx/blob/v1.19.0/onnx/onnx.proto
"""

from __future__ import annotations

FLOAT = 1


def identity() -> bytes:
    """Return a model with one input `x` and one output `y`, both of n rows of one number."""
    node = _text(1, "x") + _text(2, "y") + _text(4, "Identity")
    graph = _part(1, node) + _text(2, "identity") + _part(11, _value("x")) + _part(12, _value("y"))
    return _number(1, 8) + _part(7, graph) + _part(8, _number(2, 17))


def _value(name: str) -> bytes:
    shape = _part(1, _text(2, "n")) + _part(1, _number(1, 1))
    tensor = _number(1, FLOAT) + _part(2, shape)
    return _text(1, name) + _part(2, _part(1, tensor))


def _number(field: int, value: int) -> bytes:
    """Return a varint field; both are below 128."""
    return bytes([field << 3, value])


def _text(field: int, value: str) -> bytes:
    return _part(field, value.encode())


def _part(field: int, content: bytes) -> bytes:
    """Return a length-delimited field of less than 128 bytes, or of two length bytes."""
    size = len(content)
    length = [size] if size < 128 else [size & 127 | 128, size >> 7]
    return bytes([field << 3 | 2, *length]) + content
