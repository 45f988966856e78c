"""Static Go binaries, each from a pinned module in modules/ (go.mod and go.sum committed, checksum database on)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from modelyard.errors import BuildError
from modelyard.local.build.compile_progress import CompileProgress, is_progress
from modelyard.local.build.store import Store, digest
from modelyard.local.build.toolchain import GoToolchain
from modelyard.programs import LONGEST_SECONDS, Children, Tell, run

_LOCAL_REPLACE = re.compile(r"^replace (\S+) => (\./\S+)$", re.MULTILINE)
Watch = Callable[[], AbstractContextManager[Tell]]
MODULES = Path(__file__).resolve().parent.parent / "modules"
KUBERNETES = "v1.35.4"  # as in modules/shared/go.mod; a test holds the two together
_MAJOR, _MINOR = KUBERNETES.removeprefix("v").split(".")[:2]

# Without these the apiserver calls itself v0.0.0-master+$Format:%H$, and Kueue exits at that.
KUBERNETES_VERSION_FLAGS: Mapping[str, str] = {
    "k8s.io/component-base/version.gitVersion": KUBERNETES,
    "k8s.io/component-base/version.gitMajor": _MAJOR,
    "k8s.io/component-base/version.gitMinor": _MINOR,
    "k8s.io/component-base/version.gitTreeState": "clean",
    "k8s.io/client-go/pkg/version.gitVersion": KUBERNETES,
    "k8s.io/client-go/pkg/version.gitMajor": _MAJOR,
    "k8s.io/client-go/pkg/version.gitMinor": _MINOR,
}


def unwatched() -> AbstractContextManager[Tell]:
    """Watch nothing."""
    return nullcontext(lambda line: None)


@dataclass(frozen=True, slots=True)
class GoBinary:
    """One binary to build.

    Args:
        name: what it is called in messages and as a file.
        module: the folder in modules/ whose go.mod pins it.
        package: its main package.
        ldflags: variables set at link time, by full name (-X).
    """

    name: str
    module: str
    package: str
    ldflags: Mapping[str, str] = field(default_factory=dict)

    def key(self, go_version: str) -> str:
        """Return the hash over all that decides the binary's content."""
        flags = "\n".join(f"{name}={value}" for name, value in sorted(self.ldflags.items()))
        return digest(go_version, module_fingerprint(self.module, self.package), self.package, flags)


def _kubernetes(name: str) -> GoBinary:
    return GoBinary(name, "shared", f"k8s.io/kubernetes/cmd/{name}", KUBERNETES_VERSION_FLAGS)


def _cni(kind: str, name: str) -> GoBinary:
    return GoBinary(name, "shared", f"github.com/containernetworking/plugins/plugins/{kind}/{name}")


# In the order in which a cluster that starts from nothing needs them: the apiserver's packages are shared by
# all that follows, so it goes first.
CONTROL_PLANE: tuple[GoBinary, ...] = (
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kubelet"),
    _kubernetes("kube-proxy"),
    GoBinary("etcd", "shared", "go.etcd.io/etcd/server/v3"),
    GoBinary("pause", "pause", "modelyard/local/pause"),
    _cni("main", "bridge"),
    _cni("main", "loopback"),
    _cni("ipam", "host-local"),
    _cni("meta", "portmap"),
    # For pods with more than one NIC. A module of their own: a new line in shared/go.mod compiles all of it anew.
    GoBinary("macvlan", "cni", "github.com/containernetworking/plugins/plugins/main/macvlan"),
    GoBinary("static", "cni", "github.com/containernetworking/plugins/plugins/ipam/static"),
    GoBinary("coredns", "shared", "github.com/coredns/coredns"),
    _kubernetes("kubectl"),
    GoBinary("kwok", "shared", "sigs.k8s.io/kwok/cmd/kwok", {"sigs.k8s.io/kwok/pkg/consts.Version": "v0.6.1"}),
)

