"""The smallest ONNX models: one whose versions can be told apart, and one that answers what it is asked.

Written without the onnx package, so that no framework has to be there.

The messages are those of https://github.com/onnx/onnx/blob/v1.17.0/onnx/onnx.proto, in protobuf's wire format; a
number in a comment is a field of theirs.
"""

from __future__ import annotations

import struct

_FLOAT = 1  # TensorProto.DataType
_IR_VERSION, _OPSET = 8, 17


def adder(constant: float) -> bytes:
    """Return an ONNX model with input x and output y, both of shape [n, 1], where y = x + `constant`."""
    tensor = _number(1, 1) + _number(2, _FLOAT) + _text(8, "c") + _message(9, struct.pack("<f", constant))
    node = _text(1, "x") + _text(1, "c") + _text(2, "y") + _text(4, "Add")
    return _model(_message(1, node) + _text(2, "adder") + _message(5, tensor))


def identity() -> bytes:
    """Return an ONNX model with input x and output y, both of shape [n, 1], where y = x."""
    node = _text(1, "x") + _text(2, "y") + _text(4, "Identity")
    return _model(_message(1, node) + _text(2, "identity"))


def _model(graph: bytes) -> bytes:
    """Return a ModelProto of a graph to which its input and output are added."""
    graph += _message(11, _column("x")) + _message(12, _column("y"))
    return _number(1, _IR_VERSION) + _message(7, graph) + _message(8, _number(2, _OPSET))


def _column(name: str) -> bytes:
    """Return a ValueInfoProto (1 name, 2 type) of a float tensor with any number of rows and one column."""
    rows, columns = _text(2, "n"), _number(1, 1)  # Dimension: 2 dim_param, 1 dim_value
    shape = _message(1, rows) + _message(1, columns)
    tensor = _number(1, _FLOAT) + _message(2, shape)
    return _text(1, name) + _message(2, _message(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Return a number in seven bits a byte, the last byte without the top bit."""
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
