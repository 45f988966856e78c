"""Serve one ONNX model by KServe's v1 and v2 protocols.

The model is the only *.onnx file of --model_dir. A v1 instance is the value of the model's one input, or an object of
input name -> value; a v2 request names its inputs, but a model with one input takes whatever name comes.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import kserve
import numpy as np
import onnxruntime
from kserve import InferOutput, InferRequest, InferResponse, Model, ModelServer
from kserve.errors import InferenceError, InvalidInput, ModelMissingError
from kserve.utils.numpy_codec import from_np_dtype
from kserve.utils.utils import generate_uuid

# ONNX Runtime's names of tensor types, which numpy knows by others.
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int8)": np.int8,
    "tensor(int16)": np.int16,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}

Arrays = dict[str, np.ndarray]

# Whoever keeps connections to servers open must be the one to close them: a request that comes just as the server
# closes is lost. Google's Application Load Balancers keep them for 600 s, which cannot be changed, and want more of a
# server: https://cloud.google.com/load-balancing/docs/https#timeout-keepalive-backends. uvicorn's default is 5 s.
KEEP_ALIVE_SECONDS = 620


class OnnxModel(Model):
    """A model that ONNX Runtime runs.

    Args:
        name: what requests call it.
        folder: where its file is.
    """

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name)
        self.folder = folder

    def load(self) -> bool:
        """Load the model's file; requests are answered from then on."""
        files = sorted(self.folder.glob("*.onnx"))
        if len(files) != 1:
            raise ModelMissingError(f"{self.folder}: one *.onnx file is expected, {len(files)} are there")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
        self.session = onnxruntime.InferenceSession(str(files[0]), options, providers=["CPUExecutionProvider"])
        self.types = {each.name: _TYPES[each.type] for each in self.session.get_inputs()}
        self.outputs = [each.name for each in self.session.get_outputs()]
        self.ready = True
        return self.ready

    def get_input_types(self) -> list[dict[str, object]]:
        """Describe the inputs, for v2's model metadata."""
        return [_describe(each) for each in self.session.get_inputs()]

    def get_output_types(self) -> list[dict[str, object]]:
        """Describe the outputs, for v2's model metadata."""
        return [_describe(each) for each in self.session.get_outputs()]

    def predict(
        self,
        payload: dict[str, object] | InferRequest,
        headers: dict[str, str] | None = None,
        response_headers: dict[str, str] | None = None,
    ) -> dict[str, object] | InferResponse:
        """Answer a v1 request (an object) or a v2 request."""
        if isinstance(payload, InferRequest):
            return self._answer_v2(payload)
        return {"predictions": self._answer_v1(payload)}

    def _answer_v1(self, payload: dict[str, object]) -> list[object]:
        instances = payload.get("instances", payload.get("inputs"))
        if not isinstance(instances, list):
            raise InvalidInput('"instances" must be a list')
        results = self._run(self._columns(instances))
        if len(self.outputs) == 1:
            return list(results[self.outputs[0]].tolist())
        rows = {name: results[name].tolist() for name in self.outputs}
        return [{name: rows[name][index] for name in self.outputs} for index in range(len(instances))]

    def _columns(self, instances: list[object]) -> dict[str, object]:
        named = [instance for instance in instances if isinstance(instance, dict)]
        if len(named) == len(instances) and instances:
            missing = sorted(name for name in self.types if any(name not in instance for instance in named))
            if missing:
                raise InvalidInput(f"instances lack the inputs {', '.join(missing)}")
            return {name: [instance[name] for instance in named] for name in self.types}
        return {self._only_input(): instances}

    def _answer_v2(self, request: InferRequest) -> InferResponse:
        given = {tensor.name: tensor.as_numpy() for tensor in request.inputs}
        if len(given) == 1 and len(self.types) == 1:
            given = {self._only_input(): next(iter(given.values()))}
        if missing := sorted(self.types.keys() - given.keys()):
            raise InvalidInput(f"the request lacks the inputs {', '.join(missing)}")
        results = self._run({name: given[name] for name in self.types})
        outputs = []
        for name in self.outputs:
            output = InferOutput(name, list(results[name].shape), from_np_dtype(results[name].dtype))
            output.set_data_from_numpy(results[name], binary_data=request.use_binary_outputs)
            outputs.append(output)
        return InferResponse(
            response_id=request.id or generate_uuid(),  # the protocol lets a request go without
            model_name=self.name,
            infer_outputs=outputs,
            use_binary_outputs=request.use_binary_outputs,
            requested_outputs=request.request_outputs,
        )

    def _run(self, inputs: dict[str, object]) -> Arrays:
        try:
            arrays = {name: np.asarray(value, dtype=self.types[name]) for name, value in inputs.items()}
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the values make no tensor: {error}") from error
        try:
            return dict(zip(self.outputs, self.session.run(self.outputs, arrays), strict=True))
        except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument as error:
            raise InvalidInput(str(error)) from error
        except Exception as error:  # what a model's own operators raise
            raise InferenceError(str(error)) from error

    def _only_input(self) -> str:
        if len(self.types) != 1:
            raise InvalidInput(f"the model has the inputs {', '.join(self.types)}: name them")
        return next(iter(self.types))


class Server(ModelServer):
    """KServe's server, which keeps idle connections as long as load balancers do; it has no option for that."""

    async def _serve(self) -> None:
        rest = self._rest_server or self._rest_multiprocess_server._rest_server  # the latter with --workers
        rest.config.timeout_keep_alive = KEEP_ALIVE_SECONDS  # read as a connection is made
        await super()._serve()


def _describe(tensor: onnxruntime.NodeArg) -> dict[str, object]:
    shape = [size if isinstance(size, int) else -1 for size in tensor.shape]  # -1: any
    return {"name": tensor.name, "datatype": from_np_dtype(np.dtype(_TYPES[tensor.type])), "shape": shape}


def main() -> None:
    """Load the model and serve it until told to stop."""
    parser = argparse.ArgumentParser(parents=[kserve.model_server.parser])
    parser.add_argument("--model_dir", type=Path, required=True, help="folder with one *.onnx file")
    arguments, _ = parser.parse_known_args()
    if arguments.configure_logging:
        kserve.logging.configure_logging(arguments.log_config_file)
    model = OnnxModel(arguments.model_name, arguments.model_dir)
    model.load()
    Server().start([model])


if __name__ == "__main__":
    main()