KUSTOMIZE = GoBinary("kustomize", "shared", "sigs.k8s.io/kustomize/kustomize/v5")
HELM = GoBinary("helm", "shared", "helm.sh/helm/v3/cmd/helm")


def module_fingerprint(module: str, package: str) -> str:
    """Return a hash over the module's pins and those of its own sources that `package` is built from.

    Sources that a `replace` brings in count only for packages below the replaced module: a change in them leaves
    the other binaries as they are.

    Raises:
        BuildError: there is no such module.
    """
    folder = MODULES / module
    pins = [folder / "go.mod", folder / "go.sum"]
    if not pins[0].is_file():
        raise BuildError(f"Go module {module}", f"{pins[0]} is not there", "name one of modules/ in component.yaml")
    sources = list(folder.glob("*.go"))
    for replaced, local in _LOCAL_REPLACE.findall(pins[0].read_text()):
        if package.startswith(f"{replaced}/"):
            sources += [path for path in (folder / local).rglob("*") if path.suffix == ".go" or path.name == "go.mod"]
    files = [path for path in pins if path.is_file()] + sorted(sources)
    return digest(*(part for path in files for part in (str(path.relative_to(folder)), path.read_bytes())))


def build_binary(
    binary: GoBinary,
    toolchain: GoToolchain,
    store: Store,
    children: Children | None = None,
    watch: Watch = unwatched,
) -> Path:
    """Return the path of `binary`, compiled if the store has none.

    Args:
        binary: what to build.
        toolchain: the Go to compile with.
        store: where it is kept.
        children: whose child the compiler is, so that its owner can end it.
        watch: entered around the compile; what it gives is told how far the compiler is. Not entered where the store
            has the binary, or another process has just made it.

    Raises:
        BuildError: the compiler or the module proxy refused; the message carries go's last lines.
    """

    def build(target: Path) -> None:
        with watch() as tell:
            _compile(binary, toolchain, target, children or Children(), tell)

    return store.get("binary", binary.key(toolchain.version), build)


def module_folder(binary: GoBinary, toolchain: GoToolchain) -> Path:
    """Return the folder of the Go module that has `binary`'s package, with all of upstream's files.

    Raises:
        BuildError: the module cannot be had.
    """
    done = run(
        [toolchain.go, "list", "-mod=readonly", "-f", "{{.Module.Dir}}", binary.package],
        cwd=MODULES / binary.module,
        env=toolchain.environment(),
        seconds=LONGEST_SECONDS,
    )
    if done.problem:
        raise _explain(binary, done.stderr)
    return Path(done.text.strip())


def _compile(binary: GoBinary, toolchain: GoToolchain, target: Path, children: Children, tell: Tell) -> None:
    link = " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in sorted(binary.ldflags.items()))])
    done = children.run(
        # -v: the name of each package on standard error, once it is compiled.
        [toolchain.go, "build", "-v", "-mod=readonly", "-trimpath", "-ldflags", link, "-o", target, binary.package],
        cwd=MODULES / binary.module,
        env=toolchain.environment(),
        tell=CompileProgress(tell),
    )
    if done.problem:
        raise _explain(binary, done.stderr)


def _explain(binary: GoBinary, stderr: str) -> BuildError:
    lines = [line for line in stderr.strip().splitlines() if not is_progress(line)]
    last = " / ".join(line.strip() for line in lines[-3:]) or "go build failed without a word"
    if "checksum mismatch" in stderr or "SECURITY ERROR" in stderr:
        remedy = (
            "the download is not what go.sum pins: do not bypass the check; run `go clean -modcache` in the cache, "
            "then the same command again"
        )
    elif any(
        word in stderr for word in ("dial tcp", "i/o timeout", "connection re", "TLS handshake", "unexpected EOF")
    ):
        remedy = "the module proxy does not answer: run the same command again, what is built is kept"
    elif "no space left on device" in stderr:
        remedy = "free disk space (modelyard local prune), then run the same command again"
    else:
        remedy = "modelyard doctor, then run the same command again"
    return BuildError(f"binary {binary.name} ({binary.package})", last, remedy)
